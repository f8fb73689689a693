"""What a tile operation means, for tests of variants: the NumPy function that the operation's row names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backend import find
from ..support.late import load_object

__all__ = ["tile_meaning"]


def tile_meaning(name: str) -> Callable[..., Any]:
    """The meaning of operation `name`: called with operands and plain keywords by name, answers what is written."""
    row = find("tile_ops", name)
    if row is None:
        raise ValueError(f"there is no tile operation {name!r}")
    meaning: Callable[..., Any] = load_object(row.meaning)
    return meaning
