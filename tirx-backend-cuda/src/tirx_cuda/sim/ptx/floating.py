"""Meanings of floating point arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .floats import add_odd, canonical, flushed, mul_exact, odd, rounded, saturated, stepped, two_product, two_sum
from .run import NUMPY, Op

__all__ = [
    "abs", "add", "copysign", "cos", "div", "ex2", "fma", "fma_double", "lg2", "maximum", "minimum", "mul", "neg", "rcp", "rsqrt",
    "sin", "sqrt", "sub", "tanh", "testp",
]  # fmt: skip


def _inputs(op: Op, *values: Any) -> list[Any]:
    arrays = [np.asarray(value) for value in values]
    return [flushed(value) for value in arrays] if op.has("ftz") else arrays


def _result_type(op: Op) -> Any:
    kind = op.form.parts[0].type
    assert kind is not None
    return NUMPY[kind.name][0]


def _finish(op: Op, value: Any) -> Any:
    """What happens to every result, in the order of the manual."""
    made = np.asarray(value)
    if op.has("ftz"):
        made = flushed(made)
    if op.has("sat"):
        return saturated(made)
    if op.has("relu"):
        zero = made.dtype.type(0)
        made = np.where(made > zero, made, np.where(np.isnan(made), made, zero)).astype(made.dtype)
    return canonical(made)


def _from_odd(op: Op, value: Any) -> Any:
    mode = op.get("rnd") or op.get("rz")  # mixed precision writes the only mode of its rows as a word
    return _finish(op, rounded(value, _result_type(op), mode))


def _wide(value: Any) -> Any:
    return np.asarray(value).astype(np.float64)


def _down_zero(op: Op, made: Any, zero: Any) -> Any:
    """Sums that cancel are -0 where rounding goes down."""
    return np.where(zero, -0.0, made) if op.get("rnd") == "rm" else made


# ---- sums and products ----------------------------------------------------------------------------------------------


def add(op: Op, a: Any, b: Any) -> Any:
    """A + b."""
    a, b = _inputs(op, a, b)
    with np.errstate(all="ignore"):
        if _result_type(op) == np.float64:
            return _double(op, *two_sum(a, b), _cancels(a, b))
        a, b = _wide(a), _wide(b)
        return _from_odd(op, _down_zero(op, add_odd(a, b), _cancels(a, b)))


def _cancels(a: Any, b: Any) -> Any:
    """Where a sum is an exact zero that is not (+0) + (+0)."""
    return (a + b == 0) & (np.signbit(a) | np.signbit(b))


def sub(op: Op, a: Any, b: Any) -> Any:
    """A - b."""
    return add(op, a, -np.asarray(b))


def mul(op: Op, a: Any, b: Any) -> Any:
    """A * b."""
    a, b = _inputs(op, a, b)
    with np.errstate(all="ignore"):
        if _result_type(op) == np.float64:
            if op.get("rnd") in ("", "rn"):
                return _finish(op, a * b)
            return _directed(op, a * b, lambda x, y: Fraction(x) * Fraction(y), a, b)
        return _from_odd(op, mul_exact(a, b))


def fma(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A * b + c, rounded once."""
    a, b, c = _inputs(op, a, b, c)
    with np.errstate(all="ignore"):
        if _result_type(op) == np.float64:
            return fma_double(op, a, b, c)
        product, c = mul_exact(_wide(a), _wide(b)), _wide(c)
        made = _from_odd(op, _down_zero(op, add_odd(product, c), _cancels(product, c)))
    if op.has("oob"):  # an operand that marks what lies outside makes the result zero
        outside = _is_outside(a) | _is_outside(b)
        return np.where(outside, made.dtype.type(0), made)
    return made


def _is_outside(value: Any) -> Any:
    """The NaN that tensor copies fill out-of-bounds elements with."""
    return np.atleast_1d(value).view(np.uint16).reshape(np.shape(value)) == 0xFFFF


def _double(op: Op, total: Any, error: Any, cancels: Any) -> Any:
    mode = op.get("rnd")
    if mode in ("", "rn"):
        return _finish(op, total)
    error = np.where(np.isfinite(total), error, 0)
    if mode == "rz":
        steps = np.where((error != 0) & ((error < 0) == (total > 0)), -np.sign(total), 0)
    else:
        steps = np.where(error < 0, -1, 0) if mode == "rm" else np.where(error > 0, 1, 0)
    return _finish(op, _down_zero(op, stepped(total, steps), cancels))


def fma_double(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A * b + c of float64, rounded once."""
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = two_product(a, b)
    t, t_low = two_sum(c, low)
    v, v_low = two_sum(high, t)
    total, error = two_sum(v, add_odd(t_low, v_low))
    made = _double(op, total, error, (a * b + c == 0) & (error == 0) & (np.signbit(a * b) | np.signbit(c)))
    risky = _is_risky(a, b, c, high)
    if risky.any():
        flat = [np.reshape(item, -1) for item in np.broadcast_arrays(a, b, c, made)]
        for at in np.flatnonzero(np.reshape(risky, -1)):
            flat[3] = np.array(flat[3])
            flat[3][at] = _exact_fma(op, float(flat[0][at]), float(flat[1][at]), float(flat[2][at]))
        made = flat[3].reshape(np.shape(made))
    return made


def _is_risky(a: Any, b: Any, c: Any, product: Any) -> Any:
    """Where the exact error of a product may over- or underflow, or something is not finite."""
    size = np.abs(product)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    huge = (np.abs(a) > 2.0**990) | (np.abs(b) > 2.0**990) | (size > 2.0**1000)
    return ~finite | huge | ((size < 2.0**-960) & (a != 0) & (b != 0))


def _exact_fma(op: Op, a: float, b: float, c: float) -> float:
    if not all(map(np.isfinite, (a, b, c))):
        return float(canonical(np.float64(a) * np.float64(b) + np.float64(c)))
    return _fraction_rounded(Fraction(a) * Fraction(b) + Fraction(c), op.get("rnd"), float(np.float64(a) * b + c))


def _directed(op: Op, near: Any, exact: Any, *values: Any) -> Any:
    """Float64 results in a direction, one by one from exact fractions."""
    arrays = [np.reshape(item, -1) for item in np.broadcast_arrays(near, *values)]
    made = np.array(arrays[0])
    for at, value in enumerate(made):
        parts = [float(item[at]) for item in arrays[1:]]
        if all(map(np.isfinite, parts)):
            try:
                made[at] = _fraction_rounded(exact(*parts), op.get("rnd"), float(value))
            except ZeroDivisionError:
                continue
    return _finish(op, made.reshape(np.shape(near)))


def _fraction_rounded(exact: Fraction, mode: str, near: float) -> float:
    """A fraction in float64; `near` gives the sign of a zero."""
    if exact == 0:
        return -0.0 if mode == "rm" else near
    try:
        value = exact.numerator / exact.denominator  # rounds to nearest
    except OverflowError:
        value = np.inf if exact > 0 else -np.inf
    if mode in ("", "rn"):
        return float(value)
    gap = 1 if not np.isfinite(value) else (Fraction(float(value)) > exact) - (Fraction(float(value)) < exact)
    gap = gap if np.isfinite(value) else (1 if value > 0 else -1)
    lower = {"rz": gap > 0 and exact > 0, "rm": gap > 0, "rp": False}[mode]
    upper = {"rz": gap < 0 and exact < 0, "rm": False, "rp": gap < 0}[mode]
    return float(np.nextafter(value, -np.inf) if lower else np.nextafter(value, np.inf) if upper else value)


# ---- division and roots ---------------------------------------------------------------------------------------------


def div(op: Op, a: Any, b: Any) -> Any:
    """A / b."""
    a, b = _inputs(op, a, b)
    with np.errstate(all="ignore"):
        if a.dtype == np.float64:
            if op.get("rnd") in ("", "rn"):
                return _finish(op, a / b)
            return _directed(op, a / b, lambda x, y: Fraction(x) / Fraction(y), a, b)
        return _from_odd(op, _quotient(_wide(a), _wide(b)))


def _quotient(a: Any, b: Any) -> Any:
    """A quotient of values of 24 bits, rounded to odd: the remainder is exact."""
    value = a / b
    high, low = two_product(value, b)
    rest = (a - high) - low
    return odd(value, np.where(b < 0, -rest, rest))


def rcp(op: Op, a: Any) -> Any:
    """1 / a."""
    (a,) = _inputs(op, a)
    with np.errstate(all="ignore"):
        if a.dtype == np.float64:
            if op.get("rnd") in ("", "rn"):
                made = 1 / a
                return _short(op, made) if op.has("approx") else _finish(op, made)
            return _directed(op, 1 / a, lambda x: 1 / Fraction(x), a)
        return _from_odd(op, _quotient(np.ones_like(a, np.float64), _wide(a)))


def _short(op: Op, value: Any) -> Any:
    """The fast approximations in double precision keep the upper half of the bits."""
    made = np.atleast_1d(_finish(op, value)).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
    return made.view(np.float64).reshape(np.shape(value))


def sqrt(op: Op, a: Any) -> Any:
    """The square root."""
    (a,) = _inputs(op, a)
    with np.errstate(all="ignore"):
        if a.dtype == np.float64:
            root = np.sqrt(a)
            high, low = two_product(root, root)
            rest = np.where(np.isfinite(root), (a - high) - low, 0)
            return _double(op, root, rest, np.zeros(np.shape(a), bool))
        root = np.sqrt(_wide(a))
        high, low = two_product(root, root)
        return _from_odd(op, odd(root, np.where(np.isfinite(root), (_wide(a) - high) - low, 0)))


def rsqrt(op: Op, a: Any) -> Any:
    """1 / sqrt(a)."""
    (a,) = _inputs(op, a)
    with np.errstate(all="ignore"):
        made = 1 / np.sqrt(_wide(a))
        return _short(op, made) if a.dtype == np.float64 else _finish(op, made.astype(np.float32))


# ---- functions ------------------------------------------------------------------------------------------------------


def _approximated(op: Op, function: Any, a: Any) -> Any:
    (a,) = _inputs(op, a)
    with np.errstate(all="ignore"):
        return _finish(op, rounded(function(_wide(a)), a.dtype, "rn"))


def sin(op: Op, a: Any) -> Any:
    """The sine."""
    return _approximated(op, np.sin, a)


def cos(op: Op, a: Any) -> Any:
    """The cosine."""
    return _approximated(op, np.cos, a)


def lg2(op: Op, a: Any) -> Any:
    """The logarithm to base 2."""
    return _approximated(op, np.log2, a)


def ex2(op: Op, a: Any) -> Any:
    """2 to the power of a."""
    return _approximated(op, np.exp2, a)


def tanh(op: Op, a: Any) -> Any:
    """The hyperbolic tangent."""
    return _approximated(op, np.tanh, a)


# ---- signs, comparison ----------------------------------------------------------------------------------------------


def _bits(value: Any) -> Any:
    value = np.atleast_1d(np.asarray(value))
    return value.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[value.dtype.itemsize])


def _top(value: Any) -> Any:
    bits = _bits(value)
    return bits.dtype.type(1 << (8 * bits.dtype.itemsize - 1))


def abs(op: Op, a: Any) -> Any:
    """The magnitude; of NaN too."""
    (a,) = _inputs(op, a)
    return (_bits(a) & ~_top(a)).view(a.dtype)


def neg(op: Op, a: Any) -> Any:
    """The other sign; of NaN too."""
    (a,) = _inputs(op, a)
    return (_bits(a) ^ _top(a)).view(a.dtype)


def copysign(op: Op, a: Any, b: Any) -> Any:
    """The magnitude of b with the sign of a."""
    return ((_bits(b) & ~_top(b)) | (_bits(a) & _top(a))).view(np.asarray(a).dtype)


def testp(op: Op, a: Any) -> Any:
    """What kind of number it is."""
    a = np.asarray(a)
    small = (np.abs(a) < np.finfo(a.dtype).smallest_normal) & (a != 0)
    return {
        "finite": np.isfinite(a),
        "infinite": np.isinf(a),
        "number": ~np.isnan(a),
        "notanumber": np.isnan(a),
        "normal": np.isfinite(a) & ~small & (a != 0),
        "subnormal": small,
    }[op.get("op")]


def minimum(op: Op, *values: Any) -> Any:
    """The smallest; numbers before NaN, -0 before +0."""
    return _extreme(op, values, smallest=True)


def maximum(op: Op, *values: Any) -> Any:
    """The largest; numbers before NaN, +0 before -0."""
    return _extreme(op, values, smallest=False)


def _extreme(op: Op, values: Any, *, smallest: bool) -> Any:
    arrays = _inputs(op, *values)
    signs = [np.signbit(value) for value in arrays]
    if op.has("abs"):
        arrays = [np.abs(value) for value in arrays]
    made = arrays[0]
    for other in arrays[1:]:
        made = _of_two(op, made, other, smallest)
    if op.has("xorsign"):
        made = np.copysign(made, np.where(signs[0] ^ signs[1], made.dtype.type(-1), made.dtype.type(1))).astype(
            made.dtype
        )
    return canonical(flushed(made) if op.has("ftz") else made)


def _of_two(op: Op, a: Any, b: Any, smallest: bool) -> Any:
    first = (a < b) | ((a == b) & np.signbit(a)) if smallest else (a > b) | ((a == b) & ~np.signbit(a))
    made = np.where(first, a, b).astype(a.dtype)
    if op.has("NaN"):
        return np.where(np.isnan(a), a, np.where(np.isnan(b), b, made)).astype(a.dtype)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, made)).astype(a.dtype)
