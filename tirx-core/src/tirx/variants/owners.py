"""Who holds which element of a distributed tile: the digits of thread ids that its layout is made of.

S[(8, 4, 2):(4 @ laneid, 1 @ laneid, 1)]   8 x 8 elements: row laneid // 4, columns laneid % 4 * 2 + (0, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from ..arith import Analyzer
from ..ir import Expr, Var, as_expr
from ..layout.iters import Iter
from ..layout.names import axis_named
from ..tile import decline
from .operand import Held, is_unit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..layout import TileLayout
    from ..tile.context import DispatchContext
    from .operand import Index, Tile

__all__ = ["Owners", "Part", "coordinates", "held_at", "owners_of", "region_layout", "whole_parts"]


class Part:
    """One iter of the tile along dimension `dim` of the space: `extent` steps of `weight` there.

    `digit` is which of them this thread holds; None where it holds them all, in registers `stride` apart. Of a digit,
    `axis` and `stride` say which threads hold the others.
    """

    __slots__ = ("axis", "digit", "dim", "extent", "stride", "weight")

    def __init__(
        self, dim: int | None, weight: int, extent: Any, stride: int = 1, axis: str = "m", digit: Expr | None = None
    ) -> None:
        self.dim = dim
        self.weight = weight
        self.extent = extent
        self.stride = stride
        self.axis = axis
        self.digit = digit


class Owners:
    """The parts of a tile, when this thread holds anything at all (`guards`), and when it is the first that does."""

    __slots__ = ("first", "guards", "parts")

    def __init__(self, parts: Sequence[Part], guards: Sequence[Expr], first: Sequence[Expr]) -> None:
        self.parts = tuple(parts)
        self.guards = tuple(guards)
        self.first = tuple(first)


def owners_of(tile: Tile) -> Owners:
    """How the elements of `tile` are spread over the threads of the call's scope; declines what has no such answer."""
    return tile.context.once(("owners", tile.key), lambda: _owners(tile))


def _owners(tile: Tile) -> Owners:
    context = tile.context
    layout = region_layout(tile)
    grouped, separators = layout.group(tile.extents)
    digits, guards, first = _digits(grouped, context)
    parts: list[Part] = []
    for dim, (start, stop) in enumerate(pairwise(separators)):
        weight = 1
        for number in reversed(range(start, stop)):
            item = grouped.shard[number]
            extent = _static(item.extent, "extent")
            if extent > 1:
                stride = _static(item.stride, "stride")
                parts.append(Part(tile.dims[dim], weight, extent, stride, item.axis, digits.get(number)))
            weight *= extent
    return Owners(_in_order(parts), guards, first)


def whole_parts(tile: Tile) -> list[Part]:
    """The parts of a tile that every thread has whole."""
    return [Part(dim, 1, extent) for dim, extent in zip(tile.dims, tile.extents, strict=True) if dim is not None]


def coordinates(parts: Sequence[Part], steps: Mapping[Part, Expr], rank: int, analyzer: Analyzer) -> tuple[Index, ...]:
    """Where a thread is in a space of `rank` dimensions, in step `steps` of its register loops (absent: the first)."""
    coords: list[Index] = [0] * rank
    for part in parts:
        step = part.digit if part.digit is not None else steps.get(part)
        if part.dim is not None and step is not None:
            coords[part.dim] = coords[part.dim] + step * part.weight
    return tuple(coord if isinstance(coord, int) else analyzer.simplify(coord) for coord in coords)


def held_at(tile: Tile, coords: Sequence[Index], steps: Mapping[Part, Expr]) -> Held:
    """Coordinates in step `steps` of the register loops, with the register of `tile` that has the element there."""
    register: Index = region_layout(tile).offset.get("m", 0)
    for part, step in steps.items():
        register = register + step * part.stride
    return Held.at(coords, tile, register if isinstance(register, int) else tile.context.analyzer.simplify(register))


def _in_order(parts: list[Part]) -> list[Part]:
    """Outermost dimension first, and within one the widest step first."""
    return sorted(parts, key=lambda part: (-1 if part.dim is None else part.dim, -part.weight))


def region_layout(tile: Tile) -> TileLayout:
    """The layout of just the region."""
    return tile.context.once(("region", id(tile.region)), lambda: _region_layout(tile))


def _region_layout(tile: Tile) -> TileLayout:
    layout, shape = tile.buffer.layout, tile.buffer.shape
    if tile.extents == shape:
        return layout  # type: ignore[return-value]
    ranges = [(start, start + extent) for start, extent in zip(tile.starts, tile.extents, strict=True)]
    found = layout.slice(shape, ranges)  # type: ignore[union-attr]
    if found is None:
        decline(f"the region of `{tile.buffer.name}` cuts through what single threads hold")
    return found  # type: ignore[no-any-return]


def _digits(layout: TileLayout, context: DispatchContext) -> tuple[dict[int, Expr], list[Expr], list[Expr]]:
    """Digit of each thread iter of `layout.shard` by its number; conditions to hold anything; to be the first replica."""
    digits: dict[int, Expr] = {}
    guards: list[Expr] = []
    first: list[Expr] = []
    for axis in layout.axes():
        row = axis_named(axis)
        if row is None or row.level is None or row.within is None:
            continue
        shard = [
            (number, item) for number, item in enumerate(layout.shard) if item.axis == axis and not is_unit(item.extent)
        ]
        copies = [item for item in layout.replica if item.axis == axis and not is_unit(item.extent)]
        offset, width = layout.offset.get(axis, 0), context.width(row.level, row.within)
        found = _split_id(_id_on(axis, context), offset, width, shard, copies, context)
        digits.update(found[0])
        guards.extend(found[1])
        first.extend(found[2])
    return digits, guards, first


Found = tuple[dict[int, Expr], list[Expr], list[Expr]]


def _split_id(
    number: Expr,
    offset: Index,
    width: int | None,
    shard: Sequence[tuple[int, Iter]],
    copies: Sequence[Iter],
    context: DispatchContext,
) -> Found:
    """The digits of an id. Kernels ask for the same again and again: what holds everywhere is kept, what needs a condition is not."""
    if not isinstance(number, Var) or not isinstance(offset, int) or width is None:
        return _split(as_expr(number - offset), width, shard, copies, context.analyzer)
    analyzer = Analyzer()
    analyzer.bind(number, 0, width - 1)
    key = (
        "digits",
        id(number),
        offset,
        *((place, item.key()) for place, item in shard),
        *(item.key() for item in copies),
    )
    _, found = context.cached(key, lambda: (number, _split(as_expr(number - offset), width, shard, copies, analyzer)))
    return found if not found[1] else _split(as_expr(number - offset), width, shard, copies, context.analyzer)


def _id_on(axis: str, context: DispatchContext) -> Expr:
    row = axis_named(axis)
    assert row is not None
    assert row.level is not None
    assert row.within is not None
    if not context.encloses(row.within):
        decline(f"axis `{axis}` spreads over more threads than those of one {context.scope}", within=row.within)
    return context.id(row.level, row.within)


def _split(
    value: Expr,
    width: int | None,
    shard: Sequence[tuple[int, Iter]],
    copies: Sequence[Iter],
    analyzer: Analyzer,
) -> Found:
    """Mixed-radix digits of one id: steps sorted by stride must each be a multiple of all below."""
    digits: dict[int, Expr] = {}
    guards: list[Expr] = []
    first: list[Expr] = []
    steps = [(_static(item.stride, "stride"), _static(item.extent, "extent"), number) for number, item in shard]
    steps += [(_static(item.stride, "stride"), _static(item.extent, "extent"), -1) for item in copies]
    below = 1
    for stride, extent, number in sorted(steps):
        if stride % below:
            decline("the steps of a thread axis overlap", stride=stride, below=below)
        if stride > below:  # threads between two steps hold nothing
            guards.append(value // below % (stride // below) == 0)
        below = stride * extent
        digit = analyzer.simplify(value // stride % extent)
        if number >= 0:
            digits[number] = digit
        else:
            first.append(digit == 0)
    top = analyzer.simplify(as_expr(value < below))
    if width is None or below < width or not analyzer.prove(top):
        guards.append(top)
    if not analyzer.prove(as_expr(value >= 0)):
        guards.append(as_expr(value >= 0))
    if width is not None and below > width:
        axis = next(item.axis for item in (*(found for _, found in shard), *copies))
        decline("the layout names more threads than the launch has", axis=axis, named=below, there=width)
    return digits, guards, first


def _static(value: Index, what: str) -> int:
    if not isinstance(value, int):
        decline(f"a {what} of a distributed layout is not a constant", value=value)
    return value
