"""Mathematical functions of floating-point values, and two of integers."""

from __future__ import annotations

from ...ir import BOOL, INT32, DType
from ..row import Intrinsic, Operand
from .build import builtin, unified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...ir import Expr

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp2",
    "exp10",
    "fabs",
    "floor",
    "fma",
    "fmod",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "log",
    "log1p",
    "log2",
    "log10",
    "nearbyint",
    "nextafter",
    "popcount",
    "pow",
    "round",
    "rsqrt",
    "sigmoid",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip

_WHERE = "tirx.sim.meanings.math:"


def _floats(name: str, operands: str, doc: str, accuracy: str) -> Intrinsic:
    """A function of floats, result of the same type."""
    listed = [Operand(item, dtypes=("float",)) for item in operands.split()]
    return Intrinsic(name, listed, "same", doc=doc, meaning=_WHERE + name, accuracy=accuracy)


def _truth(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return BOOL.with_lanes(args[0].dtype.lanes)


def _count(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return INT32.with_lanes(args[0].dtype.lanes)


# name, operands, meaning in words, accuracy
_FLOATS = tuple(
    _floats(*row)
    for row in (
        ("exp", "x", "e to the power x", "ulp(2)"),
        ("exp2", "x", "2 to the power x", "ulp(2)"),
        ("exp10", "x", "10 to the power x", "ulp(2)"),
        ("log", "x", "natural logarithm", "ulp(2)"),
        ("log1p", "x", "natural logarithm of 1 + x", "ulp(2)"),
        ("log2", "x", "logarithm to base 2", "ulp(2)"),
        ("log10", "x", "logarithm to base 10", "ulp(2)"),
        ("sqrt", "x", "square root, correctly rounded", "exact"),
        ("rsqrt", "x", "1 / sqrt(x)", "ulp(2)"),
        ("sigmoid", "x", "1 / (1 + exp(-x))", "ulp(4)"),
        ("erf", "x", "error function", "ulp(2)"),
        ("sin", "x", "sine", "ulp(2)"),
        ("cos", "x", "cosine", "ulp(2)"),
        ("tan", "x", "tangent", "ulp(4)"),
        ("asin", "x", "arc sine", "ulp(2)"),
        ("acos", "x", "arc cosine", "ulp(2)"),
        ("atan", "x", "arc tangent", "ulp(2)"),
        ("atan2", "y x", "angle of the point (x, y)", "ulp(3)"),
        ("sinh", "x", "hyperbolic sine", "ulp(3)"),
        ("cosh", "x", "hyperbolic cosine", "ulp(2)"),
        ("tanh", "x", "hyperbolic tangent", "ulp(2)"),
        ("asinh", "x", "inverse hyperbolic sine", "ulp(3)"),
        ("acosh", "x", "inverse hyperbolic cosine", "ulp(4)"),
        ("atanh", "x", "inverse hyperbolic tangent", "ulp(3)"),
        ("hypot", "x y", "sqrt(x*x + y*y) without overflow in between", "ulp(3)"),
        ("pow", "x y", "x to the power y", "ulp(8)"),
        ("fmod", "x y", "remainder of the truncating division, sign of x", "exact"),
        ("fma", "x y z", "x * y + z, rounded once", "exact"),
        ("copysign", "x y", "magnitude of x with the sign of y", "exact"),
        ("nextafter", "x y", "the next value after x towards y", "exact"),
        ("fabs", "x", "absolute value", "exact"),
        ("floor", "x", "the largest whole number that is not above x", "exact"),
        ("ceil", "x", "the smallest whole number that is not below x", "exact"),
        ("trunc", "x", "x without its fraction", "exact"),
        ("round", "x", "nearest whole number, halves away from zero", "exact"),
        ("nearbyint", "x", "nearest whole number, halves to even", "exact"),
    )
)
_TESTS = tuple(
    Intrinsic(name, [Operand("x", dtypes=("float",))], _truth, doc=doc, meaning=_WHERE + name)
    for name, doc in (
        ("isnan", "whether x is not a number"),
        ("isinf", "whether x is an infinity"),
        ("isfinite", "whether x is neither an infinity nor NaN"),
    )
)
_OTHERS = (
    Intrinsic("ldexp", [Operand("x", dtypes=("float",)), Operand("exponent", dtypes=("integer",))], "same",
              doc="x times 2 to the power of an integer", meaning=_WHERE + "ldexp"),
    Intrinsic("popcount", [Operand("x", dtypes=("integer",))], "same",
              doc="number of bits that are set", meaning=_WHERE + "popcount"),
    Intrinsic("clz", [Operand("x", dtypes=("integer",))], _count,
              doc="number of leading zero bits; the width for 0", meaning=_WHERE + "clz"),
    Intrinsic("abs", [Operand("x", dtypes=("int", "float"))], "same", doc="absolute value", meaning=_WHERE + "absolute"),
)  # fmt: skip
ROWS = _FLOATS + _TESTS + _OTHERS
_ROW = {row.name: row for row in ROWS}

# Written out, so that readers, type checkers and editors see every name.
exp, exp2, exp10 = builtin(_ROW["exp"]), builtin(_ROW["exp2"]), builtin(_ROW["exp10"])
log, log1p, log2, log10 = (builtin(_ROW[name]) for name in ("log", "log1p", "log2", "log10"))
sqrt, rsqrt, sigmoid, erf = (builtin(_ROW[name]) for name in ("sqrt", "rsqrt", "sigmoid", "erf"))
sin, cos, tan = builtin(_ROW["sin"]), builtin(_ROW["cos"]), builtin(_ROW["tan"])
asin, acos, atan = builtin(_ROW["asin"]), builtin(_ROW["acos"]), builtin(_ROW["atan"])
sinh, cosh, tanh = builtin(_ROW["sinh"]), builtin(_ROW["cosh"]), builtin(_ROW["tanh"])
asinh, acosh, atanh = builtin(_ROW["asinh"]), builtin(_ROW["acosh"]), builtin(_ROW["atanh"])
atan2, hypot, pow, fmod = (unified(_ROW[name]) for name in ("atan2", "hypot", "pow", "fmod"))  # the language's
fma, copysign, nextafter = unified(_ROW["fma"]), unified(_ROW["copysign"]), unified(_ROW["nextafter"])
fabs, floor, ceil, trunc = (builtin(_ROW[name]) for name in ("fabs", "floor", "ceil", "trunc"))
round, nearbyint = builtin(_ROW["round"]), builtin(_ROW["nearbyint"])  # the language's name
isnan, isinf, isfinite = builtin(_ROW["isnan"]), builtin(_ROW["isinf"]), builtin(_ROW["isfinite"])
ldexp, popcount, clz = builtin(_ROW["ldexp"]), builtin(_ROW["popcount"]), builtin(_ROW["clz"])
ABS = _ROW["abs"]
