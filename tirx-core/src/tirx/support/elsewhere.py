"""What people write who come from other kernel languages, for hints: `elsewhere.txt`, read when a name is unknown."""

from __future__ import annotations

import os

__all__ = ["advice", "elsewhere"]

_read: dict[tuple[str, str], str] = {}


def elsewhere() -> dict[tuple[str, str], str]:
    """(Kind of name, name) -> what it is here: `=name`, or a sentence in which `{0}` stands for the name."""
    if not _read:
        place = os.path.join(os.path.dirname(__file__), "elsewhere.txt")
        with open(place, encoding="utf-8") as file:
            for line in file:
                if not line.startswith("#") and line.strip():
                    names, _, text = line.rstrip("\n").partition(" | ")
                    kind, *words = names.split()
                    _read.update(((kind, word), text) for word in words)
    return _read


def advice(kind: str, name: str) -> str | None:
    """A hint for a name that people know from elsewhere, or None."""
    found = elsewhere().get((kind, name))
    if found is None:
        return None
    return f"did you mean `{found[1:]}`?" if found.startswith("=") else found.replace("{0}", name)
