"""Elements made larger or smaller, and dimensions that do not move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ..support.errors import LayoutError
from .canonical import fuse_iters
from .iters import Iter, Number, cut, divides, number, over, product, same
from .mistakes import mistake, numbers, shown
from .parts import Parts, axis_name, is_memory
from .text import spec_text

__all__ = ["broadcast", "element_axis", "is_contiguous", "pack", "storage", "unpack"]

P = TypeVar("P", bound=Parts)


def unpack(layout: P, factor: int) -> P:
    """Every element becomes `factor` consecutive ones. Elements count on the innermost memory axis; others stay."""
    _check_factor(factor)
    axis = element_axis(layout)

    def scaled(iters: Sequence[Iter]) -> list[Iter]:
        return [Iter(i.extent, number(i.stride * factor), axis) if i.axis == axis else i for i in iters]

    offset = {name: number(value * factor) if name == axis else value for name, value in layout.offset.items()}
    return layout.replaced([*scaled(layout.shard), Iter(factor, 1, axis)], scaled(layout.replica), offset)


def pack(layout: P, factor: int) -> P:
    """Every `factor` consecutive elements become one; `LayoutError` when they are not consecutive."""
    _check_factor(factor)
    if factor == 1:
        return layout
    axis = element_axis(layout)
    outer = _without_tail(layout, factor, axis)
    scaled = [item for item in (*outer, *layout.replica) if item.axis == axis and not same(item.extent, 1)]
    offset = layout.offset.get(axis, 0)
    for what, value in [*(("a stride", item.stride) for item in scaled), ("the offset", offset)]:
        if not divides(factor, value):
            raise _not_consecutive(layout, factor, f"{what} of {numbers([value])} would fall between packed elements")

    def packed(iters: Sequence[Iter]) -> list[Iter]:
        return [Iter(i.extent, _over(i, factor), axis) if i.axis == axis else i for i in iters]

    return layout.replaced(packed(outer), packed(layout.replica), {**layout.offset, axis: over(offset, factor)})


def _without_tail(layout: Parts, factor: int, axis: str) -> list[Iter]:
    """The iters without the innermost `factor` elements, which must follow each other."""
    outer = list(layout.shard)
    left, stride = factor, 1
    while left > 1:
        item = outer.pop() if outer else None
        if item is None:
            raise _not_consecutive(
                layout, factor, f"it has {numbers([product(i.extent for i in layout.shard)])} elements"
            )
        if same(item.extent, 1):
            continue
        if item.axis != axis or not same(item.stride, stride):
            raise _not_consecutive(layout, factor, f"the innermost step is {numbers([item.stride])} on {item.axis}")
        if divides(left, item.extent):
            outer.append(cut(item, over(item.extent, left))[0])
            return outer
        if not (isinstance(item.extent, int) and left % item.extent == 0):
            raise _not_consecutive(layout, factor, f"{numbers([item.extent])} elements are no whole number of {left}")
        left, stride = left // item.extent, stride * item.extent
    return outer or [Iter(1, 1, axis)]


def _over(item: Iter, factor: int) -> Number:
    return over(item.stride, factor) if divides(factor, item.stride) else 1


def element_axis(layout: Parts) -> str:
    """The axis along which neighbouring elements lie: that of the innermost memory iter."""
    return next((item.axis for item in reversed(layout.shard) if is_memory(item.axis)), "m")


def _check_factor(factor: Any) -> None:
    if not isinstance(factor, int) or isinstance(factor, bool) or factor < 1:
        raise mistake(f"{shown(factor)} is no number of elements", hint="give a positive constant integer")


def _not_consecutive(layout: Parts, factor: int, why: str) -> LayoutError:
    return mistake(
        f"{factor} elements of {spec_text(layout)} are not consecutive: {why}",
        hint="pack along an innermost dimension of stride 1 that the number divides",
    )


def broadcast(layout: P, count: Any, position: int = -1, axis: Any = "m") -> P:
    """A further dimension whose steps stay where they are: before iter `position`, or counted from behind the last."""
    places = len(layout.shard) + 1
    if not -places <= position < places:
        raise mistake(
            f"there is no place {position} among {places - 1} iters",
            hint=f"give a position between {-places} and {places - 1}",
        )
    at = position % places
    return layout.replaced([*layout.shard[:at], Iter(count, 0, axis_name(axis)), *layout.shard[at:]])


def storage(layout: P) -> P:
    """What one thread holds: the memory iters, without steps, copies and offsets of threads."""
    shard = [item for item in layout.shard if is_memory(item.axis)]
    replica = [item for item in layout.replica if is_memory(item.axis)]
    return layout.replaced(shard or [Iter(1, 1)], replica, {a: v for a, v in layout.offset.items() if is_memory(a)})


def is_contiguous(layout: Parts) -> bool:
    """Whether elements follow each other in linear memory from position 0 on, each once."""
    first, *rest = fuse_iters(layout.shard)
    if rest or layout.replica or layout.offset:
        return False
    return same(first.extent, 1) or (first.axis == "m" and same(first.stride, 1))
