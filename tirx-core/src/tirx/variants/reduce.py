"""Reductions: registers by loops and exchanges between threads, memory by groups of lanes.

local     each thread folds what it holds; threads that hold the rest of a row exchange (`thread_reduce=True`): lanes by shuffles,
          warps through `partials` in shared memory
shared    a group of lanes folds each row, lane after lane, then exchanges; where rows are long and fewer than the warps, several
          warps fold one and meet through `partials` in shared memory
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import script as Tx
from ..ir import as_expr, cast, const
from ..ir.sizes import product
from ..tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from .agreement import is_holder
from .folding import (
    WORKSPACE,
    can_meet,
    emit_across,
    exchange,
    fold_parts,
    folded_here,
    has_place,
    left_by_warps,
    over,
    store_folded,
)  # fmt: skip
from .folds import REDUCTIONS, Folds, accumulator_of, identity_of, reduced_tiles
from .formulas import BINARY
from .share import split, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import TileCall
    from ..tile.context import DispatchContext
    from .operand import Index

__all__ = ["REDUCTIONS", "emit_local", "emit_shared", "identity_of", "reduce_variants", "reduced_tiles"]


# ---- local --------------------------------------------------------------------------------------------------------


def emit_local(call: TileCall, context: DispatchContext) -> None:
    """Per element of the destination: fold the registers, then exchange with the threads that hold the rest."""
    plan = Folds(call, context)
    if plan.across:
        emit_across(call, context, plan)
        return
    with when(plan.owners.guards), over(plan.kept, context) as kept:
        total = folded_here(call, context, plan, kept)
        coords = plan.coords(kept)
        with when(plan.writers(coords)):
            store_folded(plan.target, coords, total, call)


def _in_registers(call: TileCall, context: DispatchContext) -> Verdict:
    target, source, _ = reduced_tiles(call, context)
    if source.storage == "memory":
        decline("the source is not in the threads' own storage", scope=source.scope)
    if target.storage == "memory" and source.storage == "private":
        decline("every thread would write the same element", scope=target.scope)
    return accept(source=source.storage, destination=target.storage)


def _exchangeable(call: TileCall, context: DispatchContext) -> Verdict:
    plan = Folds(call, context)
    masks = plan.masks()
    if plan.spread and not context.config["thread_reduce"]:
        decline("a row is spread over lanes; say thread_reduce=True to exchange between them", exchanges=len(masks))
    if plan.spread and plan.owners.guards:
        decline("some lanes hold nothing, and could not take part in the exchange")
    held = [part for part in plan.owners.parts if part.digit is not None and part not in plan.spread]
    if plan.target.storage == "private" and held:
        decline("the destination is private, but rows are spread over threads")
    coords = plan.coords({part: const(0) for part in plan.kept})
    if plan.target.storage == "distributed" and not is_holder(plan.target, coords, context.analyzer, plan.leads()):
        decline(f"`{plan.target.buffer.name}` is held by other threads than the rows of `{plan.source.buffer.name}`")
    return can_meet(call, context, plan) if plan.across else accept(exchanges=len(masks))


# ---- shared -------------------------------------------------------------------------------------------------------


EACH = 4  # values of a thread from which more threads than a warp pay for a row


def emit_shared(call: TileCall, context: DispatchContext) -> None:
    """A group of threads per element of the destination; the groups take the elements in rounds."""
    target, source, axes = reduced_tiles(call, context)
    kept = [extent for dim, extent in enumerate(source.extents) if dim not in axes]
    folded = [source.extents[dim] for dim in axes]
    rows, length = product(kept), product(folded)
    lanes = group_size(length, context)
    warps = warps_of_a_row(rows, length, lanes, context)
    group = lanes * warps
    groups = context.threads // group
    rank, fold, analyzer = as_expr(context.rank), BINARY[call.op.name], context.analyzer
    dtype = accumulator_of(call.op.name, source.dtype)
    member = analyzer.simplify(rank % group) if group > 1 else const(0)
    with Tx.serial(_ceildiv(rows, groups)) as turn:
        analyzer.bind(turn, 0, None)
        row = analyzer.simplify(turn * groups + rank // group)
        here = [] if isinstance(rows, int) and rows % groups == 0 else [as_expr(row < rows)]
        total = Tx.local_scalar(dtype)
        total.assign(identity_of(call.op.name, dtype))
        with when(here), Tx.serial(_ceildiv(length, group)) as step:
            column = analyzer.simplify(step * group + member)
            inside = [] if isinstance(length, int) and length % group == 0 else [as_expr(column < length)]
            with when(inside):
                at = _merged(split(row, kept, analyzer), split(column, folded, analyzer), axes)
                total.assign(fold(as_expr(total), cast(source.load(at), dtype)))
        exchange(total, _halvings(lanes), fold, context)
        parts = left_by_warps(total, warps, row, rows, here, context) if warps > 1 else []
        with when([*here, *([as_expr(member == 0)] if group > 1 else [])]):
            fold_parts(total, parts, fold)
            at = _merged(split(row, kept, analyzer), [0] * len(axes), axes)
            store_folded(target, at, total, call)
        if parts:
            context.sync()  # the next reduction writes there


def group_size(length: Index, context: DispatchContext) -> int:
    """Lanes that fold one row together: enough for its length, no more than a warp, all of them present."""
    width = context.width("thread", "warp")
    if width is None or context.threads % width or not context.active.is_full("warp"):
        return 1
    if not isinstance(length, int):
        return width
    return min(1 << max(length - 1, 0).bit_length(), width)


def warps_of_a_row(rows: Index, length: Index, lanes: int, context: DispatchContext) -> int:
    """How many warps fold one row together: more than one where there are warps left, long rows, and a place to meet."""
    if not isinstance(rows, int) or not isinstance(length, int) or lanes != context.width("thread", "warp"):
        return 1
    warps = context.threads // lanes
    free = min(warps // max(rows, 1), length // (lanes * EACH), warps & -warps)
    return 1 << free.bit_length() - 1 if free > 1 and has_place(context) else 1


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


PARTIALS = {WORKSPACE: "what the warps have of each row, in shared memory; made where it is not given"}
THREAD_REDUCE = ConfigKey("thread_reduce", bool, False, "exchange between the threads that hold parts of one row")


def reduce_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of `sum`, `max` and `min` for `kind`."""
    local = (Predicate("tiles in registers", _in_registers), Predicate("rows can be completed", _exchangeable))
    shared = (Predicate("tiles in memory", _in_memory),)
    return tuple(
        row
        for operation in REDUCTIONS
        for row in (
            Variant(operation, kind, "local", priority=10, emit=emit_local, predicates=local, config=(THREAD_REDUCE,),
                    workspace=PARTIALS,
                    doc="each thread folds its registers; lanes exchange, warps meet in `partials`"),
            Variant(operation, kind, "shared", priority=10, emit=emit_shared, predicates=shared,
                    doc="a group of lanes folds each row; several warps, where rows are few and long"),
        )
    )  # fmt: skip
