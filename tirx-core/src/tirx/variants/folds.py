"""How a reduction folds: its tiles lined up, and for registers which parts are folded here, by lanes, and across warps.

src S[(16, 128) : (1, 1 @ tid_in_wg)], axis 1   nothing is folded here; 32 lanes exchange; 4 warps meet in memory
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .. import script as Tx
from ..ir import BufferRegion, Expr, as_expr, const
from ..layout.names import axis_named
from ..tile import decline
from ..tile.shapes import extents_of
from .agreement import is_holder
from .operand import Tile, is_unit, tile_of
from .owners import Owners, Part, coordinates, held_at, owners_of, whole_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import DType, TileCall
    from ..tile.context import DispatchContext
    from .operand import Index

__all__ = ["REDUCTIONS", "Folds", "accumulator_of", "identity_of", "reduced_tiles"]

REDUCTIONS = ("sum", "max", "min")


def identity_of(operation: str, dtype: DType) -> Expr:
    """The value that changes nothing."""
    if operation == "sum":
        return const(0, dtype)
    if dtype.is_float:
        lowest = Tx.infinity(dtype)
        return -lowest if operation == "max" else lowest
    found: Expr = Tx.min_value(dtype) if operation == "max" else Tx.max_value(dtype)
    return found


def accumulator_of(operation: str, dtype: DType) -> DType:
    """Sums of narrow floats are kept in float32; a maximum is exact in any dtype."""
    return Tx.float32.dtype if operation == "sum" and dtype.is_float and dtype.bits < 32 else dtype


def reduced_tiles(call: TileCall, context: DispatchContext) -> tuple[Tile, Tile, tuple[int, ...]]:
    """Destination, source, and the axes folded; the space is the source's."""
    source = tile_of(call, "src", context)
    axes = tuple(call.attr("axes"))
    region = call.operand("dst")
    assert isinstance(region, BufferRegion)
    kept = [dim for dim in range(len(source.extents)) if dim not in axes]
    return Tile(region, _kept_dims(extents_of(region), source.extents, kept), context), source, axes


def _kept_dims(extents: Sequence[Index], space: Sequence[Index], kept: Sequence[int]) -> list[int | None]:
    """Which dimension of the source each dimension of the destination follows: kept ones in order, others have extent 1."""
    if len(extents) == len(space):
        return [dim if dim in kept else None for dim in range(len(space))]
    pending = [dim for dim in kept if not is_unit(space[dim])]
    return [pending.pop(0) if pending and not is_unit(extent) else None for extent in extents]


class Folds:
    """How a thread's registers are folded: parts to keep, to fold here, and spread over other threads.

    Of what is spread, `lanes` are exchanged inside a warp, `across` between warps.
    """

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.target, self.source, self.axes = reduced_tiles(call, context)
        spread = self.source.storage == "distributed"
        self.owners = owners_of(self.source) if spread else Owners(whole_parts(self.source), (), ())
        self.context = context
        parts = self.owners.parts
        self.kept = [part for part in parts if part.dim not in self.axes and part.digit is None]
        self.folded = [part for part in parts if part.dim in self.axes and part.digit is None]
        self.spread = [part for part in parts if part.dim in self.axes and part.digit is not None]
        width = context.width("thread", "warp") or 1
        pieces = [piece for part in self.spread for piece in _cut(part, width, context)]
        self.lanes = [part for part in pieces if _in_warp(part, width)]
        self.across = [part for part in pieces if not _in_warp(part, width)]

    def coords(self, *steps: Mapping[Part, Expr]) -> tuple[Index, ...]:
        """Where this thread is in the space, in the steps of its register loops."""
        taken = {part: step for group in steps for part, step in group.items()}
        coords = coordinates(self.owners.parts, taken, len(self.source.extents), self.context.analyzer)
        return held_at(self.source, coords, taken) if self.source.storage == "distributed" else coords

    def masks(self) -> list[int]:
        """Lane masks of the exchanges, widest first."""
        found = []
        for part in self.lanes:
            count = part.extent
            if count & (count - 1):
                decline("lanes that exchange are a power of two", lanes=count)
            while count > 1:
                count //= 2
                found.append(count * part.stride)
        return found

    def row(self, coords: Sequence[Index]) -> tuple[Index, Index]:
        """The number of the destination's element that `coords` is folded into, and how many there are."""
        number: Index = 0
        count: Index = 1
        for dim, extent in enumerate(self.source.extents):
            if dim not in self.axes:
                number, count = number * extent + coords[dim], count * extent
        return number, count

    def writers(self, coords: Sequence[Index]) -> list[Expr]:
        """What must hold for a thread to write its result, where not every thread that has it may."""
        leads = [as_expr(part.digit == 0) for part in self.spread if part.digit is not None]
        if self.target.storage == "memory":
            return [*leads, *self.owners.first]
        if self.target.storage == "distributed":
            return [] if is_holder(self.target, coords, self.context.analyzer) else leads
        return []

    def leads(self) -> dict[str, Expr]:
        """Per thread axis how far a thread is from the first one that has the same result."""
        found: dict[str, Expr] = {}
        for part in self.spread:
            assert part.digit is not None
            found[part.axis] = found.get(part.axis, const(0)) + part.digit * part.stride
        return found


def _in_warp(part: Part, width: int) -> bool:
    """Whether the threads that hold the steps of a part are lanes of one warp."""
    row = axis_named(part.axis)
    return row is not None and row.level == "thread" and part.stride * part.extent <= width


def _cut(part: Part, width: int, context: DispatchContext) -> list[Part]:
    """A part as the steps from warp to warp, and those inside a warp."""
    row, reach = axis_named(part.axis), part.stride * part.extent
    inside = row is not None and row.level == "thread" and part.stride < width < reach
    if not inside or width % part.stride or reach % width or part.digit is None:
        return [part]
    lanes, simplify = width // part.stride, context.analyzer.simplify
    return [
        Part(part.dim, part.weight * lanes, part.extent // lanes, width, part.axis, simplify(part.digit // lanes)),
        Part(part.dim, part.weight, lanes, part.stride, part.axis, simplify(part.digit % lanes)),
    ]
