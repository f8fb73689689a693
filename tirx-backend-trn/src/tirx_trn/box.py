"""From a region of a buffer, as the author slices it, to the box of partitions and free elements that it covers."""

from __future__ import annotations

from collections.abc import Sequence

from tirx.arith import simplify
from tirx.ir import BufferRegion, Expr, IntImm, as_expr
from tirx.layout import Iter
from tirx.support.errors import LayoutError

from .layout import Place, place_of

__all__ = ["Box", "box_of", "constant", "extents_of"]

Start = int | Expr


def constant(value: Start) -> int | None:
    """The number that an index is, if it is one."""
    if isinstance(value, int):
        return value
    simple = value if isinstance(value, IntImm) else simplify(value)
    return simple.value if isinstance(simple, IntImm) else None


def extents_of(region: BufferRegion) -> tuple[int, ...]:
    """The constant extents of a region; `LayoutError` when one is not."""
    found = tuple(constant(extent) for extent in region.extents)
    if any(extent is None for extent in found):
        raise LayoutError(
            f"the slice of `{region.buffer.name}` has an extent that is not constant",
            span=region.span,
            hint="an instruction works on a tile of constant size; slice as buffer[i : i + 128]",
        )
    return tuple(extent for extent in found if extent is not None)


class Box:
    """Physical start and extent per dimension of `place.shape`.

    `sources[d]` lists the physical dimensions that logical dimension d of the region became, without those of extent 1.
    """

    __slots__ = ("extents", "place", "sources", "starts")

    def __init__(
        self, place: Place, starts: Sequence[Start], extents: Sequence[int], sources: Sequence[Sequence[int]]
    ) -> None:
        self.place = place
        self.starts = tuple(starts)
        self.extents = tuple(extents)
        self.sources = tuple(tuple(dims) for dims in sources)

    @property
    def partitions(self) -> int:
        """How many partitions the box covers."""
        return self.extents[self.place.partition_dim]

    @property
    def free(self) -> int:
        """How many elements of each partition it covers (banks included)."""
        total = 1
        for dim, extent in enumerate(self.extents):
            total *= extent if dim != self.place.partition_dim else 1
        return total


class _Part:
    """What a region takes of one iter."""

    __slots__ = ("extent", "item", "start")

    def __init__(self, item: Iter, start: Start, extent: int) -> None:
        self.item = item
        self.start = start
        self.extent = extent


def box_of(region: BufferRegion) -> Box:
    """The box that a region of an on-chip buffer covers; `LayoutError` when it is not one box."""
    place = place_of(region.buffer)
    parts = [
        _split(region, dim, start.value if isinstance(start, IntImm) else start, extent, place.dims[dim])
        for dim, (start, extent) in enumerate(zip(region.starts, extents_of(region), strict=True))
    ]
    flat = [part for dim in parts for part in dim]
    _require_order(region, flat)
    starts: list[Start] = []
    extents: list[int] = []
    for axis in place.lead:
        start, extent = _merged(region, [part for part in flat if part.item.axis == axis])
        starts.append(start)
        extents.append(extent)
    for item in place.free:
        part = next(part for part in flat if part.item is item)
        starts.append(part.start)
        extents.append(part.extent)
    if not place.free:
        starts.append(0)
        extents.append(1)
    return Box(place, starts, extents, [_dims(place, dim) for dim in parts])


def _dims(place: Place, parts: Sequence[_Part]) -> list[int]:
    found = []
    for part in parts:
        if part.extent == 1:
            continue
        if part.item.axis in place.lead:
            found.append(place.lead.index(part.item.axis))
        else:
            found.append(len(place.lead) + next(i for i, item in enumerate(place.free) if item is part.item))
    return found


def _split(region: BufferRegion, dim: int, start: Start, extent: int, iters: Sequence[Iter]) -> list[_Part]:
    """One logical range as ranges of the iters of its dimension, outermost first."""
    parts: list[_Part] = []
    for item in reversed(iters[1:]):
        size = int(item.extent)  # shapes are constant here
        within, outer = _divided(start, size)
        if extent % size == 0 and constant(within) == 0:
            parts.append(_Part(item, 0, size))
            extent //= size
        elif extent <= size and _fits(within, extent, size):
            parts.append(_Part(item, within, extent))
            extent = 1
        else:
            raise LayoutError(
                f"dimension {dim} of this slice of `{region.buffer.name}` crosses a multiple of {size} unevenly",
                span=region.span,
                hint=f"slice whole groups of {size}, or stay inside one",
            )
        start = outer
    parts.append(_Part(iters[0], start, extent))
    return list(reversed(parts))


def _divided(start: Start, size: int) -> tuple[Start, Start]:
    if isinstance(start, int):
        return start % size, start // size
    return simplify(start % size), simplify(start // size)


def _fits(within: Start, extent: int, size: int) -> bool:
    known = constant(within)
    return extent == 1 or (known is not None and known + extent <= size)


def _merged(region: BufferRegion, parts: Sequence[_Part]) -> tuple[Start, int]:
    """Ranges of several iters of one axis as one contiguous range."""
    start: Start = 0
    total, closed = 1, False
    for part in sorted(parts, key=lambda part: int(part.item.stride)):
        if closed and part.extent != 1:
            raise LayoutError(
                f"this slice of `{region.buffer.name}` takes partitions that are not neighbours",
                span=region.span,
                hint="take whole inner dimensions before more than one of an outer one",
            )
        stride = int(part.item.stride)
        offset = part.start * stride if isinstance(part.start, int) else simplify(part.start * as_expr(stride))
        start = _sum(start, offset)
        total *= part.extent
        closed = closed or part.extent != part.item.extent
    return start, total


def _sum(a: Start, b: Start) -> Start:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    return a if isinstance(b, int) and b == 0 else simplify(as_expr(a + b))


def _require_order(region: BufferRegion, parts: Sequence[_Part]) -> None:
    """Free elements are worked on in the order of memory: it must be that of the author's dimensions."""
    strides = [int(part.item.stride) for part in parts if part.item.axis == "F" and part.extent != 1]
    if strides != sorted(strides, reverse=True):
        raise LayoutError(
            f"the free dimensions of `{region.buffer.name}` do not lie in memory in the order of its shape",
            span=region.span,
            hint="permute the shape, so that an instruction walks the elements in the order that they are written",
        )
