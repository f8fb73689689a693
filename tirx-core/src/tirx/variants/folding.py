"""The steps of reductions: fold registers, exchange between lanes, meet in memory between warps, write the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from .. import script as Tx
from ..ir import Expr, as_expr, cast, const
from ..ir.sizes import product
from ..tile import Verdict, accept, decline
from .folds import accumulator_of, identity_of
from .formulas import BINARY
from .operand import is_unit
from .owners import Part
from .share import loops, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import Buffer, Scalar, TileCall
    from ..tile.context import DispatchContext
    from .folds import Folds
    from .operand import Index, Tile

__all__ = [
    "WORKSPACE", "can_meet", "emit_across", "exchange", "fold_parts", "folded_here", "has_place", "left_by_warps", "over",
    "store_folded",
]  # fmt: skip

SHARED = "shared"
WORKSPACE = "partials"


@contextmanager
def over(parts: Sequence[Part], context: DispatchContext) -> Iterator[dict[Part, Expr]]:
    """Unrolled loops over register parts."""
    long = [part for part in parts if not is_unit(part.extent)]
    with loops([(part.extent, isinstance(part.extent, int)) for part in long], context) as steps:
        yield dict(zip(long, steps, strict=True))


def folded_here(call: TileCall, context: DispatchContext, plan: Folds, kept: dict[Part, Expr]) -> Scalar:
    """What this thread and the lanes beside it hold of a row, folded."""
    fold, dtype = BINARY[call.op.name], accumulator_of(call.op.name, plan.source.dtype)
    total = Tx.local_scalar(dtype)
    total.assign(identity_of(call.op.name, dtype))
    with over(plan.folded, context) as folded:
        value = plan.source.load(plan.coords(kept, folded))
        total.assign(fold(as_expr(total), cast(value, dtype)))
    exchange(total, plan.masks(), fold, context)
    return total


def exchange(total: Scalar, masks: Sequence[int], fold: Callable[[Expr, Expr], Expr], context: DispatchContext) -> None:
    """Butterfly: afterwards every lane of the group has the whole."""
    width = context.width("thread", "warp")
    for lanes in masks:
        assert width is not None
        everyone = const((1 << width) - 1, "uint32" if width <= 32 else "uint64")
        other = Tx.tvm_warp_shuffle_xor(everyone, as_expr(total), lanes, width, width)
        total.assign(fold(as_expr(total), other))


def store_folded(target: Tile, coords: Sequence[Index], total: Scalar, call: TileCall) -> None:
    """Write a result, folded with what was there where the call accumulates."""
    value = as_expr(total)
    if call.attr("accum"):
        value = BINARY[call.op.name](cast(target.load(coords), value.dtype), value)
    target.store(coords, value)


# ---- across warps ---------------------------------------------------------------------------------------------------


def _members(context: DispatchContext) -> tuple[int | None, Expr]:
    """How many members of the scope there are in a cta, and which one this is: each has places of its own."""
    scope = context.scope
    return (1, as_expr(0)) if scope == "cta" else (context.width(scope, "cta"), context.id(scope, "cta"))


class _Places:
    """The places of partial results in memory: one per member of the scope, warp that holds a part of a row, and row."""

    def __init__(self, context: DispatchContext, plan: Folds) -> None:
        self.context, self.plan = context, plan
        self.members, self.member = _members(context)
        self.warps = int(product([part.extent for part in plan.across]))
        self.rows = plan.row(plan.coords())[1]

    @property
    def count(self) -> int:
        """How many there are."""
        if self.members is None or not isinstance(self.rows, int):
            decline("how many partial results there are is not a constant", members=self.members, rows=self.rows)
        return self.members * self.warps * self.rows

    def mine(self) -> Expr:
        """Which part of its rows this thread's warp holds."""
        number: Expr = as_expr(0)
        for part in self.plan.across:
            assert part.digit is not None
            number = as_expr(number * part.extent + part.digit)
        return number

    def at(self, warp: Expr, coords: Sequence[Index]) -> Expr:
        """Where the partial result of a warp lies."""
        row = self.plan.row(coords)[0]
        return self.context.analyzer.simplify(as_expr((self.member * self.warps + warp) * self.rows + row))


def can_meet(call: TileCall, context: DispatchContext, plan: Folds) -> Verdict:
    """Whether warps that hold parts of one row can bring them together: in memory, with barriers around."""
    if context.scope != "cta" and context.encloses("cta"):
        decline("parts of a row lie in several ctas", scope=context.scope)
    verdict = context.can_sync()
    if not verdict.fits:
        decline(f"a row is spread over several warps, and {verdict.reason}", **verdict.measured)
    count, dtype = _Places(context, plan).count, accumulator_of(call.op.name, plan.source.dtype)
    given, allowed = context.workspace(WORKSPACE), context.target.capabilities.scopes
    if given is None:
        if allowed and SHARED not in allowed:
            decline("a row is spread over several warps, and there is no shared memory for partial results")
        return accept(partials=count)
    size = product(given.shape)
    if given.dtype is not dtype or not given.scope_name.startswith(SHARED) or not isinstance(size, int) or size < count:
        wanted = f"{count} {dtype.name} in shared memory"
        decline(f"workspace `{WORKSPACE}` must hold {wanted}", given=f"{size} {given.dtype.name} in {given.scope_name}")
    return accept(partials=count)


def emit_across(call: TileCall, context: DispatchContext, plan: Folds) -> None:
    """Each warp leaves what it has of every row; when all have, everybody folds the parts in the same order."""
    places = _Places(context, plan)
    fold, dtype = BINARY[call.op.name], accumulator_of(call.op.name, plan.source.dtype)
    partials = _memory(context, places.count, dtype)
    first = [*(as_expr(part.digit == 0) for part in plan.lanes if part.digit is not None), *plan.owners.first]
    with over(plan.kept, context) as kept:
        total = folded_here(call, context, plan, kept)
        with when(first):
            partials[places.at(places.mine(), plan.coords(kept))] = as_expr(total)
    context.sync()
    with over(plan.kept, context) as kept:
        coords = plan.coords(kept)
        with when(plan.writers(coords)):
            total = Tx.local_scalar(dtype)
            total.assign(partials[places.at(as_expr(0), coords)])
            for warp in range(1, places.warps):
                total.assign(fold(as_expr(total), partials[places.at(as_expr(warp), coords)]))
            store_folded(plan.target, coords, total, call)
    context.sync()  # the next reduction writes there


def has_place(context: DispatchContext) -> bool:
    """Whether warps can leave partial results for each other: in shared memory, with barriers around."""
    allowed = context.target.capabilities.scopes
    if (context.scope != "cta" and context.encloses("cta")) or (allowed and SHARED not in allowed):
        return False
    return context.can_sync().fits and _members(context)[0] is not None


def left_by_warps(
    total: Scalar, warps: int, row: Index, rows: Index, here: Sequence[Expr], context: DispatchContext
) -> list[Expr]:
    """Each of `warps` neighbouring warps leaves what it has of `row`; the places where all of that is, once it is there."""
    width, (members, member) = context.width("thread", "warp"), _members(context)
    assert width is not None
    assert members is not None
    assert isinstance(rows, int)  # `has_place` and who asks it see to all three
    partials = _memory(context, members * rows * warps, as_expr(total).dtype)
    rank, analyzer = as_expr(context.rank), context.analyzer
    first = (member * rows + row) * warps
    with when([*here, as_expr(analyzer.simplify(rank % width) == 0)]):
        partials[analyzer.simplify(as_expr(first + rank // width % warps))] = as_expr(total)
    context.sync()
    return [as_expr(partials[analyzer.simplify(as_expr(first + warp))]) for warp in range(warps)]


def fold_parts(total: Scalar, parts: Sequence[Expr], fold: Callable[[Expr, Expr], Expr]) -> None:
    """`total` becomes all of the parts, the first of them first; where there are none, it is the whole already."""
    for number, part in enumerate(parts):
        total.assign(fold(as_expr(total), part) if number else part)


def _memory(context: DispatchContext, count: int, dtype: object) -> Buffer:
    """The call's own workspace, flat, or memory that all such calls of the kernel share."""
    given = context.workspace(WORKSPACE)
    if given is not None:
        return given if len(given.shape) == 1 else given.view(product(given.shape))
    key = (WORKSPACE, context.scope, count, str(dtype))
    return context.cached(key, lambda: context.alloc((count,), dtype, SHARED, WORKSPACE))
