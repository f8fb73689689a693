"""Meanings of conversions and moves."""

from __future__ import annotations

from typing import Any

import numpy as np

from .floats import BF16, canonical, flushed, odd, rounded, saturated
from .run import NUMPY, Op
from .small_floats import FORMATS, decoded, encoded, fixed_point, powers, stochastic_codes

__all__ = ["cvt", "mov", "narrow", "pack", "pack_bits", "stochastic", "unpack_bits"]


def _result(op: Op) -> tuple[Any, int]:
    kind = op.form.parts[0].type
    assert kind is not None
    return NUMPY[kind.name]


_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def cvt(op: Op, a: Any) -> Any:
    """Between numbers: integers wrap, or saturate with `.sat` and from floats; floats round as said."""
    a = np.asarray(a)
    dtype, _ = _result(op)
    if op.has("ftz") and a.dtype == np.float32:
        a = flushed(a)
    if dtype.kind in "iu":
        return _to_integer(op, a, dtype)
    if a.dtype.kind in "iu":
        return _from_integer(op, a, dtype)
    with np.errstate(all="ignore"):
        value = a.astype(np.float64)
        if op.has("irnd"):
            value = np.copysign(_INTEGRAL[op.get("irnd")](value), value)
        made = rounded(value, dtype, op.get("frnd") or "rn")
    if op.has("ftz") and dtype == np.float32:
        made = flushed(made)
    made = saturated(made) if op.has("sat") else made
    return a if dtype == a.dtype and not op.has("irnd") and not op.has("sat") and not op.has("ftz") else canonical(made)


def _to_integer(op: Op, a: Any, dtype: Any) -> Any:
    if a.dtype.kind in "iu":
        if not op.has("sat"):
            return a.astype(dtype)
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        own = np.iinfo(a.dtype)
        return np.clip(a, max(low, own.min), min(high, own.max)).astype(dtype)
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        whole = _INTEGRAL[op.get("irnd")](a.astype(np.float64))
        made = np.where(np.isfinite(whole), np.clip(whole, float(info.min), float(info.max)), 0).astype(dtype)
    made = np.where(whole >= float(info.max), dtype.type(info.max), made)
    made = np.where(whole <= float(info.min), dtype.type(info.min), made)
    return np.where(np.isnan(whole), _of_nan(dtype, a.dtype), made).astype(dtype)


def _of_nan(dtype: Any, source: Any) -> Any:
    """NaN becomes 0, in 64 bits (and from float64) the pattern with only the top bit set."""
    if dtype.itemsize == 8 or (source == np.float64 and dtype.itemsize == 4):
        return dtype.type(np.iinfo(dtype).min if dtype.kind == "i" else 1 << (8 * dtype.itemsize - 1))
    return dtype.type(0)


def _from_integer(op: Op, a: Any, dtype: Any) -> Any:
    value = a.astype(np.float64)
    if a.dtype.itemsize == 8:  # more bits than a float64 has
        back = np.where(np.abs(value) >= 2.0**63, 0.0, value).astype(np.int64)
        rest = (a.astype(np.int64) - back).astype(np.float64)
        if a.dtype.kind == "u":
            high, low = (
                (a >> np.uint64(32)).astype(np.float64) * 2.0**32,
                (a & np.uint64(0xFFFFFFFF)).astype(np.float64),
            )
            value = high + low
            rest = low - (value - high)
        if dtype == np.float64:
            return _double(value, rest, op.get("frnd"))
        value = odd(value, rest)
    made = rounded(value, dtype, op.get("frnd") or "rn")
    return saturated(made) if op.has("sat") else made


def _double(value: Any, rest: Any, mode: str) -> Any:
    steps = {
        "rn": np.zeros(np.shape(value)),
        "rz": np.where(rest < 0, -1, 0) * (value > 0) + np.where(rest > 0, 1, 0) * (value < 0),
        "rm": np.where(rest < 0, -1, 0),
        "rp": np.where(rest > 0, 1, 0),
    }[mode or "rn"]
    up, down = np.nextafter(value, np.inf), np.nextafter(value, -np.inf)
    return np.where(steps > 0, up, np.where(steps < 0, down, value))


# ---- to and from small formats --------------------------------------------------------------------------------------


def _names(op: Op) -> tuple[str, str]:
    """Types of the destination and of what is converted."""
    return op.form.mnemonic.split(".")[-2], op.form.mnemonic.split(".")[-1]


def narrow(op: Op, a: Any, *more: Any) -> Any:
    """Floats to fewer bits, or small formats to 16: two at a time, the first operand goes to the upper half."""
    target, source = _names(op)
    scale = powers(more[-1]) if op.has("scaled1") or op.has("scaled2") else None
    with np.errstate(all="ignore"):
        value = _operands(op, a, more, target, source)
        if scale is not None and target == "bf16x2":
            value = value * scale
        elif scale is not None:
            value = value / (scale if op.has("scaled2") else np.reshape(scale, (-1, 1)))
        return _encoded(op, _relu(op, value), target.removesuffix("x2"))


def _operands(op: Op, a: Any, more: Any, target: str, source: str) -> Any:
    """What is converted, lower half first."""
    if source[-2:] == "x2":
        return _decoded(op, a, source[:-2])
    if target[-2:] != "x2":
        return np.asarray(a).astype(np.float64)
    upper, lower = np.broadcast_arrays(np.atleast_1d(a), np.atleast_1d(more[0]))
    return _without_subnormals(op, np.stack([lower, upper], axis=-1)).astype(np.float64)


def _without_subnormals(op: Op, value: Any) -> Any:
    """One scale for both: subnormal inputs count as zeros."""
    return flushed(value) if op.has("scaled1") else value


def _relu(op: Op, value: Any) -> Any:
    return np.where(value > 0, value, np.where(np.isnan(value), value, 0.0)) if op.has("relu") else value


def _decoded(op: Op, value: Any, name: str) -> Any:
    value = np.asarray(value)
    if name in ("f16", "bf16"):
        return _without_subnormals(op, value).astype(np.float64)
    if name == "e2m1":
        return decoded(np.stack([value & 0xF, value >> 4], axis=-1), name)
    if name == "s2f6":
        return np.ascontiguousarray(value).view(np.int8).astype(np.float64) / 64
    return powers(value) if name == "ue8m0" else decoded(value, name)


def _encoded(op: Op, value: Any, name: str) -> Any:
    mode = next((word for word in op.form.mnemonic.split(".") if word in ("rn", "rz", "rp", "rm", "rna")), "rn")
    if op.has("pzo"):
        value = _positive_zeros(value, name, mode)
    if name in ("f16", "bf16", "tf32"):
        return _half(op, value, name, mode)
    if name == "ue8m0":
        return _power(op, value, mode)
    if name == "s2f6":
        return fixed_point(value, mode)
    saturate = op.has("satfinite")
    if not saturate and (np.abs(value) > decoded(FORMATS[name].largest, name)).any():
        op.ctx.unmodelled(f"{op.form.mnemonic} of numbers beyond the largest of the format, without .satfinite")
    codes = encoded(value, name, mode, saturate)
    return codes if name != "e2m1" else (codes[..., 0] | codes[..., 1] << 4)


def _positive_zeros(value: Any, name: str, mode: str) -> Any:
    """Where the result is -0, +0 is converted instead."""
    if name == "tf32":
        made = _tf32(value, mode)
    elif name in ("f16", "bf16"):
        made = rounded(value, np.float16 if name == "f16" else BF16, mode)
    else:
        made = decoded(encoded(value, name, mode), name)
    return np.where(np.asarray(made) == 0, 0.0, value)


def _half(op: Op, value: Any, name: str, mode: str) -> Any:
    if name == "tf32":
        made = _tf32(value, mode)
    else:
        made = rounded(value, np.float16 if name == "f16" else BF16, mode)
    if op.has("satfinite"):
        largest = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "tf32": 3.4011621342146535e38}[name]
        made = np.where(np.isinf(made), np.sign(made.astype(np.float32)) * np.float32(largest), made).astype(made.dtype)
    return canonical(made)


def _tf32(value: Any, mode: str) -> Any:
    """Ten bits of mantissa in a float32."""
    single = np.atleast_1d(value).astype(np.float32)
    bits: Any = single.view(np.uint32).astype(np.uint64)
    add = {
        "rn": np.uint64(0xFFF) + ((bits >> np.uint64(13)) & np.uint64(1)),
        "rna": np.uint64(0x1000),
        "rz": np.uint64(0),
    }[mode]
    made = np.where(np.isfinite(single), (bits + add) & np.uint64(0xFFFFE000), bits).astype(np.uint32)
    return made.view(np.float32).reshape(np.shape(value))


def _power(op: Op, value: Any, mode: str) -> Any:
    """Powers of two: the exponent alone, rounded toward zero or up."""
    size = np.abs(value)
    mantissa, exponent = np.frexp(size)
    power = exponent - 1 + ((mantissa > 0.5) & (mode == "rp"))
    made = np.clip(power + 127, 0, 254)
    top = 254 if op.has("satfinite") else 255
    made = np.where(np.isinf(size) | (power > 127), top, made)
    return np.where(np.isnan(value), 255, np.where(size == 0, 0, made)).astype(np.uint8)


# ---- stochastic rounding --------------------------------------------------------------------------------------------

_RANDOM = {"f16": 13, "bf16": 16, "e2m1": 8}  # how many bits decide; 16 for the others
_FIRST = {"e2m1": (24, 8, 16, 0)}  # where those of a, b, e, f begin; 16 bits are for two operands


def stochastic(op: Op, *values: Any) -> Any:
    """Random bits, added to the first of those that are cut off, decide by their carry.

    The manual names the halves of `rbits` that two operands of four share; of e2m1, the first takes the upper half's byte.
    """
    target, _ = _names(op)
    name, lanes = target[:-2], int(target[-1])
    numbers = _relu(op, np.stack([op.full(part) for part in values[:-1]], axis=-1).astype(np.float64))
    bits = _RANDOM.get(name, 16)
    starts = np.array((16, 0) if lanes == 2 else _FIRST.get(name, (16, 16, 0, 0)), np.uint32)
    random = (op.full(values[-1]).astype(np.uint32)[:, None] >> starts) & np.uint32((1 << bits) - 1)
    codes = stochastic_codes(numbers, name, random, bits, op.has("satfinite"))[:, ::-1]
    if name == "e2m1":
        return (codes.astype(np.uint16) << (4 * np.arange(4, dtype=np.uint16))).sum(axis=-1).astype(np.uint16)
    return np.ascontiguousarray(codes).view(_result(op)[0])


# ---- moves ----------------------------------------------------------------------------------------------------------


def mov(op: Op, a: Any) -> Any:
    """The same value."""
    return a


def pack_bits(op: Op, *parts: Any) -> Any:
    """Parts side by side, the first lowest."""
    kind, lanes = _result(op)
    words = np.ascontiguousarray(np.stack([op.full(part) for part in parts], axis=-1)).view(kind)
    return words if lanes > 1 else words[:, 0]


def unpack_bits(op: Op, value: Any) -> Any:
    """The parts of a value, the lowest first."""
    kind, _ = _result(op)
    count = len(op.form.parts) - 1
    words = np.ascontiguousarray(op.full(value)).view(kind).reshape(-1, count)
    return tuple(words[:, position] for position in range(count))


_TINY = {"u16": (0, 65535, 16), "s16": (-32768, 32767, 16), "u8": (0, 255, 8), "s8": (-128, 127, 8), "u4": (0, 15, 4), "s4": (-8, 7, 4),
         "u2": (0, 3, 2), "s2": (-2, 1, 2)}  # fmt: skip


def pack(op: Op, a: Any, b: Any, *c: Any) -> Any:
    """Two integers saturated and packed, before what c holds."""
    low, high, bits = _TINY[op.get("convert") or op.get("small") or op.get("tiny")]
    upper, lower = (np.clip(np.asarray(item).astype(np.int64), low, high) & ((1 << bits) - 1) for item in (a, b))
    made = (upper << bits) | lower
    if c:
        made = (np.asarray(c[0]).astype(np.int64) << (2 * bits)) | made
    return (made & 0xFFFFFFFF).astype(np.uint32)
