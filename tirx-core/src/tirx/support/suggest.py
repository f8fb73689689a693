"""Near names for "did you mean" hints."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "nearest"]


def nearest(name: str, options: Iterable[str], count: int = 3) -> list[str]:
    """Up to `count` of `options` that resemble `name`, best first."""
    from difflib import get_close_matches  # only when something went wrong

    return get_close_matches(name, list(options), n=count, cutoff=0.6)


def did_you_mean(name: str, options: Iterable[str]) -> str | None:
    """A hint such as ``did you mean `unroll`?``, or None when nothing is near."""
    found = nearest(name, options)
    return f"did you mean {' or '.join(f'`{item}`' for item in found)}?" if found else None
