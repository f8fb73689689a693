"""Reductions: registers by loops and exchanges inside a warp, memory by groups of lanes.

local     each thread folds what it holds; lanes that hold the rest of a row exchange (`thread_reduce=True`)
shared    a group of lanes folds each row, lane after lane, then exchanges
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from .. import script as Tx
from ..ir import BufferRegion, Expr, as_expr, cast, const
from ..ir.sizes import product
from ..tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from ..tile.shapes import extents_of
from .agreement import is_holder
from .formulas import BINARY
from .operand import Tile, tile_of
from .owners import Owners, Part, coordinates, owners_of, whole_parts
from .share import loops, split, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import DType, Scalar, TileCall
    from ..tile.context import DispatchContext
    from .operand import Index

__all__ = ["REDUCTIONS", "emit_local", "emit_shared", "identity_of", "reduce_variants", "reduced_tiles"]

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
    pending = [dim for dim in kept if space[dim] != 1]
    return [pending.pop(0) if extent != 1 and pending else None for extent in extents]


# ---- local --------------------------------------------------------------------------------------------------------


class _Plan:
    """How a thread's registers are folded: parts to keep, to fold here, and to exchange with other lanes."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.target, self.source, axes = reduced_tiles(call, context)
        spread = self.source.storage == "distributed"
        self.owners = owners_of(self.source) if spread else Owners(whole_parts(self.source), (), ())
        self.context = context
        parts = self.owners.parts
        self.kept = [part for part in parts if part.dim not in axes and part.digit is None]
        self.folded = [part for part in parts if part.dim in axes and part.digit is None]
        self.spread = [part for part in parts if part.dim in axes and part.digit is not None]

    def coords(self, *steps: Mapping[Part, Expr]) -> tuple[Index, ...]:
        taken = {part: step for group in steps for part, step in group.items()}
        return coordinates(self.owners.parts, taken, len(self.source.extents), self.context.analyzer)

    def masks(self) -> list[int]:
        """Lane masks of the exchanges, widest first."""
        width = self.context.width("thread", "warp")
        found = []
        for part in self.spread:
            count, stride = part.extent, part.stride
            if width is None or part.axis not in LANES or stride * count > width:
                decline("a row is spread over several warps", axis=part.axis, threads=stride * count, warp=width)
            if count & (count - 1):
                decline("lanes that exchange are a power of two", lanes=count)
            while count > 1:
                count //= 2
                found.append(count * stride)
        return found

    def writers(self, coords: Sequence[Index]) -> list[Expr]:
        """What must hold for a thread to write its result, where not every thread that has it may."""
        leads = [as_expr(part.digit == 0) for part in self.spread if part.digit is not None]
        if self.target.storage == "memory":
            return [*leads, *self.owners.first]
        if self.target.storage == "distributed":
            return [] if is_holder(self.target, coords, self.context.analyzer) else leads
        return []


LANES = ("laneid", "tid_in_wg", "tx")


def emit_local(call: TileCall, context: DispatchContext) -> None:
    """Per element of the destination: fold the registers, then exchange with the lanes that hold the rest."""
    plan = _Plan(call, context)
    fold = BINARY[call.op.name]
    masks = plan.masks()
    dtype = accumulator_of(call.op.name, plan.source.dtype)
    with when(plan.owners.guards), _over(plan.kept, context) as kept:
        total = Tx.local_scalar(dtype)
        total.assign(identity_of(call.op.name, dtype))
        with _over(plan.folded, context) as folded:
            value = plan.source.load(plan.coords(kept, folded))
            total.assign(fold(as_expr(total), cast(value, dtype)))
        _exchange(total, masks, fold, context)
        coords = plan.coords(kept)
        with when(plan.writers(coords)):
            _store(plan.target, coords, total, call, fold)


def _store(target: Tile, coords: Sequence[Index], total: Scalar, call: TileCall, fold: object) -> None:
    value = as_expr(total)
    if call.attr("accum"):
        value = fold(cast(target.load(coords), value.dtype), value)  # type: ignore[operator]
    target.store(coords, value)


def _exchange(total: Scalar, masks: Sequence[int], fold: object, context: DispatchContext) -> None:
    """Butterfly: afterwards every lane of the group has the whole."""
    width = context.width("thread", "warp")
    for lanes in masks:
        assert width is not None
        everyone = const((1 << width) - 1, "uint32" if width <= 32 else "uint64")
        other = Tx.tvm_warp_shuffle_xor(everyone, as_expr(total), lanes, width, width)
        total.assign(fold(as_expr(total), other))  # type: ignore[operator]


@contextmanager
def _over(parts: Sequence[Part], context: DispatchContext) -> Iterator[dict[Part, Expr]]:
    """Unrolled loops over register parts."""
    long = [part for part in parts if part.extent != 1]
    with loops([(part.extent, isinstance(part.extent, int)) for part in long], context) as steps:
        yield dict(zip(long, steps, strict=True))


def _in_registers(call: TileCall, context: DispatchContext) -> Verdict:
    target, source, _ = reduced_tiles(call, context)
    if source.storage == "memory":
        decline("the source is not in the threads' own storage", scope=source.scope)
    if target.storage == "memory" and source.storage == "private":
        decline("every thread would write the same element", scope=target.scope)
    return accept(source=source.storage, destination=target.storage)


def _exchangeable(call: TileCall, context: DispatchContext) -> Verdict:
    plan = _Plan(call, context)
    masks = plan.masks()
    if masks and not context.config["thread_reduce"]:
        decline("a row is spread over lanes; say thread_reduce=True to exchange between them", exchanges=len(masks))
    if masks and plan.owners.guards:
        decline("some lanes hold nothing, and could not take part in the exchange")
    held = [part for part in plan.owners.parts if part.digit is not None and part not in plan.spread]
    if plan.target.storage == "private" and held:
        decline("the destination is private, but rows are spread over threads")
    coords = plan.coords({part: const(0) for part in plan.kept})
    if plan.target.storage == "distributed" and not is_holder(plan.target, coords, context.analyzer, _leads(plan)):
        decline(f"`{plan.target.buffer.name}` is held by other threads than the rows of `{plan.source.buffer.name}`")
    return accept(exchanges=len(masks))


def _leads(plan: _Plan) -> dict[str, Expr]:
    """Per thread axis how far a thread is from the first one that has the same result."""
    found: dict[str, Expr] = {}
    for part in plan.spread:
        assert part.digit is not None
        found[part.axis] = found.get(part.axis, const(0)) + part.digit * part.stride
    return found


# ---- shared -------------------------------------------------------------------------------------------------------


def emit_shared(call: TileCall, context: DispatchContext) -> None:
    """A group of lanes per element of the destination; the groups take the elements in rounds."""
    target, source, axes = reduced_tiles(call, context)
    kept = [extent for dim, extent in enumerate(source.extents) if dim not in axes]
    folded = [source.extents[dim] for dim in axes]
    rows, length = product(kept), product(folded)
    group = group_size(length, context)
    groups = context.threads // group
    rank, fold, analyzer = as_expr(context.rank), BINARY[call.op.name], context.analyzer
    dtype = accumulator_of(call.op.name, source.dtype)
    lane = analyzer.simplify(rank % group) if group > 1 else const(0)
    with Tx.serial(_ceildiv(rows, groups)) as turn:
        analyzer.bind(turn, 0, None)
        row = analyzer.simplify(turn * groups + rank // group)
        here = [] if isinstance(rows, int) and rows % groups == 0 else [as_expr(row < rows)]
        total = Tx.local_scalar(dtype)
        total.assign(identity_of(call.op.name, dtype))
        with when(here), Tx.serial(_ceildiv(length, group)) as step:
            column = analyzer.simplify(step * group + lane)
            inside = [] if isinstance(length, int) and length % group == 0 else [as_expr(column < length)]
            with when(inside):
                at = _merged(split(row, kept, analyzer), split(column, folded, analyzer), axes)
                total.assign(fold(as_expr(total), cast(source.load(at), dtype)))
        _exchange(total, _halvings(group), fold, context)
        with when([*here, *([as_expr(lane == 0)] if group > 1 else [])]):
            at = _merged(split(row, kept, analyzer), [0] * len(axes), axes)
            _store(target, at, total, call, fold)


def group_size(length: Index, context: DispatchContext) -> int:
    """Lanes that fold one row together: enough for its length, no more than a warp, all of them present."""
    width = context.width("thread", "warp")
    if width is None or context.threads % width or not context.active.is_full("warp"):
        return 1
    if not isinstance(length, int):
        return width
    return min(1 << max(length - 1, 0).bit_length(), width)


def _halvings(group: int) -> list[int]:
    return [group >> step for step in range(1, group.bit_length())]


def _merged(kept: Sequence[Index], folded: Sequence[Index], axes: Sequence[int]) -> tuple[Index, ...]:
    """Coordinates of the source from those of the row and those within it."""
    rest, inner = list(kept), dict(zip(axes, folded, strict=True))
    return tuple(inner[dim] if dim in inner else rest.pop(0) for dim in range(len(kept) + len(folded)))


def _ceildiv(count: Index, size: int) -> Index:
    return -(-count // size) if isinstance(count, int) else Tx.ceildiv(count, size)


def _in_memory(call: TileCall, context: DispatchContext) -> Verdict:
    target, source, _ = reduced_tiles(call, context)
    own = {tile.buffer.name: tile.scope for tile in (target, source) if tile.storage != "memory"}
    return accept() if not own else decline("a tile is in the threads' own storage", **own)


THREAD_REDUCE = ConfigKey("thread_reduce", bool, False, "exchange between the lanes that hold parts of one row")


def reduce_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of `sum`, `max` and `min` for `kind`."""
    local = (Predicate("tiles in registers", _in_registers), Predicate("rows can be completed", _exchangeable))
    shared = (Predicate("tiles in memory", _in_memory),)
    return tuple(
        row
        for operation in REDUCTIONS
        for row in (
            Variant(operation, kind, "local", priority=10, emit=emit_local, predicates=local, config=(THREAD_REDUCE,),
                    doc="each thread folds its registers; lanes exchange"),
            Variant(operation, kind, "shared", priority=10, emit=emit_shared, predicates=shared,
                    doc="a group of lanes folds each row"),
        )
    )  # fmt: skip
