"""What generated code calls: sets of active threads, and arithmetic whose C meaning differs from NumPy's.

A set of active threads is `ALL` (everybody of the enclosing set) or an array of positions. Integers wrap; float to integer
truncates and saturates, NaN gives 0; `min` and `max` of floats give the operand that is a number.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..ir import integers

__all__ = [
    "ALL", "cast_array", "columns", "count_of", "floor_div", "floor_mod", "halves", "joined", "keep", "leave", "narrow", "paired", "pick",
    "positions", "rejoin", "save", "shaped", "shift_left", "shift_right", "spread", "taken", "trunc_div", "trunc_mod", "turned",
    "unpaired", "wrap_int",
]  # fmt: skip

ALL = slice(None)


def narrow(condition: Any) -> Any:
    """Positions where `condition` holds: `ALL`, an array, or None where it holds nowhere."""
    held = np.count_nonzero(condition)
    if held == np.size(condition):
        return ALL
    return None if held == 0 else np.flatnonzero(condition)


def pick(outer: Any, inner: Any) -> Any:
    """The set `inner`, whose positions count inside `outer`, as positions that `outer` counts in."""
    if outer is ALL:
        return inner
    return outer if inner is ALL else outer[inner]


def count_of(active: Any, size: int) -> int:
    """Number of active threads in a set of a bucket of `size`."""
    return size if active is ALL else len(active)


def spread(value: Any, count: int, dtype: Any, lanes: int = 1) -> Any:
    """`value` as an array over `count` threads of its own."""
    shape = (count,) if lanes == 1 else (count, lanes)
    made = np.empty(shape, dtype)
    made[...] = value
    return made


def keep(state: Any, name: str, threads: Any, value: Any) -> None:
    """Write a register of the threads of a bucket back to the launch's state."""
    if threads is ALL:
        setattr(state, name, value)
    else:
        getattr(state, name)[..., threads] = value


def save(state: Any, name: str, threads: Any, value: Any) -> None:
    """Keep a value for a later block: of everybody by reference, of some threads by copy."""
    if threads is ALL:
        setattr(state, name, value)
        state.owned.discard(name)
        return
    if name not in state.owned:
        old: Any = getattr(state, name, None)
        fits = old is not None and old.dtype == value.dtype and old.shape[1:] == value.shape[1:]
        setattr(state, name, old.copy() if fits else np.zeros((state.size, *value.shape[1:]), value.dtype))
        state.owned.add(name)
    getattr(state, name)[threads] = value


def wrap_int(value: int, bits: int, signed: bool) -> int:
    """A Python integer wrapped to a width."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def floor_div(a: Any, b: Any) -> Any:
    """A // b of integers, rounded down; 0 where b is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b else 0
    return a // b


def floor_mod(a: Any, b: Any) -> Any:
    """A % b of integers, with the sign of b; 0 where b is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a % b if b else 0
    return a % b


def trunc_div(a: Any, b: Any) -> Any:
    """A / b of integers, rounded to zero; 0 where b is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return integers.trunc_div(a, b) if b else 0
    quotient = a // b
    inexact = (quotient * b != a) & ((a < 0) != (b < 0)) & (np.asarray(b) != 0)
    return quotient + inexact.astype(quotient.dtype)


def trunc_mod(a: Any, b: Any) -> Any:
    """Remainder of the division that rounds to zero; 0 where b is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a - b * trunc_div(a, b) if b else 0
    return np.fmod(a, b)


_finfo: Any = ml_dtypes.finfo  # ml_dtypes says nothing of its type
_WIDEST = 64  # bits of the widest integer


def shift_left(a: Any, b: Any) -> Any:
    """A << b of integers; 0 where b is no position of theirs."""
    if isinstance(a, int) and isinstance(b, int):
        return a << b if 0 <= b < _WIDEST else 0
    return a << b


def shift_right(a: Any, b: Any) -> Any:
    """A >> b of integers; only the sign is left where b is no position of theirs."""
    if isinstance(a, int) and isinstance(b, int):
        return a >> (b if 0 <= b < _WIDEST else _WIDEST)
    return a >> b


def _kinds(*names: str) -> frozenset[Any]:
    """Those NumPy types that ml_dtypes has as it is installed."""
    return frozenset(np.dtype(getattr(ml_dtypes, name)) for name in names if hasattr(ml_dtypes, name))


FOUR_BITS = _kinds("float4_e2m1fn")  # two of them share a byte
_FINITE = FOUR_BITS | _kinds("float6_e2m3fn", "float6_e3m2fn")
_NARROW_FLOATS = _FINITE | _kinds("float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4")


_NUMPY_FLOATS = frozenset(np.dtype(name) for name in ("float16", "float32", "float64"))


def cast_array(value: Any, dtype: Any) -> Any:
    """`value` (array or NumPy scalar) converted as C does, with saturation where C leaves it undefined.

    What a float of eight bits or less cannot hold becomes its largest finite value, as hardware converts. NaN stays NaN where
    the format has one, and becomes the largest value in those of six and four bits.
    """
    value = np.asarray(value)
    if value.dtype == dtype:
        return value
    if dtype.kind in "iu" and value.dtype.kind not in "iub":
        return _to_integer(value, dtype)
    if dtype in _NARROW_FLOATS:
        largest = float(_finfo(dtype).max)
        value = np.clip(value.astype(np.float64) if value.dtype.itemsize < 4 else value, -largest, largest)
        if dtype in _FINITE:
            value = np.where(np.isnan(value), value.dtype.type(largest), value)
    if (
        dtype.kind not in "iub"
        and dtype not in _NUMPY_FLOATS
        and value.dtype.itemsize >= 4
        and value.dtype != np.float32
    ):
        value = _to_odd(value)
    return value.astype(dtype)


def _to_odd(value: Any) -> Any:
    """`value` in float32 so that rounding it again is as rounding once: what is inexact ends in a one."""
    near = value.astype(np.float32)
    error = near.astype(np.longdouble) - value.astype(np.longdouble)
    even = (near.view(np.uint32) & 1) == 0
    toward = np.where(error > 0, np.float32(-np.inf), np.float32(np.inf))
    return np.where((error != 0) & even & ~np.isnan(near), np.nextafter(near, toward), near)


def _to_integer(value: Any, dtype: Any) -> Any:
    wide = value.astype(np.float64)
    info = np.iinfo(dtype)
    if wide.size and info.min <= wide.min() and wide.max() <= info.max and info.bits < 64:
        return wide.astype(dtype)
    whole = np.trunc(np.where(np.isnan(wide), 0.0, wide))
    made = np.where((whole >= -(2.0**63)) & (whole < 2.0**63), whole, 0.0).astype(np.int64).astype(dtype)
    if info.bits == 64 and info.min == 0:
        large = (whole >= 2.0**63) & (whole < 2.0**64)
        made = np.where(large, np.where(large, whole - 2.0**63, 0.0).astype(np.uint64) + np.uint64(1 << 63), made)
    made = np.where(whole >= float(info.max) + (info.bits < 64), dtype.type(info.max), made)
    return np.where(whole <= info.min, dtype.type(info.min), made).astype(dtype)


def halves(held: Any) -> Any:
    """The two halves of each byte, the lower one first: twice as many along the last dimension."""
    made = np.empty((*held.shape[:-1], 2 * held.shape[-1]), np.uint8)
    made[..., ::2], made[..., 1::2] = held & 15, held >> 4
    return made


def joined(bits: Any) -> Any:
    """Bytes from their halves; what stands above four bits does not count."""
    bits = bits & 15
    return bits[..., ::2] | bits[..., 1::2] << 4


def unpaired(pairs: Any, dtype: Any) -> Any:
    """Elements of four bits out of bytes that hold two each, the lower half first: `(n,)` or `(n, m)` gives `(n, lanes)`."""
    held = np.asarray(pairs)
    return halves(held.reshape(-1, 1) if held.ndim < 2 else held).view(dtype)


def paired(values: Any) -> Any:
    """Bytes that hold two elements of four bits each; `(n,)` where there is one byte."""
    bits = np.ascontiguousarray(values).view(np.uint8)
    if bits.ndim < 2:
        bits = np.broadcast_to(bits.reshape(-1, 1), (bits.size, 2))
    made = joined(bits)
    return made[:, 0] if made.shape[1] == 1 else made


def shaped(value: Any, count: int, dtype: Any, lanes: int) -> Any:
    """What a meaning answered, as an array over `count` threads."""
    shape = (count,) if lanes == 1 else (count, lanes)
    made = np.asarray(value)
    if made.shape == shape and made.dtype == dtype:
        return made
    return np.broadcast_to(cast_array(made, dtype), shape)


def taken(value: Any, count: int, dtype: Any, lanes: int) -> Any:
    """What a meaning answered for an operand, as a place of `dtype` holds it: the same bits, or the number where sizes differ."""
    made = np.asarray(value)
    shape = (count,) if lanes == 1 else (count, lanes)
    width = made.dtype.itemsize * (made.shape[-1] if made.ndim == 2 else 1)
    if made.dtype != dtype and (bool in (made.dtype, dtype) or width != dtype.itemsize * lanes):
        return np.broadcast_to(cast_array(made, dtype), shape)
    if made.ndim == 0 or made.shape[0] != count:
        made = np.broadcast_to(made, (count, *made.shape[1:]))
    return (
        made if made.dtype == dtype and made.shape == shape else np.ascontiguousarray(made).view(dtype).reshape(shape)
    )


def columns(value: Any, count: int, lanes: int, dtype: Any) -> Any:
    """A value as a matrix (threads, lanes), for choosing lanes."""
    made = np.asarray(value)
    if made.ndim == 1:
        made = made[:, None]
    return np.broadcast_to(made.astype(dtype, copy=False), (count, lanes))


def turned(value: Any) -> Any:
    """Lanes as rows, for storing to a register array."""
    return value.T if isinstance(value, np.ndarray) and value.ndim == 2 else value


def positions(active: Any, size: int) -> Any:
    """A set of active threads as an array of positions."""
    return np.arange(size) if active is ALL else active


def rejoin(escaped: Any, active: Any, code: int) -> None:
    """Threads that left a loop with `code` take part again."""
    held = escaped[active]
    escaped[active] = np.where(held == code, 0, held)


def leave(out: list[Any], escaped: Any, code: int, target: int, key: Any, spin: bool = False) -> None:
    """Threads that left a block with `code` go to block `target`."""
    found = np.flatnonzero(escaped == code)
    if len(found):
        out.append((target, key, found, spin))
