"""Layouts: axes, TileLayout and its syntax, ComposeLayout. Axis names (`laneid`, `warpid`, ...) are attributes of this module.

from tirx.layout import S, R, TileLayout, laneid
"""

from __future__ import annotations

from typing import Any

from ..backend import find
from ..support.late import load_object
from .compose import ComposeLayout
from .iters import Iter
from .names import axis_named
from .syntax import AxisNames as Axis
from .syntax import R, S
from .tile import TileLayout, row_major

__all__ = ["Axis", "ComposeLayout", "Iter", "R", "S", "TileLayout", "row_major"]


def __getattr__(name: str) -> Any:
    """An axis by name, or a layout constructor that a backend offers."""
    if name.startswith("_"):
        raise AttributeError(name)
    if axis_named(name) is not None:
        return Axis.get(name)

    row = find("layout_constructors", name)
    if row is not None:
        return load_object(row.load)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
