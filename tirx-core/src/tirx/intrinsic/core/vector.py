"""Vectors: most are nodes; four-way dot products are an instruction of many machines."""

from __future__ import annotations

from ...ir import Broadcast, DType, Expr, Ramp, Shuffle, as_expr, cast, current_span
from ...support.words import an
from ..call import call
from ..row import Intrinsic, Operand
from .build import named_dtype, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["broadcast", "dp4a", "get_active_lane_mask", "ramp", "vectorcombine", "vectorhigh", "vectorlow"]


def _accumulator(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return args[2].dtype


_DP4A = Intrinsic(
    "dp4a",
    [Operand(name, dtypes=("int8", "uint8"), lanes=(4,)) for name in ("a", "b")] + [Operand("acc", dtypes=("int32", "uint32"))],
    _accumulator, doc="acc plus the dot product of two vectors of four 8-bit integers", meaning="tirx.sim.meanings.vector:dp4a",
)  # fmt: skip
ROWS = (_DP4A,)


def ramp(base: Any, stride: Any, lanes: int) -> Expr:
    """The vector base, base + stride, ... of `lanes` elements."""
    start = as_expr(base)
    return Ramp(start, cast(stride, start.dtype), lanes, span=current_span())


def broadcast(value: Any, lanes: int) -> Expr:
    """`value` in each of `lanes` lanes."""
    return Broadcast(as_expr(value), lanes, span=current_span())


def vectorlow(dtype: DType | str, vec: Any) -> Expr:
    """The lower half of a vector."""
    return _half(dtype, vec, 0)


def vectorhigh(dtype: DType | str, vec: Any) -> Expr:
    """The upper half of a vector."""
    return _half(dtype, vec, 1)


def vectorcombine(dtype: DType | str, a: Any, b: Any) -> Expr:
    """The lanes of `a`, then those of `b`."""
    left, right = as_expr(a), as_expr(b)
    made = Shuffle((left, right), tuple(range(left.dtype.lanes + right.dtype.lanes)), span=current_span())
    return _checked(dtype, made)


def _half(dtype: DType | str, vec: Any, which: int) -> Expr:
    value = as_expr(vec)
    lanes = value.dtype.lanes // 2
    if not lanes:
        refuse(f"{an(value.dtype)} has no halves", "give a vector with an even number of lanes")
    return _checked(dtype, Shuffle((value,), tuple(range(which * lanes, (which + 1) * lanes)), span=current_span()))


def _checked(dtype: DType | str, made: Expr) -> Expr:
    if named_dtype(dtype) != made.dtype.name:
        refuse(f"the result is {an(made.dtype)}, not {an(named_dtype(dtype))}", f'give "{made.dtype}" as the type')
    return made


def get_active_lane_mask(dtype: DType | str, base: Any, limit: Any) -> Expr:
    """Per lane, whether base + lane is below `limit`; `dtype` is the bool vector type."""
    kind = DType(named_dtype(dtype))
    lanes: Expr = ramp(base, 1, kind.lanes) < broadcast(cast(limit, as_expr(base).dtype), kind.lanes)
    return _checked(kind, lanes)


def dp4a(a: Any, b: Any, acc: Any = 0) -> Expr:
    """`acc` plus the dot product of two vectors of four 8-bit integers."""
    left, right = as_expr(a), as_expr(b)
    signed = left.dtype.is_int or right.dtype.is_int
    return call(_DP4A, left, right, as_expr(acc, "int32" if signed else "uint32"))
