"""Matrix products without matrix instructions: each thread computes its share of D, one product after the other."""

from __future__ import annotations

from collections.abc import Sequence

from .. import script as Tx
from ..ir import Expr, FloatImm, IntImm, as_expr, cast, const
from ..tile import Predicate, Variant, Verdict, accept, decline
from ..tile.shapes import is_one
from .elementwise import share_of
from .operand import Tile, tile_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import DType, TileCall
    from ..tile.context import DispatchContext
    from .operand import Index

__all__ = ["emit_matmul", "matmul_variants"]


def _accumulator(dtype: DType) -> DType:
    return Tx.float32.dtype if dtype.is_float and dtype.bits < 32 else dtype


def _at(first: Index, second: Index, transposed: bool) -> tuple[Index, Index]:
    return (second, first) if transposed else (first, second)


def _sides(extents: Sequence[Index]) -> tuple[int, int]:
    """Which dimensions are those of the matrix: of more than two, those that are not 1 (`A[stage, :, :]`), or the last."""
    longer = [dim for dim, extent in enumerate(extents) if not is_one(extent)]
    first, second = longer if len(extents) > 2 and len(longer) == 2 else range(len(extents))[-2:]
    return first, second


def _matrix(call: TileCall, name: str, context: DispatchContext) -> tuple[Tile, tuple[Index, Index]]:
    """An operand that is indexed by row and column, and its size."""
    extents = tile_of(call, name, context).extents
    first, second = _sides(extents)
    size = (extents[first], extents[second])
    return tile_of(call, name, context, size), size


def emit_matmul(call: TileCall, context: DispatchContext) -> None:
    """`D[i, j] = alpha * sum(A[i, k] * B[k, j]) + beta * C[i, j]`."""
    target = tile_of(call, "D", context)
    before = tile_of(call, "C", context, target.extents)
    (left, size), (right, _) = _matrix(call, "A", context), _matrix(call, "B", context)
    depth = size[0 if call.attr("transpose_A") else 1]
    dtype = _accumulator(target.dtype)
    first, second = _sides(target.extents)
    with share_of(target, {}).each() as coords:
        row, column = coords[first], coords[second]
        total = Tx.local_scalar(dtype)
        total.assign(const(0, dtype))
        with Tx.serial(depth) as k:
            context.analyzer.bind(k, 0, depth - 1 if isinstance(depth, int) else None)
            a = left.load(_at(row, k, call.attr("transpose_A")))
            b = right.load(_at(k, column, call.attr("transpose_B")))
            total.assign(as_expr(total) + cast(a, dtype) * cast(b, dtype))
        target.store(coords, _combined(call, as_expr(total), before, coords))


def emit_matmul_at_once(call: TileCall, context: DispatchContext) -> None:
    """`C[i, j] = sum(A[i, k] * B[j, k])`, or that added to it."""
    target = tile_of(call, "C", context)
    (left, size), (right, _) = _matrix(call, "A", context), _matrix(call, "B", context)
    depth = size[0 if call.attr("transA") else 1]
    dtype, accum = _accumulator(target.dtype), call.operand("accum")
    first, second = _sides(target.extents)
    with share_of(target, {}).each() as coords:
        row, column = coords[first], coords[second]
        total = Tx.local_scalar(dtype)
        total.assign(const(0, dtype))
        if accum is not None:
            assert isinstance(accum, Expr)
            with Tx.If(accum), Tx.Then():
                total.assign(cast(target.load(coords), dtype))
        with Tx.serial(depth) as k:
            context.analyzer.bind(k, 0, depth - 1 if isinstance(depth, int) else None)
            a = left.load(_at(row, k, call.attr("transA")))
            b = right.load(_at(column, k, call.attr("transB")))
            total.assign(as_expr(total) + cast(a, dtype) * cast(b, dtype))
        target.store(coords, as_expr(total))


def _unscaled(call: TileCall, context: DispatchContext) -> Verdict:
    scaled = [name for name in ("SFA", "SFB") if call.operand(name) is not None]
    return accept() if not scaled else decline("scale factors need a machine that has them", operands=scaled)


def _combined(call: TileCall, product: Expr, before: Tile, coords: Sequence[Index]) -> Expr:
    """With `alpha` and `beta`, leaving out what they say is not there."""
    alpha, beta = _factor(call, "alpha", 1), _factor(call, "beta", 0)
    found: Expr = product if _is(alpha, 1) else product * cast(as_expr(alpha), product.dtype)
    if _is(beta, 0):
        return found
    old: Expr = cast(before.load(coords), product.dtype)
    scaled: Expr = old if _is(beta, 1) else old * cast(as_expr(beta), product.dtype)
    total: Expr = found + scaled
    return total


def _is(factor: int | float | Expr, number: int) -> bool:
    return isinstance(factor, int | float) and factor == number


def _factor(call: TileCall, name: str, default: int) -> int | float | Expr:
    """A factor as a number where it is one."""
    value = call.operand(name)
    if value is None:
        return default
    return value.value if isinstance(value, IntImm | FloatImm) else value


def _reachable(call: TileCall, context: DispatchContext) -> Verdict:
    spread = [name for name in ("A", "B") if tile_of(call, name, context).storage == "distributed"]
    if spread:
        decline("an input is spread over threads, each of which needs whole rows and columns", operands=spread)
    return accept()


def matmul_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of `gemm` for `kind`, and of `gemm_async`: done at once, there is nothing to wait for."""
    reachable = Predicate("inputs can be read by every thread", _reachable)
    return (
        Variant("gemm", kind, "loop", emit=emit_matmul, predicates=(reachable,),
                doc="each thread computes its elements of D by a loop over K"),
        Variant("gemm_async", kind, "loop", emit=emit_matmul_at_once, predicates=(reachable, Predicate("scale factors", _unscaled)),
                doc="each thread computes its elements of C by a loop over K, at once"),
    )  # fmt: skip
