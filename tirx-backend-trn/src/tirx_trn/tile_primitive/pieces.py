"""The instructions that an operation falls into: which digits each covers, and loops over the others.

An instruction covers all partitions of a block and as many free elements as it may, innermost first, as long as every operand
has them in the order of its memory. What is left over at the end of a dimension is an instruction of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from math import prod
from typing import NamedTuple

from tirx.arith import simplify
from tirx.ir import BufferRegion, Expr, IntImm, TileCall, as_expr, const
from tirx.tile import decline
from tirx.tile.context import DispatchContext
from tirx.variants import loops

from .digits import Block, Digit, Place, Side, blocks_of, constant_extents

__all__ = ["Loop", "Piece", "Reached", "pieces", "reductions", "sides_of"]

Reached = dict[str, BufferRegion]
_MOST = 65_535  # an access counts to this (architecture guides)


class Loop(NamedTuple):
    """So many `turns`; each goes on by `step` elements of dimension `dim`."""

    dim: int
    turns: int
    step: int


class Piece:
    """One instruction, or the same one again in `turns`.

    `partitions` and `free` are its size; `lanes` and `elements` are the digits that it covers of each, outermost first. `columns` have
    one element per partition where others have `free`, `rows` lie in one partition where others lie in `partitions`.
    """

    def __init__(self, sides: Sequence[Side], space: Sequence[int]) -> None:
        self.sides = sides
        self.partitions = 1
        self.free = 1
        self.turns: list[Loop] = []
        self.offsets = [0] * len(space)
        self.extents = [1] * len(space)
        self.lanes: list[Digit] = []
        self.elements: list[Digit] = []
        self.columns: frozenset[str] = frozenset()
        self.rows: frozenset[str] = frozenset()

    @contextmanager
    def each(self, context: DispatchContext) -> Iterator[Reached]:
        """The loops of the piece around what is built inside, with the region that each operand has there."""
        with loops([(turn.turns, False) for turn in self.turns], context) as steps:
            yield self.regions(steps)

    def regions(self, steps: Sequence[Expr] = ()) -> Reached:
        """What the instruction works on in one turn (without `steps`: the first), by operand."""
        offsets = self.starts(steps)
        return {side.name: self._region(side, offsets) for side in self.sides}

    def starts(self, steps: Sequence[Expr]) -> list[int | Expr]:
        """Where the instruction starts in each dimension of the space in one turn; the first without `steps`."""
        offsets: list[int | Expr] = list(self.offsets)
        for turn, step in zip(self.turns, steps, strict=False):
            offsets[turn.dim] = offsets[turn.dim] + step * turn.step
        return offsets

    def _region(self, side: Side, offsets: Sequence[int | Expr]) -> BufferRegion:
        starts = tuple(
            start if dim is None else moved(start, offsets[dim])
            for start, dim in zip(side.region.starts, side.dims, strict=True)
        )
        extents = tuple(const(1 if dim is None else self.extents[dim]) for dim in side.dims)
        return BufferRegion(side.buffer, starts, extents, span=side.region.span)


def moved(start: Expr, offset: int | Expr) -> Expr:
    """`start + offset`."""
    if isinstance(offset, int) and isinstance(start, IntImm):
        return const(start.value + offset) if offset else start
    return simplify(as_expr(start + offset))


def sides_of(call: TileCall, first: str, but: str = "") -> tuple[list[Side], tuple[int, ...]]:
    """All tiles of a call but one along the space of operand `first`, and the extents of that."""
    region = call.operand(first)
    assert isinstance(region, BufferRegion)
    space = constant_extents(first, region)
    names = [name for name in dict.fromkeys([first, *call.names]) if name != but]
    tiles = [(name, call.operand(name)) for name in names]
    return [Side(name, tile, space) for name, tile in tiles if isinstance(tile, BufferRegion)], space


def pieces(sides: Sequence[Side], space: Sequence[int], most: int | None = None) -> list[Piece]:
    """The instructions that cover `space`, each of at most `most` free elements."""
    found: list[Piece] = []
    every = [blocks_of(dim, extent, sides) for dim, extent in enumerate(space)]
    for blocks in product(*every):
        found += _Choice(sides, space, blocks, most or _MOST).pieces()
    return found


def reductions(
    sides: Sequence[Side], space: Sequence[int], axes: Sequence[int], most: int | None = None, *, together: bool = False
) -> list[list[Piece]]:
    """Instructions that reduce `axes` of `space`, in groups that lead to the same results.

    With `together` one instruction may give several results per partition; those then stand alone in their group.
    """
    every = [blocks_of(dim, extent, sides) for dim, extent in enumerate(space)]
    kept = [blocks if dim not in axes else [None] for dim, blocks in enumerate(every)]
    found = []
    for results in product(*kept):
        group: list[Piece] = []
        inner = product(*(blocks if dim in axes else [results[dim]] for dim, blocks in enumerate(every)))
        for blocks in inner:
            chosen = [block for block in blocks if block is not None]
            group += _Choice(sides, space, chosen, most or _MOST, axes, together=together).pieces()
        found.append(group)
    return found


class _Choice:
    """Digits of one block, the innermost first, sorted into the instruction and into loops."""

    def __init__(
        self,
        sides: Sequence[Side],
        space: Sequence[int],
        blocks: Sequence[Block],
        most: int,
        reduced: Sequence[int] = (),
        *,
        together: bool = False,
    ) -> None:
        self.sides = sides
        self.space = space
        self.blocks = blocks
        self.reduced = frozenset(reduced)
        self.together = together
        self.most = most
        self.digits = [digit for block in blocks for digit in block.digits]
        self.places = {digit: self._places(digit) for digit in self.digits}
        self.inside: list[Digit] = []
        self.outside: list[Digit] = []
        self.partial: tuple[Digit, int] | None = None  # a digit of which an instruction covers so many
        self.free = 1

    def _places(self, digit: Digit) -> dict[str, Place]:
        found = {side.name: place for side in self.sides if (place := side.place(digit)) is not None}
        lanes = {name for name, place in found.items() if place.axis == "P"}
        other = {name for name, place in found.items() if place.axis in ("F", "Bank")}
        if lanes and other:
            decline(
                f"dimension {digit.dim} lies along the partitions of `{min(lanes)}`, and along the free dimension of `{min(other)}`; "
                "engines work lane by lane (NKI architecture guide)",
                elements=digit.size,
            )
        return found

    def _gone(self, side: Side, digit: Digit) -> bool:
        """Whether an operand, the result of a reduction, lacks a digit because it is reduced."""
        return digit.dim in self.reduced and side.name not in self.places[digit]

    def is_lane(self, digit: Digit) -> bool:
        """Whether a digit counts partitions."""
        return any(place.axis == "P" for place in self.places[digit].values())

    def pieces(self) -> list[Piece]:
        """One, or two where the last of a dimension is shorter."""
        order = self.digits[::-1]
        order.sort(key=lambda digit: digit.dim not in self.reduced)  # what is reduced first, else as it was
        for digit in order:
            self._sort(digit)
        if self.partial is None:
            return [self._piece(0, None)]
        digit, chunk = self.partial
        count, left = divmod(digit.size, chunk)
        whole = self._piece(0, chunk, count)
        return [whole] if not left else [whole, self._piece(count * chunk, left)]

    def _sort(self, digit: Digit) -> None:
        closed = any(item.dim == digit.dim for item in self.outside) or (
            self.partial is not None and self.partial[0].dim == digit.dim
        )
        if self.is_lane(digit):
            if closed:
                decline(
                    "partitions lie outside of free elements that no instruction can take together", dimension=digit.dim
                )
            self.inside.append(digit)
        elif closed or self.partial is not None or self._apart(digit) or not self._in_order(digit):
            self.outside.append(digit)
        elif self.free * digit.size <= self.most or self._under_lanes(digit):
            self.inside.append(digit)
            self.free *= digit.size
        elif self.free < self.most // 2 + 1:
            self.partial = (digit, self.most // self.free)
        else:
            self.outside.append(digit)

    def _apart(self, digit: Digit) -> bool:
        """Whether a digit numbers results of a reduction that belong to instructions of their own."""
        if not self.reduced or digit.dim in self.reduced:
            return False
        covered = {item for item in self.inside if item.dim in self.reduced}
        every = {item for item in self.digits if item.dim in self.reduced and not self.is_lane(item)}
        behind = any(self.digits.index(item) < self.digits.index(digit) for item in covered)
        return not self.together or behind or covered != every

    def _under_lanes(self, digit: Digit) -> bool:
        """Whether partitions of the same dimension lie further out: then the instruction takes all of it."""
        return any(self.is_lane(item) for item in self.digits if item.dim == digit.dim and item.step > digit.step)

    def _in_order(self, digit: Digit) -> bool:
        """Whether every operand has the digit outside of those that the instruction covers, or none of them either."""
        for side in self.sides:
            if self._gone(side, digit):
                continue
            covered = [item for item in self.inside if not self.is_lane(item) and not self._gone(side, item)]
            mine, place = [self.places[item].get(side.name) for item in covered], self.places[digit].get(side.name)
            if any((item is None) != (place is None) for item in mine):
                return False
            if place is not None and any(item is not None and _order(item) > _order(place) for item in mine):
                return False
        return True

    def _piece(self, first: int, chunk: int | None, count: int = 1) -> Piece:
        """The instruction that covers `chunk` of the partial digit, from `first` on, `count` times."""
        made = Piece(self.sides, self.space)
        made.offsets = [block.offset for block in self.blocks]
        covered = [(digit, digit.size) for digit in self.inside]
        for digit in reversed(self.outside):
            made.turns.append(Loop(digit.dim, digit.size, digit.step))
        if self.partial is not None and chunk is not None:
            digit = self.partial[0]
            made.offsets[digit.dim] += first * digit.step
            covered.append((digit, chunk))
            if count > 1:
                made.turns.append(Loop(digit.dim, count, chunk * digit.step))
        for digit, size in covered:
            made.extents[digit.dim] *= size
        self._measure(made, covered)
        return made

    def _measure(self, made: Piece, covered: Sequence[tuple[Digit, int]]) -> None:
        lanes = [digit for digit, _ in covered if self.is_lane(digit)]
        free = [(digit, size) for digit, size in covered if digit not in lanes and size > 1]
        made.partitions = prod(digit.size for digit in lanes)
        made.free = prod(size for _, size in free)
        made.lanes, made.elements = lanes[::-1], [Digit(digit.dim, size, digit.step) for digit, size in free][::-1]
        names = [side.name for side in self.sides]
        made.columns = frozenset(
            name for name in names if free and all(name not in self.places[digit] for digit, _ in free)
        )
        made.rows = frozenset(
            name for name in names if lanes and all(name not in self.places[digit] for digit in lanes)
        )
        for name in names:
            if name not in made.rows and any(name not in self.places[digit] for digit in lanes):
                decline(f"`{name}` is stretched along some of the partitions only", partitions=made.partitions)


def _order(place: Place) -> tuple[bool, int]:
    """Banks lie outside of the free elements of each; the order of device memory is of no concern."""
    return place.axis == "Bank", 0 if place.axis == "M" else place.stride
