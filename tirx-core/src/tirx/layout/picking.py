"""Parts of layouts: of each dimension one index, or a run of them with a step, as views take them.

`S[(64, 64):(64, 1)]`, rows 8 to 16, every other column: `S[(8, 32):(64, 2)]`, 512 elements further on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..arith.linear import linear_of
from ..ir import Layout, as_expr, current_span
from ..ir.sizes import plus, times
from ..support.errors import LayoutError
from .canonical import canonicalize
from .iters import Iter, Number, number, product, same
from .text import number_text
from .tile import TileLayout

__all__ = ["Run", "commutes", "part_of_layout", "picked_layout", "unit_of"]


class Run:
    """`count` indices from `start` on, `step` apart."""

    __slots__ = ("count", "start", "step")

    def __init__(self, start: Any, count: Any, step: int = 1) -> None:
        self.start = number(start)
        self.count = number(count)
        self.step = step

    def is_whole(self, extent: Number) -> bool:
        """Whether all indices of a dimension are taken."""
        return same(self.start, 0) and self.step == 1 and same(self.count, extent)


Offsets = dict[str, Number]


def part_of_layout(layout: Any, shape: Sequence[Any], items: Sequence[Any]) -> tuple[Layout, Number]:
    """The layout of a part, and by how many elements of storage it starts later.

    Each item is a triple (start, count, step), or an index, whose dimension goes. The bits that an XOR swizzle reads and changes
    repeat: a distance of whole repetitions moves the start; a constant rest stays inside the layout; any other is an error.
    """
    swizzle = layout if hasattr(layout, "tile_layout") else None
    tile = layout if swizzle is None else swizzle.tile_layout
    picks = [Run(*item) if isinstance(item, tuple) else item for item in items]
    made, moved = picked_layout(tile, shape, picks)
    start = moved.pop("m", 0)
    if swizzle is not None:
        start, rest = _commuting(swizzle, start)
        moved["m"] = rest
    for axis, amount in moved.items():
        if not isinstance(amount, int):
            raise LayoutError(
                f"a part that starts at {number_text(amount)} along `{axis}` has no layout of its own",
                span=current_span(),
                hint="start at a constant, or index elements",
            )
    offset = {axis: number(plus(tile.offset.get(axis, 0), moved.get(axis, 0))) for axis in {*tile.offset, *moved}}
    made = TileLayout.from_iters(made.shard, made.replica, offset)
    return (made if swizzle is None else swizzle.with_tile(made)), start


def unit_of(swizzle: Any) -> int:
    """Elements after which the pattern of an XOR swizzle repeats: distances of whole multiples commute with it."""
    return 1 << (swizzle.per_element + swizzle.atom_len + swizzle.swizzle_len) if swizzle.swizzle_len else 1


def commutes(layout: Any, distance: Any) -> bool:
    """Whether elements `distance` further in storage are those of the same layout `distance` further on."""
    if not hasattr(layout, "tile_layout"):
        return True
    return same(number(distance % unit_of(layout)), 0)


def _commuting(swizzle: Any, distance: Number) -> tuple[Number, int]:
    """`distance` as a part that commutes with the XOR, and the constant rest."""
    unit = unit_of(swizzle)
    whole, rest = linear_of(as_expr(distance)).split(unit)
    if rest.atoms:
        raise LayoutError(
            f"an offset of {number_text(number(distance))} elements does not commute with the XOR of {swizzle!r}, "
            f"which repeats every {unit}",
            span=current_span(),
            hint="take whole repetitions or constant offsets, or index elements of the tile itself",
        )
    outside = number(whole.scaled(unit).to_expr(as_expr(distance).dtype))
    return outside, rest.constant


def picked_layout(layout: TileLayout, shape: Sequence[Any], items: Sequence[Any]) -> tuple[TileLayout, Offsets]:
    """The layout of what `items` pick of `shape`, and how far its first element is from that of `layout`, by axis.

    Each item is a `Run` or an index, whose dimension goes. `LayoutError` where the part has no layout.
    """
    grouped, separators = layout.group(shape)
    kept: list[Iter] = []
    moved: Offsets = {}
    for axis, ((start, stop), item) in enumerate(zip(pairwise(separators), items, strict=True)):
        found = _picked(list(grouped.shard[start:stop]), item, moved)
        if found is None:
            raise LayoutError(
                f"elements {_text(item)} of dimension {axis} do not lie evenly in {layout!r}",
                span=current_span(),
                hint="take whole blocks of the layout, or index elements",
            )
        kept += found
    return TileLayout.from_iters(kept or [Iter(1, 1)], layout.replica, layout.offset), moved


def _picked(iters: list[Iter], item: Any, moved: Offsets) -> list[Iter] | None:
    """The iters of a part of one dimension; what it moves is added to `moved`."""
    if not isinstance(item, Run):
        _move_to(_fused(iters), item, moved)
        return []
    extent = product(part.extent for part in iters)
    if item.is_whole(extent):
        return iters
    if item.step > 1:
        return _stepping(_fused(iters), item, moved)
    made = TileLayout.from_iters(iters).slice([extent], [(item.start, number(item.start + item.count))])
    if made is None:
        return None
    for axis, amount in made.offset.items():
        moved[axis] = number(plus(moved.get(axis, 0), amount))
    return list(made.shard)


def _stepping(iters: list[Iter], item: Run, moved: Offsets) -> list[Iter] | None:
    """A run with gaps: steps of whole blocks of the inner iters, or inside one such block."""
    first, *rest = iters
    if not rest:
        _move(first, item.start, moved)
        return [Iter(item.count, number(first.stride * item.step), first.axis)]
    block = product(part.extent for part in rest)
    start, left = number(item.start // block), number(item.start % block)
    if not isinstance(block, int):
        return None
    if item.step % block == 0:
        _move_to(rest, left, moved)
        return _stepping([first], Run(start, item.count, item.step // block), moved)
    if isinstance(left, int) and isinstance(item.count, int) and left + (item.count - 1) * item.step < block:
        _move(first, start, moved)
        return _stepping(rest, Run(left, item.count, item.step), moved)
    return None


def _fused(iters: Sequence[Iter]) -> list[Iter]:
    return list(canonicalize(TileLayout.from_iters(iters)).shard)


def _move_to(iters: Sequence[Iter], index: Any, moved: Offsets) -> None:
    """Add where `index` lies, split over iters."""
    block = product(part.extent for part in iters)
    for position, item in enumerate(iters):
        inside = index if position == 0 else number(index % block)
        block = number(block // item.extent)
        _move(item, number(inside // block), moved)


def _move(item: Iter, count: Any, moved: Offsets) -> None:
    moved[item.axis] = number(plus(moved.get(item.axis, 0), times(number(count), item.stride)))


def _text(item: Any) -> str:
    if not isinstance(item, Run):
        return number_text(number(item))
    end = number(item.start + item.count * item.step)
    return f"{number_text(item.start)}:{number_text(end)}" + (f":{item.step}" if item.step != 1 else "")
