"""Dimensions of a tile as digits: numbers of one weight that every operand keeps in one place.

x of shape (256, 64), layout "PF"          rows 2 x 128: the outer 2 count free elements, the inner 128 partitions
y of shape (256, 64), in device memory     rows 256

rows 0:256 of both                         one block of digits 2 and 128
rows 0:300 of larger ones                  2 x 128, and a block of 44
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tirx.arith import simplify
from tirx.ir import Buffer, BufferRegion, Expr, as_expr
from tirx.tile import decline
from tirx.tile.shapes import aligned, extents_of, shape_text

from ..box import constant
from ..layout import is_on_chip, place_of

__all__ = ["Block", "Digit", "Place", "Side", "blocks_of", "constant_extents"]


class Digit(NamedTuple):
    """`size` indices, each `step` elements after the one before, of dimension `dim` of the space."""

    dim: int
    size: int
    step: int


class Block(NamedTuple):
    """Elements of one dimension from `offset` on that are all combinations of `digits`, outermost first."""

    offset: int
    digits: tuple[Digit, ...]


class Place(NamedTuple):
    """Where one digit lies: partitions P, the free dimension F, banks of PSUM, or M for device memory; and its stride there."""

    axis: str
    stride: int


class _Step(NamedTuple):
    """One factor of a dimension of a buffer: `inner` elements of that dimension lie between two of its indices."""

    inner: int
    axis: str
    stride: int


class Side:
    """An operand seen from the space that an operation runs over.

    `dims` says along which dimension of the space each dimension of the buffer runs (None: one element, or stretched).
    """

    def __init__(
        self, name: str, region: BufferRegion, space: Sequence[int], dims: Sequence[int | None] | None = None
    ) -> None:
        self.name = name
        self.region = region
        self.buffer = region.buffer
        own = constant_extents(name, region)
        dims = aligned(own, space) if dims is None else dims
        if dims is None:
            decline(f"the shape of `{name}` does not fit", own=shape_text(own), wanted=shape_text(space))
        self.dims = tuple(dims)
        self.along = {dim: at for at, dim in enumerate(self.dims) if dim is not None}
        self._steps = [_steps(self.buffer, at) for at in range(len(self.dims))]

    @property
    def on_chip(self) -> bool:
        """Whether it lies in SBUF or PSUM."""
        return is_on_chip(self.buffer)

    def cuts(self, dim: int) -> list[int]:
        """Sizes of the groups that dimension `dim` of the space falls into here."""
        return [step.inner for step in self._steps[self.along[dim]] if step.inner > 1] if dim in self.along else []

    def start(self, dim: int) -> int | Expr:
        """Where the region starts along dimension `dim` of the space."""
        start = self.region.starts[self.along[dim]]
        known = constant(start)
        return start if known is None else known

    def axes(self, dim: int) -> list[Place]:
        """Where the elements of dimension `dim` of the space lie, outermost first."""
        steps = self._steps[self.along[dim]] if dim in self.along else []
        return [Place(step.axis, step.stride) for step in steps]

    def place(self, digit: Digit) -> Place | None:
        """Where a digit lies; None where the operand is stretched along it."""
        if digit.dim not in self.along:
            return None
        step = next(item for item in self._steps[self.along[digit.dim]] if item.inner <= digit.step)
        return Place(step.axis, step.stride * (digit.step // step.inner))


def constant_extents(name: str, region: BufferRegion) -> tuple[int, ...]:
    """The extents of a region; an instruction works on a constant number of elements."""
    found = extents_of(region)
    numbers = [item for item in found if isinstance(item, int)]
    if len(numbers) != len(found):
        decline(
            f"the size of `{name}` is not constant; an instruction works on tiles of constant size",
            size=shape_text(found),
        )
    return tuple(numbers)


def _steps(buffer: Buffer, dim: int) -> list[_Step]:
    """The factors of one dimension of a buffer, outermost first."""
    if not is_on_chip(buffer):
        return [_Step(1, "M", 1)]
    found: list[_Step] = []
    inner = 1
    for item in reversed(place_of(buffer).dims[dim]):
        if item.extent == 1:
            continue
        found.append(_Step(inner, item.axis, int(item.stride)))
        inner *= int(item.extent)  # shapes on chip are constant
    return list(reversed(found)) or [_Step(1, "F", 1)]


def blocks_of(dim: int, extent: int, sides: Sequence[Side]) -> list[Block]:
    """Dimension `dim` of the space in blocks that are regular for every operand."""
    present = [side for side in sides if dim in side.along]
    cuts = sorted({cut for side in present for cut in side.cuts(dim)})
    for small, large in pairwise(cuts):
        if large % small:
            decline(
                "the layouts of the operands divide a dimension in ways that do not nest", dimension=dim, sizes=cuts
            )
    return _Cutter(dim, present).split(0, extent, cuts)


class _Cutter:
    """One dimension while it is cut."""

    def __init__(self, dim: int, sides: Sequence[Side]) -> None:
        self.dim = dim
        self.sides = sides

    def split(self, offset: int, length: int, cuts: list[int]) -> list[Block]:
        """Elements `offset` to `offset + length`, which no cut beyond `cuts` divides."""
        if length == 1:
            return [Block(offset, ())]
        if not cuts:
            return [Block(offset, (Digit(self.dim, length, 1),))]
        *rest, cut = cuts
        phases = [self._phase(side, offset, cut) for side in self.sides]
        if any(phases):
            head = min(length, *(cut - phase for phase in phases))
            tail = self.split(offset + head, length - head, cuts) if head < length else []
            return [*self.split(offset, head, rest), *tail]
        count, left = divmod(length, cut)
        whole = [Block(offset, self._digits(count, cuts))] if count else []
        return whole + (self.split(offset + count * cut, left, rest) if left else [])

    def _digits(self, count: int, cuts: list[int]) -> tuple[Digit, ...]:
        steps = [*reversed(cuts), 1]
        sizes = [count, *(outer // inner for outer, inner in pairwise(steps))]
        return tuple(Digit(self.dim, size, step) for size, step in zip(sizes, steps, strict=True) if size > 1)

    def _phase(self, side: Side, offset: int, cut: int) -> int:
        """How far into a group of `cut` the operand's elements begin."""
        if cut not in side.cuts(self.dim):
            return 0
        start = side.start(self.dim)
        known = (
            (start + offset) % cut if isinstance(start, int) else constant(simplify(as_expr((start + offset) % cut)))
        )
        if known is None:
            decline(
                f"`{side.name}` starts at an index that is not known to be a multiple of {cut}, where its layout wraps",
                dimension=self.dim,
                start=as_expr(start).script(),
            )
        return known
