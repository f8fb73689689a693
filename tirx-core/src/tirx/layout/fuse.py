"""Thread axes that count one after the other become one: `wid_in_wg * width + laneid` is `tid_in_wg`.

Which axes join is said by the rows of the axes (`Axis.joins`), how many members stand between them by a scope model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from ..support.errors import LayoutError, TargetError
from .axis import Axis
from .iters import Iter, number
from .mistakes import mistake
from .names import axis_named
from .parts import Parts
from .scopes import get_scope, thread_axes

__all__ = ["Widths", "fuse_axes"]

P = TypeVar("P", bound=Parts)


class Widths(Protocol):
    """What fusing asks of a scope model."""

    def fixed_width(self, parent: str, child: str) -> int | None:
        """Members of `child` in one `parent` when that never varies, else None."""


def fuse_axes(layout: P, scopes: Widths) -> P:
    """The layout with axes joined as long as rows and widths allow; itself where axes contradict each other."""
    if not hasattr(scopes, "fixed_width"):
        raise mistake(
            f"scopes is {type(scopes).__name__}, which knows no widths",
            hint="give the levels of a target: target.scope_model()",
        )
    while (found := _rule(layout, scopes)) is not None:
        outer, inner, joined, width = found
        layout = _joined(layout, outer, inner, joined, width)
    return layout


def _rule(layout: Parts, scopes: Widths) -> tuple[str, str, str, int] | None:
    """(outer, inner, what they become, members of inner in one of outer) of the first axes that join."""
    axes = thread_axes(layout)
    if len(axes) < 2 or not _is_chain(layout):
        return None
    present = {axis.name for axis in axes}
    for outer in axes:
        for inner, joined in outer.joins.items():
            row = axis_named(inner)
            width = _width(scopes, row) if inner in present and joined not in present and row is not None else None
            if width is not None and _fits(layout, inner, width):
                return outer.name, inner, joined, width
    return None


def _is_chain(layout: Parts) -> bool:
    try:
        return get_scope(layout) is not None
    except LayoutError:
        return False


def _width(scopes: Widths, axis: Axis) -> int | None:
    try:
        return scopes.fixed_width(str(axis.within), str(axis.level))
    except TargetError:  # the target does not have the level
        return None


def _fits(layout: Parts, axis: str, width: int) -> bool:
    """Whether positions on the inner axis stay inside one member of the outer: beyond, they would name somebody else."""
    steps = [item for item in (*layout.shard, *layout.replica) if item.axis == axis]
    offset = layout.offset.get(axis, 0)
    reach = [number((item.extent - 1) * item.stride) for item in steps]
    if not isinstance(offset, int) or not all(isinstance(part, int) for part in reach):
        return True  # a symbolic layout promises it
    low = offset + sum(part for part in reach if isinstance(part, int) and part < 0)
    high = offset + sum(part for part in reach if isinstance(part, int) and part > 0)
    return low >= 0 and high < width


def _joined(layout: P, outer: str, inner: str, joined: str, width: int) -> P:
    scale = {outer: width, inner: 1}

    def moved(iters: Sequence[Iter]) -> list[Iter]:
        return [Iter(i.extent, number(i.stride * scale[i.axis]), joined) if i.axis in scale else i for i in iters]

    offset = {axis: value for axis, value in layout.offset.items() if axis not in scale}
    total = number(sum(number(layout.offset.get(axis, 0) * factor) for axis, factor in scale.items()))
    return layout.replaced(moved(layout.shard), moved(layout.replica), {**offset, joined: total})
