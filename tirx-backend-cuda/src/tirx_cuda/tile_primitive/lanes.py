"""Tiles in the registers of a warp, cut into the fragments that matrix instructions take.

    fragments(D, mma_fragment_layout("D", "m16n8k16", "float32"), (16, 8))

answers for each 16 x 8 part of D in which registers its fragment lies, or declines because the tile is spread otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from typing import Any

from tirx.ir import Buffer, BufferLoad, Expr, as_expr
from tirx.layout import TileLayout
from tirx.layout.iters import Iter
from tirx.tile import decline
from tirx.tile.context import DispatchContext
from tirx.variants import Tile, loops, region_layout

__all__ = ["Fragments", "Registers", "fragments", "lanes_of", "parts"]


class Fragments:
    """First register of each part: `base + at[i, j][r]` is where register `r` of the instruction lies, in elements."""

    __slots__ = ("at", "base", "counts", "packed")

    def __init__(
        self, at: dict[tuple[int, ...], tuple[int, ...]], counts: tuple[int, ...], packed: int, base: Expr | int = 0
    ) -> None:
        self.at = at
        self.counts = counts
        self.packed = packed
        self.base = base

    def grouped(self, sizes: Sequence[int]) -> Fragments:
        """Blocks of parts: the registers of all parts of a block, in row-major order."""
        counts = tuple(count // size for count, size in zip(self.counts, sizes, strict=True))
        at = {}
        for block in product(*map(range, counts)):
            parts = product(*(range(b * size, (b + 1) * size) for b, size in zip(block, sizes, strict=True)))
            at[block] = tuple(register for part in parts for register in self.at[part])
        return Fragments(at, counts, self.packed, self.base)

    def steps(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """`(first, strides)` with `at[i, j][r] == first[r] + i * strides[0] + j * strides[1]`, where that holds for all."""
        origin = (0,) * len(self.counts)
        first = self.at[origin]
        strides = []
        for dim, count in enumerate(self.counts):
            unit = tuple(int(other == dim) for other in range(len(self.counts)))
            strides.append(self.at[unit][0] - first[0] if count > 1 else 0)
        for place, registers in self.at.items():
            shift = sum(number * stride for number, stride in zip(place, strides, strict=True))
            if registers != tuple(register + shift for register in first):
                return None
        return first, tuple(strides)


def lanes_of(tile: Tile) -> tuple[TileLayout, tuple[int, ...]]:
    """What one warp holds of a distributed tile: layout over lanes and registers, and its extents."""
    return tile.context.once(("lanes", tile.key), lambda: _lanes(tile))


def _lanes(tile: Tile) -> tuple[TileLayout, tuple[int, ...]]:
    if tile.storage != "distributed":
        decline(f"`{tile.buffer.name}` is not spread over lanes", scope=tile.scope)
    layout = region_layout(tile)
    grouped, separators = layout.group(tile.extents)
    if grouped.replica:
        decline(f"`{tile.buffer.name}` is held by several threads at once", replicas=len(grouped.replica))
    kept: list[Iter] = []
    extents: list[int] = []
    for dim in range(len(tile.extents)):
        own = grouped.shard[separators[dim] : separators[dim + 1]]
        inside = [item for item in own if item.axis in ("m", "laneid")]
        outside = tuple(item for item in own if item.axis not in ("m", "laneid"))
        if own[: len(outside)] != outside:
            decline(f"the warps of `{tile.buffer.name}` take its rows in turn; each must hold rows side by side")
        kept += inside or [Iter(1, 1)]
        extents.append(_size(inside))
    return TileLayout.from_iters(kept), tuple(extents)


def fragments(tile: Tile, atom: TileLayout, shape: Sequence[int], packed: int) -> Fragments:
    """Where each part of `shape` of a warp's tile lies in registers; `packed` elements must lie together in 32 bits."""
    layout, extents = lanes_of(tile)
    name = tile.buffer.name
    if any(extent % size for extent, size in zip(extents, shape, strict=True)):
        decline(f"`{name}` is no whole number of fragments", own=extents, fragment=tuple(shape))
    found, misplaced = _located(layout, atom, extents, tuple(shape), packed)
    if misplaced is not None:
        decline(f"`{name}` lies otherwise in the lanes than the instruction takes it", element=misplaced)
    counts = tuple(extent // size for extent, size in zip(extents, shape, strict=True))
    base = region_layout(tile).offset.get("m", 0)
    if not tile.context.analyzer.divides(packed, base):
        decline(f"the region of `{name}` begins within a register", elements=base, packed=packed)
    return Fragments(found, counts, packed, base)


Place = tuple[int, ...]


@lru_cache(maxsize=1024)
def _located(
    layout: TileLayout, atom: TileLayout, extents: Place, shape: Place, packed: int
) -> tuple[dict[Place, Place], Place | None]:
    """The registers of every part; or the element of a part that lies elsewhere.

    Dimensions are apart in a layout: an element's position is the sum over them, and a part's registers are those of the first
    part, moved. So the elements of one part are looked at, and the first element of each.
    """
    lanes, registers = (_by_dimension(layout, extents, axis) for axis in ("laneid", "m"))
    for steps in (lanes, registers):
        for dim, (positions, size) in enumerate(zip(steps, shape, strict=True)):
            for index, position in enumerate(positions):
                if position != positions[index - index % size] + positions[index % size]:
                    return {}, tuple(index if other == dim else 0 for other in range(len(shape)))
    numbers: dict[int, int] = {}
    wanted = zip(_positions(atom, "laneid"), _positions(atom, "m"), strict=True)
    for place, (lane, register) in zip(product(*map(range, shape)), wanted, strict=True):
        held = sum(positions[index] for positions, index in zip(registers, place, strict=True))
        own = held - register % packed
        there = sum(positions[index] for positions, index in zip(lanes, place, strict=True))
        if there != lane or own % packed or numbers.setdefault(register // packed, own) != own:
            return {}, place
    first = tuple(numbers[number] for number in sorted(numbers))
    found = {}
    for part in product(*(range(extent // size) for extent, size in zip(extents, shape, strict=True))):
        origin = tuple(number * size for number, size in zip(part, shape, strict=True))
        shift = sum(positions[index] for positions, index in zip(registers, origin, strict=True))
        if shift % packed or any(positions[index] for positions, index in zip(lanes, origin, strict=True)):
            return {}, origin
        found[part] = tuple(register + shift for register in first)
    return found, None


def _by_dimension(layout: TileLayout, extents: Place, axis: str) -> list[list[int]]:
    """Per dimension what each index adds to the position on an axis."""
    grouped, separators = layout.group(extents)
    return [_steps(grouped.shard[start:stop], axis) for start, stop in pairwise(separators)]


def _positions(layout: TileLayout, axis: str) -> list[int]:
    """Position on one axis of every element, counted row-major."""
    return _steps(layout.shard, axis, _constant(layout.offset.get(axis, 0)))


def _steps(iters: Sequence[Iter], axis: str, start: int = 0) -> list[int]:
    found = [start]
    for item in iters:
        stride = _constant(item.stride) if item.axis == axis else 0
        steps = [number * stride for number in range(_constant(item.extent))]
        found = [position + step for position in found for step in steps]
    return found


def _constant(value: Any) -> int:
    if not isinstance(value, int):
        decline("a layout of registers is made of constants", value=value)
    return value


def _size(iters: Sequence[Iter]) -> int:
    total = 1
    for item in iters:
        total *= _constant(item.extent)
    return total


class Registers:
    """The registers of a warp's tile as instructions take them: of 32 bits where they hold several elements."""

    __slots__ = ("base", "buffer", "found", "packed", "regular")

    def __init__(self, tile: Tile, found: Fragments) -> None:
        self.found, self.packed, self.regular = found, found.packed, found.steps()
        count = _constant(tile.buffer.layout.span()) // found.packed  # type: ignore[union-attr]
        dtype = "uint32" if found.packed > 1 else tile.dtype
        self.base = found.base // self.packed if isinstance(found.base, int) else _divided(tile, found)
        self.buffer: Buffer = tile.view_registers((count,), dtype)

    def of(self, part: Sequence[Expr | int]) -> list[BufferLoad]:
        """The registers of one part."""
        if self.regular is None:
            numbers: list[Expr | int] = [n // self.packed for n in self.found.at[tuple(map(int, part))]]
        else:
            first, strides = self.regular
            shift = sum((step * (stride // self.packed) for step, stride in zip(part, strides, strict=True)), 0)
            numbers = [shift + number // self.packed for number in first]
        return [BufferLoad(self.buffer, (as_expr(self.base + number),)) for number in numbers]


def _divided(tile: Tile, found: Fragments) -> Expr:
    return tile.context.analyzer.simplify(as_expr(found.base) // found.packed)


def parts(counts: Sequence[int], context: DispatchContext, *, regular: bool) -> Iterator[tuple[Expr | int, ...]]:
    """All parts: in unrolled loops where registers follow each other regularly, else one by one."""
    if not regular:
        yield from product(*map(range, counts))
        return
    long = [dim for dim, count in enumerate(counts) if count > 1]
    with loops([(counts[dim], True) for dim in long], context) as steps:
        found: list[Expr | int] = [0] * len(counts)
        for dim, step in zip(long, steps, strict=True):
            found[dim] = step
        yield tuple(found)
