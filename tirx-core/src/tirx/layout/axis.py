"""Axes of layouts: where along a dimension of the machine a stride moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["Axis", "check_axis"]


class Axis:
    """A row of hook `tirx_layout_axes`: a named axis.

    Memory axes (`level` None) count positions in storage. Thread axes count members of scope level `level` inside one
    member of level `within`: `laneid` is `thread` within `warp`. `doc` says what a step along the axis means.

    `joins` maps a thread axis inside this one to the axis that both are together: `warpid` with `{"laneid": "tx"}` says that
    `warpid` times the threads of a warp, plus `laneid`, is `tx`.
    """

    __slots__ = ("doc", "joins", "level", "name", "within")

    def __init__(
        self,
        name: str,
        *,
        level: str | None = None,
        within: str | None = None,
        joins: Mapping[str, str] | None = None,
        doc: str = "",
    ) -> None:
        self.name = name
        self.level = level
        self.within = within
        self.joins = dict(joins or {})
        self.doc = doc

    def is_thread(self) -> bool:
        """Whether the axis counts threads or groups of them."""
        return self.level is not None

    def is_memory(self) -> bool:
        """Whether the axis counts positions in storage."""
        return self.level is None


def check_axis(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Axis):
        raise ValueError(f"expected an Axis, got {type(row).__name__}")
    if not row.name.isidentifier():
        raise ValueError(f"axis name {row.name!r} is not an identifier")
    if (row.level is None) != (row.within is None):
        raise ValueError(f"axis {row.name}: a thread axis gives both level and within, a memory axis neither")
    if row.joins and row.is_memory():
        raise ValueError(f"axis {row.name}: only thread axes join others")
