"""Meanings of integer arithmetic."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from .run import Op

__all__ = [
    "abs", "add", "bfe", "bfi", "bfind", "bmsk", "brev", "clmad", "clz", "div", "dp2a", "dp4a", "fns", "mad", "mad24", "maximum",
    "minimum", "mul", "mul24", "neg", "popc", "rem", "sad", "sub", "szext",
]  # fmt: skip


def _bits(value: Any) -> int:
    return 8 * builtins.int(np.asarray(value).dtype.itemsize)


def _saturated(value: Any) -> Any:
    return np.clip(value, -(2**31), 2**31 - 1).astype(np.int32)


def add(op: Op, a: Any, b: Any) -> Any:
    """A + b; wraps, or saturates."""
    if op.has("sat"):
        return _saturated(np.asarray(a).astype(np.int64) + b)
    with np.errstate(over="ignore"):
        return a + b


def sub(op: Op, a: Any, b: Any) -> Any:
    """A - b; wraps, or saturates."""
    if op.has("sat"):
        return _saturated(np.asarray(a).astype(np.int64) - b)
    with np.errstate(over="ignore"):
        return a - b


def product(a: Any, b: Any) -> tuple[Any, Any]:
    """The upper and lower halves of a product, in the type of `a`."""
    a, b = np.broadcast_arrays(a, b)
    bits, dtype = _bits(a), a.dtype
    if bits < 64:
        wide = np.int64 if dtype.kind == "i" else np.uint64
        whole = a.astype(wide) * b.astype(wide)
        return (whole >> np.array(bits, wide)).astype(dtype), whole.astype(dtype)
    with np.errstate(over="ignore"):
        low, high = a.astype(np.uint64) * b.astype(np.uint64), _high(a.astype(np.uint64), b.astype(np.uint64))
        if dtype.kind == "i":
            high = high - np.where(a < 0, b.astype(np.uint64), 0) - np.where(b < 0, a.astype(np.uint64), 0)
    return high.astype(dtype), low.astype(dtype)


def _high(a: Any, b: Any) -> Any:
    """The upper 64 bits of a product without signs, by halves."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a1, a0, b1, b0 = a >> half, a & mask, b >> half, b & mask
    middle = a1 * b0 + ((a0 * b0) >> half)
    other = a0 * b1 + (middle & mask)
    return a1 * b1 + (middle >> half) + (other >> half)


def _widened(op: Op, a: Any, b: Any) -> Any:
    wide = {16: "32", 32: "64"}[_bits(a)]
    dtype = np.dtype(f"{'int' if a.dtype.kind == 'i' else 'uint'}{wide}")
    return np.asarray(a).astype(dtype) * np.asarray(b).astype(dtype)


def mul(op: Op, a: Any, b: Any) -> Any:
    """The lower half, the upper half, or all of a product."""
    a, b = np.asarray(a), np.asarray(b)
    if op.has("wide"):
        return _widened(op, a, b)
    high, low = product(a, b)
    return high if op.get("half") == "hi" else low


def _half(op: Op) -> str:
    return op.get("half") or ("hi" if op.has("hi") else "lo")


def mad(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A product's half, or all of it, and c."""
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(over="ignore"):
        if op.has("wide"):
            return _widened(op, a, b) + c
        high, low = product(a, b)
        chosen = high if _half(op) == "hi" else low
        if op.has("sat"):
            return _saturated(chosen.astype(np.int64) + c)
        return (chosen + c).astype(a.dtype)


def _product24(op: Op, a: Any, b: Any) -> Any:
    """Of the product of 24-bit numbers the lower 32 bits, or bits 16 to 47."""
    signed = np.asarray(a).dtype.kind == "i"
    parts = [
        ((np.asarray(item).astype(np.int64) & 0xFFFFFF) ^ (0x800000 * signed)) - 0x800000 * signed for item in (a, b)
    ]
    whole = parts[0] * parts[1]
    chosen = whole >> 16 if _half(op) == "hi" else whole
    return chosen.astype(np.int32 if signed else np.uint32)


def mul24(op: Op, a: Any, b: Any) -> Any:
    """A product of the lower 24 bits."""
    return _product24(op, a, b)


def mad24(op: Op, a: Any, b: Any, c: Any) -> Any:
    """The same, and c."""
    made = _product24(op, a, b)
    if op.has("sat"):
        return _saturated(made.astype(np.int64) + c)
    with np.errstate(over="ignore"):
        return made + c


def sad(op: Op, a: Any, b: Any, c: Any) -> Any:
    """C + |a - b|."""
    a, b = np.asarray(a), np.asarray(b)
    with np.errstate(over="ignore"):
        return (c + np.where(a < b, b - a, a - b)).astype(a.dtype)


def div(op: Op, a: Any, b: Any) -> Any:
    """The quotient toward zero; what division by zero gives depends on the machine."""
    a, b = np.broadcast_arrays(a, b)
    _by_zero(op, b)
    safe = np.where(b == 0, a.dtype.type(1), b)
    with np.errstate(over="ignore"):
        floor = a // safe
        made = floor + ((a % safe != 0) & ((a < 0) != (safe < 0))) if a.dtype.kind == "i" else floor
    return np.where(b == 0, ~a.dtype.type(0), made).astype(a.dtype)


def _by_zero(op: Op, b: Any) -> None:
    zero = op.full(b) == 0
    if zero.any():
        op.ctx.finding("division", f"{op.form.mnemonic} divides by zero", zero)


def rem(op: Op, a: Any, b: Any) -> Any:
    """What is left, with the sign of a."""
    a, b = np.broadcast_arrays(a, b)
    _by_zero(op, b)
    safe = np.where(b == 0, a.dtype.type(1), b)
    with np.errstate(over="ignore"):
        return np.where(b == 0, a, np.fmod(a, safe)).astype(a.dtype)


def abs(op: Op, a: Any) -> Any:
    """The magnitude."""
    return np.abs(a)


def neg(op: Op, a: Any) -> Any:
    """The opposite."""
    return np.negative(a)


def _relu(op: Op, made: Any) -> Any:
    return np.maximum(made, made.dtype.type(0)) if op.has("relu") else made


def minimum(op: Op, a: Any, b: Any) -> Any:
    """The smaller."""
    return _relu(op, np.minimum(a, b))


def maximum(op: Op, a: Any, b: Any) -> Any:
    """The larger."""
    return _relu(op, np.maximum(a, b))


# ---- bits -----------------------------------------------------------------------------------------------------------


def _unpacked(value: Any) -> Any:
    """Bits along a new last axis, the lowest first."""
    value = np.asarray(value)
    unsigned = value.astype(np.uint64) & np.uint64((1 << _bits(value)) - 1)
    return (unsigned[..., None] >> np.arange(_bits(value), dtype=np.uint64)) & np.uint64(1)


def _packed(bits: Any, dtype: Any) -> Any:
    return (
        (bits.astype(np.uint64) << np.arange(bits.shape[-1], dtype=np.uint64))
        .sum(axis=-1, dtype=np.uint64)
        .astype(dtype)
    )


def popc(op: Op, a: Any) -> Any:
    """How many bits are set."""
    return _unpacked(a).sum(axis=-1).astype(np.uint32)


def clz(op: Op, a: Any) -> Any:
    """How many zeros stand in front."""
    bits = _unpacked(a)[..., ::-1]
    return np.where(bits.any(axis=-1), bits.argmax(axis=-1), bits.shape[-1]).astype(np.uint32)


def bfind(op: Op, a: Any) -> Any:
    """The highest bit that differs from the sign; all ones where there is none."""
    a = np.asarray(a)
    bits = _unpacked(np.where(a < 0, ~a, a) if a.dtype.kind == "i" else a)[..., ::-1]
    width = bits.shape[-1]
    place = bits.argmax(axis=-1)
    made = place if op.has("shiftamt") else width - 1 - place
    return np.where(bits.any(axis=-1), made, 0xFFFFFFFF).astype(np.uint32)


def brev(op: Op, a: Any) -> Any:
    """The bits the other way round."""
    return _packed(_unpacked(a)[..., ::-1], np.asarray(a).dtype)


def fns(op: Op, mask: Any, base: Any, offset: Any) -> Any:
    """The n-th bit set from a place on, upward or downward; all ones where there is none."""
    made = []
    for word, start, count in zip(
        op.full(mask).tolist(), op.full(base).tolist(), op.full(offset).tolist(), strict=True
    ):
        made.append(_nth(word, start, count))
    return np.array(made, np.uint32)


def _nth(word: int, start: int, count: int) -> int:
    if count == 0:
        return start if word >> start & 1 else 0xFFFFFFFF
    places = range(start, 32) if count > 0 else range(start, -1, -1)
    found = [place for place in places if word >> place & 1]
    wanted = builtins.abs(count)
    return found[wanted - 1] if len(found) >= wanted else 0xFFFFFFFF


def bfe(op: Op, a: Any, b: Any, c: Any) -> Any:
    """`c` bits from bit `b` on; signed ones are extended."""
    a = np.asarray(a)
    width, signed = _bits(a), a.dtype.kind == "i"
    start, length = (np.asarray(item).astype(np.int64) & 0xFF for item in (b, c))
    source = _unpacked(a)
    last = np.minimum(start + length - 1, width - 1)
    source_bits, place = np.broadcast_arrays(source, np.maximum(last, 0)[..., None])
    sign = np.take_along_axis(source_bits, place, axis=-1)[..., 0] if signed else 0
    sign = np.where(length == 0, 0, sign)
    return _field(source, start, length, sign, a.dtype)


def _field(source: Any, start: Any, length: Any, sign: Any, dtype: Any) -> Any:
    width = source.shape[-1]
    place = np.arange(width) + np.asarray(start)[..., None]
    inside = (np.arange(width) < np.asarray(length)[..., None]) & (place < width)
    source, place = np.broadcast_arrays(source, np.minimum(place, width - 1))
    taken = np.take_along_axis(source, place, axis=-1)
    return _packed(np.where(inside, taken, np.asarray(sign)[..., None]), dtype)


def bfi(op: Op, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The lower `d` bits of `a` in `b` from bit `c` on."""
    a, b = np.asarray(a), np.asarray(b)
    width = _bits(a)
    start, length = (np.asarray(item).astype(np.int64)[..., None] & 0xFF for item in (c, d))
    place = np.arange(width)
    inside = (place >= start) & (place < start + length)
    source, index = np.broadcast_arrays(_unpacked(a), np.clip(place - start, 0, width - 1))
    return _packed(np.where(inside, np.take_along_axis(source, index, axis=-1), _unpacked(b)), a.dtype)


def szext(op: Op, a: Any, b: Any) -> Any:
    """The lower `b` bits, extended by zeros or by their sign."""
    a = np.asarray(a)
    count = np.asarray(b).astype(np.int64)
    count = np.minimum(count, 32) if op.get("mode") == "clamp" else count & 31
    wide = a.astype(np.int64) & ((1 << count) - 1)
    if a.dtype.kind == "i":
        wide = np.where((count > 0) & ((wide >> np.maximum(count - 1, 0)) & 1 == 1), wide - (1 << count), wide)
    return wide.astype(a.dtype)


def bmsk(op: Op, a: Any, b: Any) -> Any:
    """`b` ones from bit `a` on."""
    start, length = (np.asarray(item).astype(np.int64) & 0xFFFFFFFF for item in (a, b))
    if op.get("mode") == "clamp":
        start, length = np.minimum(start, 32), np.minimum(length, 32)
    else:
        start, length = start & 31, length & 31
    return ((((1 << length) - 1) << start) & 0xFFFFFFFF).astype(np.uint32)


def clmad(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A product without carries, and c."""
    a, b = np.broadcast_arrays(np.asarray(a, np.uint64), np.asarray(b, np.uint64))
    made = np.zeros(a.shape, np.uint64)
    for place in range(64):
        chosen = ((b >> np.uint64(place)) & np.uint64(1)).astype(bool)
        moved = a << np.uint64(place) if op.get("half") == "lo" else (a >> np.uint64(1)) >> np.uint64(63 - place)
        made ^= np.where(chosen, moved, np.uint64(0))
    return made ^ c


# ---- dot products ---------------------------------------------------------------------------------------------------


def _parts(value: Any, kind: str, bits: int) -> Any:
    dtype = np.dtype(f"{'int' if kind == 's32' else 'uint'}{bits}")
    return np.ascontiguousarray(np.atleast_1d(value)).view(dtype).reshape(-1, 32 // bits).astype(np.int64)


def _kinds(op: Op) -> list[str]:
    return op.form.mnemonic.split(".")[-2:]


def dp4a(op: Op, a: Any, b: Any, c: Any) -> Any:
    """Four products of bytes, and c."""
    left, right = _kinds(op)
    total = (_parts(a, left, 8) * _parts(b, right, 8)).sum(axis=1)
    return (total + np.asarray(c).astype(np.int64)).astype(np.asarray(c).dtype)


def dp2a(op: Op, a: Any, b: Any, c: Any) -> Any:
    """Two products of half words with bytes of one half of b, and c."""
    left, right = _kinds(op)
    chosen = _parts(b, right, 8)[:, 2:] if op.get("mode") == "hi" else _parts(b, right, 8)[:, :2]
    total = (_parts(a, left, 16) * chosen).sum(axis=1)
    return (total + np.asarray(c).astype(np.int64)).astype(np.asarray(c).dtype)
