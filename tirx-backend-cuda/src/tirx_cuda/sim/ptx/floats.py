"""Rounding, flushing, saturation and NaN of floating point results, to the bit.

A result is computed in float64 rounded to odd: enough bits to round it once more to any type of up to 25 bits, in any direction.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

__all__ = [
    "BITS", "add_odd", "canonical", "flushed", "mul_exact", "precision_of", "rounded", "saturated", "stepped", "two_product", "two_sum",
]  # fmt: skip

BF16 = np.dtype(ml_dtypes.bfloat16)
BITS = {2: np.uint16, 4: np.uint32, 8: np.uint64}
_NAN = {"float16": 0x7FFF, "bfloat16": 0x7FFF, "float32": 0x7FFFFFFF, "float64": 0x7FF8000000000000}
_SMALLEST = {"float16": 2.0**-14, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The sum, and what rounding left out of it."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The product of float64, and what rounding left out of it (where nothing over- or underflows)."""
    product = a * b
    a1, a2 = _split(a)
    b1, b2 = _split(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _split(value: Any) -> tuple[Any, Any]:
    scaled = value * 134217729.0
    high = scaled - (scaled - value)
    return high, value - high


def odd(total: Any, error: Any) -> Any:
    """A float64 with its last bit set where something was left out: rounded to odd."""
    bits = np.atleast_1d(np.asarray(total)).view(np.uint64).copy()
    shape = np.shape(total)
    error = np.broadcast_to(error, np.shape(total)).reshape(bits.shape)
    inexact = (error != 0) & np.isfinite(np.reshape(total, bits.shape)) & np.isfinite(error)
    even = (bits & np.uint64(1)) == 0
    positive = np.reshape(total, bits.shape) > 0
    away = inexact & even & ((error > 0) == positive)
    toward = inexact & even & ~((error > 0) == positive)
    bits[away] += np.uint64(1)
    bits[toward] -= np.uint64(1)
    return bits.view(np.float64).reshape(shape)


def add_odd(a: Any, b: Any) -> Any:
    """A sum of float64 rounded to odd."""
    total, error = two_sum(a, b)
    return odd(total, error)


def mul_exact(a: Any, b: Any) -> Any:
    """The product of values of 24 bits at most: exact in float64."""
    return np.asarray(a, np.float64) * np.asarray(b, np.float64)


def precision_of(dtype: Any) -> str:
    """The name of a type, for the tables here."""
    return str(dtype)


def rounded(value: Any, dtype: Any, mode: str) -> Any:
    """A float64 (rounded to odd) in `dtype`: `rn`, `rz`, `rm` down, `rp` up, `rna` ties away from zero."""
    value = np.asarray(value, np.float64)
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return value
    made = _nearest(value, dtype)
    if mode in ("rn", ""):
        return made
    near = made.astype(np.float64)
    if mode == "rna":
        return _ties_away(value, made, near)
    return stepped(made, _steps(near, value, mode))


def _nearest(value: Any, dtype: Any) -> Any:
    if dtype != BF16:
        return value.astype(dtype)
    single = value.astype(np.float32)  # to odd, so that rounding again is right
    error = value - single.astype(np.float64)
    bits = np.atleast_1d(single).view(np.uint32).copy()
    error = np.reshape(error, bits.shape)
    wrong = np.isfinite(error) & (error != 0) & ((bits & 1) == 0)
    outward = wrong & ((error > 0) == (np.reshape(value, bits.shape) > 0))
    bits[outward] += np.uint32(1)
    bits[wrong & ~outward] -= np.uint32(1)
    return bits.view(np.float32).reshape(value.shape).astype(BF16)


def _steps(near: Any, value: Any, mode: str) -> Any:
    """Per element +1, 0 or -1: how far the nearest value is from the one in the wanted direction."""
    if mode == "rz":
        return np.where(np.abs(near) > np.abs(value), -np.sign(value), 0)
    if mode == "rm":
        return np.where(near > value, -1, 0)
    return np.where(near < value, 1, 0)


def stepped(made: Any, steps: Any) -> Any:
    """The next value above (+1) or below (-1)."""
    steps = np.asarray(steps)
    if not steps.any():
        return made
    size = made.dtype.itemsize
    bits = np.atleast_1d(made).view(BITS[size]).astype(np.int64 if size < 8 else np.uint64).copy()
    top = 1 << (8 * size - 1)
    flat = np.broadcast_to(steps, np.shape(made)).reshape(bits.shape)
    whole = bits.astype(object) if size == 8 else bits
    sign, magnitude = whole >= top, whole % top
    signed = np.where(sign, -magnitude - 1, magnitude)  # a line of integers: -0 lies below +0
    signed = signed + flat.astype(int)
    signed = np.where((flat != 0) & (magnitude == 0), np.where(flat > 0, 1, -2), signed)
    back = np.where(signed < 0, top + (-signed - 1), signed)
    return back.astype(np.uint64).astype(BITS[size]).view(made.dtype).reshape(np.shape(made))


def _ties_away(value: Any, made: Any, near: Any) -> Any:
    """Nearest, ties away from zero: the even neighbour was taken of two that are equally far."""
    outward = stepped(made, np.where(value >= 0, 1, -1))
    far = outward.astype(np.float64)
    tie = np.isfinite(far) & (np.abs(value - near) == np.abs(far - value)) & (np.abs(far) > np.abs(near))
    return np.where(tie, outward, made)


def flushed(value: Any) -> Any:
    """Subnormal numbers become zeros of the same sign."""
    value = np.asarray(value)
    small = np.abs(value).astype(np.float64) < _SMALLEST[value.dtype.name]
    return np.where(small, np.copysign(value.dtype.type(0), value), value).astype(value.dtype)


def saturated(value: Any) -> Any:
    """Clamped to [0, 1]; NaN becomes 0."""
    value = np.asarray(value)
    kind = value.dtype.type
    made = np.where(value > kind(0), value, kind(0))
    return np.where(made > kind(1), kind(1), made).astype(value.dtype)


def canonical(value: Any) -> Any:
    """NaN results have one pattern for each type."""
    value = np.asarray(value)
    wrong = np.isnan(value)
    if not wrong.any():
        return value
    made = np.atleast_1d(value).copy()
    made.view(BITS[value.dtype.itemsize])[np.reshape(wrong, made.shape)] = _NAN[value.dtype.name]
    return made.reshape(value.shape)
