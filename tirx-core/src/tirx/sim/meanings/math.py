"""Functions of numbers. Narrow floats are computed in float32 and rounded once; `round` takes halves away from zero."""

from __future__ import annotations

from collections.abc import Callable
from math import erf as _erf_of_float
from typing import Any

import numpy as np

__all__ = [
    "absolute", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "clz", "copysign", "cos", "cosh", "erf", "exp",
    "exp2", "exp10", "fabs", "floor", "fma", "fmod", "hypot", "isfinite", "isinf", "isnan", "ldexp", "log", "log1p", "log2", "log10",
    "nearbyint", "nextafter", "popcount", "pow", "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip

Function = Callable[..., Any]


def _wide(value: Any) -> Any:
    """Operands of types that NumPy has no functions for, as float32."""
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype.kind not in "fiub" else value


def _function(rule: Function, doc: str) -> Function:
    """`rule` on values of any float type, in the type of the first one."""

    def meaning(ctx: Any, *values: Any) -> Any:
        kind = np.asarray(values[0]).dtype
        made = rule(*map(_wide, values))
        return made if made.dtype == kind else made.astype(kind)

    meaning.__doc__ = doc
    return meaning


def _test(rule: Function, doc: str) -> Function:
    def meaning(ctx: Any, value: Any) -> Any:
        return rule(_wide(value))

    meaning.__doc__ = doc
    return meaning


def _exactly(rule: Function) -> Function:
    """`rule` in float64, rounded to the operand's type."""
    return lambda *values: rule(*(np.asarray(v, np.float64) for v in values)).astype(np.asarray(values[0]).dtype)


_erf_array = np.frompyfunc(_erf_of_float, 1, 1)


def _round(x: Any) -> Any:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(np.ones_like(whole), x), whole)


exp = _function(np.exp, "e to the x")
exp2 = _function(np.exp2, "2 to the x")
exp10 = _function(_exactly(lambda x: np.power(10.0, x)), "10 to the x")
log = _function(np.log, "natural logarithm")
log1p = _function(np.log1p, "logarithm of 1 + x")
log2 = _function(np.log2, "logarithm to base 2")
log10 = _function(np.log10, "logarithm to base 10")
sqrt = _function(np.sqrt, "square root")
rsqrt = _function(_exactly(lambda x: 1.0 / np.sqrt(x)), "1 / sqrt(x)")
sigmoid = _function(_exactly(lambda x: 1.0 / (1.0 + np.exp(-x))), "1 / (1 + exp(-x))")
erf = _function(_exactly(lambda x: np.asarray(_erf_array(x), np.float64)), "error function")
sin, cos, tan = (_function(f, f.__name__) for f in (np.sin, np.cos, np.tan))
asin, acos, atan = (_function(f, f.__name__) for f in (np.arcsin, np.arccos, np.arctan))
sinh, cosh, tanh = (_function(f, f.__name__) for f in (np.sinh, np.cosh, np.tanh))
asinh, acosh, atanh = (_function(f, f.__name__) for f in (np.arcsinh, np.arccosh, np.arctanh))
atan2 = _function(np.arctan2, "angle of the point (x, y)")
hypot = _function(np.hypot, "sqrt(x * x + y * y)")
fmod = _function(np.fmod, "remainder with the sign of x")
copysign = _function(np.copysign, "x with the sign of y")
nextafter = _function(np.nextafter, "the neighbour of x towards y")
fabs = _function(np.abs, "absolute value")
absolute = _function(np.abs, "absolute value; the smallest integer stays itself")
floor, ceil, trunc = (_function(f, f.__name__) for f in (np.floor, np.ceil, np.trunc))
round = _function(_round, "nearest integer, halves away from zero")  # the language's name
nearbyint = _function(np.rint, "nearest integer, halves to even")
isnan, isinf, isfinite = (_test(f, f.__name__) for f in (np.isnan, np.isinf, np.isfinite))


def pow(ctx: Any, x: Any, y: Any) -> Any:  # the language's name
    """X to the y; integers wrap."""
    kind = np.asarray(x).dtype
    if kind.kind in "iu":
        return np.power(np.asarray(x), np.maximum(np.asarray(y), 0))
    return np.power(_wide(x), _wide(y)).astype(kind)


def fma(ctx: Any, x: Any, y: Any, z: Any) -> Any:
    """X * y + z rounded once; of float64 through extended precision, which may round twice."""
    kind = np.asarray(x).dtype
    if kind == np.float64:
        wide = np.longdouble
        return (np.asarray(x, wide) * np.asarray(y, wide) + np.asarray(z, wide)).astype(np.float64)
    if kind.kind in "iu":
        return x * y + z
    product = np.asarray(x).astype(np.float64) * np.asarray(y).astype(np.float64)
    return _round_once(product, np.asarray(z).astype(np.float64), kind)


def _round_once(product: Any, addend: Any, kind: Any) -> Any:
    """Product + addend rounded to odd in float64, so that rounding to a narrower type is right."""
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = np.asarray(total).view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & (bits & 1 == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    odd = np.where(inexact, bits + step, bits).view(np.float64)
    return odd.astype(kind)


def ldexp(ctx: Any, x: Any, exponent: Any) -> Any:
    """X times 2 to the exponent."""
    return np.ldexp(_wide(x), np.asarray(exponent).astype(np.int32)).astype(np.asarray(x).dtype)


def _unsigned(x: Any) -> Any:
    array = np.asarray(x)
    return array.astype(np.dtype(f"u{array.dtype.itemsize}"))


def popcount(ctx: Any, x: Any) -> Any:
    """Number of bits that are 1."""
    bits = _unsigned(x)
    if hasattr(np, "bitwise_count"):
        return np.bitwise_count(bits).astype(np.asarray(x).dtype)
    unpacked = np.unpackbits(np.ascontiguousarray(bits)[..., None].view(np.uint8), axis=-1)
    return unpacked.sum(axis=-1).astype(np.asarray(x).dtype)


def clz(ctx: Any, x: Any) -> Any:
    """Number of leading bits that are 0."""
    bits = _unsigned(x).astype(np.uint64)
    width = np.asarray(x).dtype.itemsize * 8
    count = np.zeros(bits.shape, np.int32)
    for step in (32, 16, 8, 4, 2, 1):
        high = bits >> np.uint64(step) != 0
        count += np.where(high, step, 0).astype(np.int32)
        bits = np.where(high, bits >> np.uint64(step), bits)
    return (width - count - (bits != 0)).astype(np.int32)
