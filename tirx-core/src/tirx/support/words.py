"""Small words of messages."""

from __future__ import annotations

__all__ = ["an"]


def an(thing: object) -> str:
    """`thing` behind its article: `a float32`, `an int32`, `a uint8`."""
    text = str(thing)
    return f"{'an' if text[:1] in 'aeioAEIOU' else 'a'} {text}"
