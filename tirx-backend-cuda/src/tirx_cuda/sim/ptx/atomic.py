"""Meanings of atomic updates. Elements of vectors are updated one by one, as the manual says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tirx.ir import DType

from .floats import add_odd, canonical, rounded
from .run import NUMPY, Op

__all__ = ["UPDATES", "atom", "cas", "red", "update_of"]

Update = Callable[[Any, Any], Any]
_BF16 = np.dtype(ml_dtypes.bfloat16)


def _add(old: Any, value: Any) -> Any:
    if old.dtype.kind in "iu":
        return old + value
    if old.dtype == np.float64:
        return old + value
    with np.errstate(all="ignore"):
        return canonical(rounded(add_odd(old.astype(np.float64), value.astype(np.float64)), old.dtype, "rn"))


def _count_up(old: Any, value: Any) -> Any:
    return np.where(old >= value, 0, old + 1).astype(old.dtype)


def _count_down(old: Any, value: Any) -> Any:
    return np.where((old == 0) | (old > value), value, old - 1).astype(old.dtype)


UPDATES: dict[str, Update] = {
    "add": _add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": lambda old, value: value,
    "inc": _count_up,
    "dec": _count_down,
    "min": lambda old, value: np.fmin(old, value).astype(old.dtype),
    "max": lambda old, value: np.fmax(old, value).astype(old.dtype),
}


def update_of(op: Op) -> Update:
    """The update that the mnemonic names."""
    return UPDATES[next(word for word in op.form.mnemonic.split(".")[1:] if word in UPDATES)]


def _element(op: Op) -> tuple[DType, int, int]:
    """The type of one element, how many a register holds, and the number of registers of the operand."""
    parts = [part for part in op.form.parts if part.rw == "r" and part.type is not None and part.name != "cache-policy"]
    kind = parts[0].type
    assert kind is not None
    dtype, lanes = NUMPY[kind.name]
    return DType(dtype.name), lanes, len([part for part in parts if part.name.startswith("b")])


def _updated(op: Op, address: Any, values: Any) -> list[Any]:
    """The old values of all registers."""
    dtype, lanes, count = _element(op)
    if lanes == 2 and dtype.bits == 64:
        _aligned(op, address)
    update, where = update_of(op), np.asarray(address, np.int64)
    found = []
    for position, value in enumerate(values[:count]):
        first = where + position * lanes * dtype.bytes
        if lanes == 1:
            found.append(op.ctx.atomic(first, dtype, update, value))
            continue
        pairs = op.full(value)
        olds = [op.ctx.atomic(first + lane * dtype.bytes, dtype, update, pairs[:, lane]) for lane in range(lanes)]
        found.append(np.stack(olds, axis=1))
    return found


def atom(op: Op, address: Any, *values: Any) -> Any:
    """Memory is updated; the old value is the result."""
    found = _updated(op, address, values)
    return tuple(found) if any(part.rw == "w" for part in op.form.parts) else ()


def red(op: Op, address: Any, *values: Any) -> None:
    """Memory is updated."""
    _updated(op, address, values)


def cas(op: Op, address: Any, compared: Any, value: Any, *policy: Any) -> Any:
    """Memory becomes `value` where it is `compared`."""
    kind = next(part.type for part in op.form.parts if part.name == "b")
    assert kind is not None
    dtype, lanes = NUMPY[kind.name]
    if lanes > 1:
        old = _cas_pairs(op, address, dtype.name, op.full(compared), op.full(value))
        return old if any(part.rw == "w" for part in op.form.parts) else ()
    old = op.ctx.atomic(address, DType(dtype.name), lambda old, b, c: np.where(old == b, c, old), (compared, value))
    return old if any(part.rw == "w" for part in op.form.parts) else ()


def _aligned(op: Op, address: Any) -> None:
    wrong = op.full(np.asarray(address, np.int64)) % 16 != 0
    if wrong.any():
        op.ctx.finding("misaligned", f"{op.form.mnemonic} takes a multiple of 16 bytes", wrong)


def _cas_pairs(op: Op, address: Any, name: str, compared: Any, value: Any) -> Any:
    """Both halves at once, for one thread after the other."""
    _aligned(op, address)
    base, dtype, found = op.full(np.asarray(address, np.int64)), DType(name), np.zeros((op.count, 2), np.uint64)
    for thread in range(op.count):
        one = op.alone(thread).ctx
        places = [base[thread : thread + 1] + 8 * half for half in range(2)]
        found[thread] = [one.atomic(place, dtype, lambda old, _: old, np.zeros(1, np.uint64))[0] for place in places]
        if (found[thread] == compared[thread]).all():
            for half, place in enumerate(places):
                one.atomic(place, dtype, UPDATES["exch"], value[thread, half : half + 1])
    return found
