"""Where constructors and operations that backends add to layouts are found: `TileLayout.<name>(...)`, `layout.<name>()`."""

from __future__ import annotations

from typing import Any

from ..backend import find
from ..support.late import load_object

__all__ = ["Doors"]

# What swizzled layouts have: every layout is asked whether it has it, and the answer is no backend's.
_OWN = frozenset({"per_element", "swizzle_len", "atom_len", "swizzle_inner", "tile_layout"})

TYPE_CHECKING = False  # type checkers take it as true, and so go on noticing misspelt attributes


class _Constructors(type):
    """The class of layout classes: knows the named constructors."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            row = _row(name)
            if row is None:
                raise AttributeError(f"{cls.__name__} has no attribute {name!r}")
            return load_object(row.load)


class Doors(metaclass=_Constructors):
    """A layout class that backends extend with rows of hook `tirx_layout_constructors`."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            row = _row(name)
            if row is None or not row.method:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
            return load_object(row.load).__get__(self)


def _row(name: str) -> Any:
    return None if name in _OWN or name.startswith("_") else find("layout_constructors", name)
