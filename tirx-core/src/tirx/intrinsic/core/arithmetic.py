"""Functions that build nodes, not calls: the named forms of operators, limits of types, fixed-point products."""

from __future__ import annotations

from ...ir import (
    INT64,
    DType,
    Expr,
    FloatImm,
    IntImm,
    Max,
    Min,
    Select,
    as_expr,
    binary,
    cast,
    const,
    current_span,
    logical_and,
    logical_not,
    logical_or,
    unify,
)  # fmt: skip
from ...ir.ops import BINARY, UNARY
from ..call import call
from .build import named_dtype, refuse
from .math import ABS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "abs", "absolute", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "cast", "ceildiv", "div", "divide",
    "equal", "floordiv", "floormod", "greater", "greater_equal", "infinity", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "max", "max_value", "min", "min_value", "mul", "multiply", "neg", "not_equal", "q_multiply_shift",
    "q_multiply_shift_per_axis", "select", "shift_left", "shift_right", "sub", "subtract", "truncdiv", "truncmod",
]  # fmt: skip

add, sub, mul, div = BINARY["add"], BINARY["sub"], BINARY["mul"], BINARY["div"]
subtract, multiply, divide = sub, mul, div
floordiv, floormod, truncdiv, truncmod = (BINARY[name] for name in ("floordiv", "floormod", "truncdiv", "truncmod"))
bitwise_and, bitwise_or, bitwise_xor = BINARY["bitwise_and"], BINARY["bitwise_or"], BINARY["bitwise_xor"]
shift_left, shift_right = BINARY["shift_left"], BINARY["shift_right"]
equal, not_equal, less, less_equal = BINARY["eq"], BINARY["ne"], BINARY["lt"], BINARY["le"]
greater, greater_equal = BINARY["gt"], BINARY["ge"]
neg, bitwise_not = UNARY["neg"], UNARY["bitwise_not"]

_DOCS = {
    "add": "`a + b`, in the type of both.",
    "sub": "`a - b`, in the type of both.",
    "mul": "`a * b`, in the type of both.",
    "div": "`a / b` of floats.",
    "floordiv": "`a // b` of integers, rounded down.",
    "floormod": "`a % b` of integers, with the sign of `b`.",
    "truncdiv": "Quotient of integers, rounded to zero.",
    "truncmod": "Remainder of integers, with the sign of `a`.",
    "bitwise_and": "`a & b` of integers.",
    "bitwise_or": "`a | b` of integers.",
    "bitwise_xor": "`a ^ b` of integers.",
    "shift_left": "`a << b`, in the type of `a`.",
    "shift_right": "`a >> b`, in the type of `a`.",
    "equal": "`a == b`.",
    "not_equal": "`a != b`.",
    "less": "`a < b`.",
    "less_equal": "`a <= b`.",
    "greater": "`a > b`.",
    "greater_equal": "`a >= b`.",
    "neg": "`-a`.",
    "bitwise_not": "`~a` of integers.",
}
for _name, _text in _DOCS.items():
    globals()[_name].__name__ = _name
    globals()[_name].__doc__ = _text


def absolute(x: Any) -> Expr:
    """The absolute value of an integer or float."""
    value = as_expr(x)
    if isinstance(value, IntImm) and value.dtype.is_integer:
        return const(-value.value if value.value < 0 else value.value, value.dtype)
    if value.dtype.is_uint or value.dtype.is_bool:
        return value
    return call(ABS, value)


abs = absolute  # the language's name


def min(a: Any, b: Any) -> Expr:  # the language's name
    """The smaller of two values."""
    return binary(Min, a, b)


def max(a: Any, b: Any) -> Expr:  # the language's name
    """The larger of two values."""
    return binary(Max, a, b)


def ceildiv(a: Any, b: Any) -> Any:
    """Quotient rounded up, of a divisor `b` > 0: `(a + b - 1) // b` in the type of both; of Python integers a Python integer."""
    divisor = b.value if isinstance(b, IntImm) else b
    if isinstance(divisor, int) and divisor <= 0:
        refuse(f"ceildiv by {divisor}: it divides by positive numbers only", "write -(a // -b) for a negative divisor")
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    left, right = unify(a, b)
    if isinstance(left, IntImm) and isinstance(right, IntImm):
        return const(-(-left.value // right.value), left.dtype)
    return (left + (right - 1)) // right


def select(condition: Any, true_value: Any, false_value: Any) -> Expr:
    """`true_value` where `condition`, else `false_value`; both are evaluated."""
    yes, no = unify(true_value, false_value)
    return Select(as_expr(condition), yes, no, span=current_span())


# Largest finite value of the formats that do not follow from their widths as in IEEE 754.
_LARGEST = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3b11fnuz": 30.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2fnuz": 57344.0,
    "float8_e8m0fnu": 2.0**127,
    "float6_e2m3fn": 7.5,
    "float6_e3m2fn": 28.0,
    "float4_e2m1fn": 6.0,
}
INFINITE = frozenset({"float16", "float32", "float64", "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e5m2"})


def infinity(dtype: DType | str) -> Expr:
    """Positive infinity of a floating-point type that has one."""
    kind = DType(named_dtype(dtype))
    if kind.name not in INFINITE:
        refuse(f"{kind} has no infinity", f'Tx.max_value("{kind}") is its largest value')
    return FloatImm(float("inf"), kind, span=current_span())


def max_value(dtype: DType | str) -> Expr:
    """The largest finite value of a type."""
    kind = DType(named_dtype(dtype))
    if kind.is_float:
        return FloatImm(_largest(kind), kind, span=current_span())
    return const(kind.max_int, kind)


def min_value(dtype: DType | str) -> Expr:
    """The smallest finite value of a type."""
    kind = DType(named_dtype(dtype))
    if kind.is_float:
        return FloatImm(-_largest(kind), kind, span=current_span())
    return const(kind.min_int, kind)


def _largest(kind: DType) -> float:
    known = _LARGEST.get(kind.name)
    if known is not None:
        return known
    return (2.0 - 2.0**-kind.mantissa) * 2.0 ** ((1 << (kind.exponent - 1)) - 1)


def q_multiply_shift(x: Any, y: Any, q: Any, s: Any) -> Expr:
    """round(x * y * 2**-(q + s)) of two 32-bit fixed-point numbers with `q` fractional bits; halves round up."""
    zero = const(0)
    return q_multiply_shift_per_axis(x, y, max(-as_expr(s), zero), max(s, zero), q, True, True)


def q_multiply_shift_per_axis(
    x: Any, y: Any, ls: Any, rs: Any, q: Any, is_lshift_required: bool | int, is_rshift_required: bool | int
) -> Expr:
    """round((x << ls) * y * 2**-(q + rs)), the shifts only where they are required; halves round up."""
    wide = cast(x, INT64)
    if is_lshift_required:
        wide = wide << ls
    amount = cast(as_expr(q) + rs if is_rshift_required else as_expr(q), INT64)
    rounding = const(1, INT64) << (amount - 1)
    return cast((wide * cast(y, INT64) + rounding) >> amount, "int32")
