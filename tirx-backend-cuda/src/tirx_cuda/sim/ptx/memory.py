"""Meanings of loads, stores and cache control. Caches change no value, so their hints mean nothing here."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType

from .run import NUMPY, Op

__all__ = ["discard", "ld", "ld_ordered", "ld_volatile", "nothing", "policy", "st", "st_bulk", "st_ordered"]


def _vector(op: Op) -> tuple[DType, int]:
    """What is accessed at once, and how many registers it takes."""
    registers = [part for part in op.form.parts if part.type is not None and part.name != "cache-policy"]
    kind = registers[0].type
    assert kind is not None
    element, lanes = NUMPY[kind.name]
    return DType(element.name).with_lanes(lanes * len(registers)), len(registers)


def _columns(value: Any, count: int) -> tuple[Any, ...]:
    if count == 1:
        return (value,)
    parts = value.reshape(len(value), count, -1)
    return tuple(part[:, 0] if part.shape[1] == 1 else part for part in parts.swapaxes(0, 1))


def ld(op: Op, address: Any, *policy: Any) -> Any:
    """A load, of several registers at once."""
    dtype, count = _vector(op)
    return _columns(op.ctx.load(address, dtype), count)


def ld_volatile(op: Op, address: Any, *policy: Any) -> Any:
    """A load that is made each time; it orders nothing."""
    return ld(op, address)


def ld_ordered(op: Op, address: Any, *policy: Any) -> Any:
    """A load that acquires: what was released through the address is seen from here on."""
    dtype, count = _vector(op)
    if dtype.lanes == 1:
        value = op.ctx.atomic(address, dtype, lambda old, _: old, np.zeros(op.count, np.int64))
        return (value,)
    value = op.ctx.load(address, dtype)
    if op.get("sem") == "acquire":
        op.ctx.acquire(address)
    return _columns(value, count)


def _given(op: Op, values: Any, count: int) -> Any:
    return (
        values[0]
        if count == 1
        else np.stack([op.full(value) for value in values[:count]], axis=1).reshape(op.count, -1)
    )


def st(op: Op, address: Any, *values: Any) -> None:
    """A store, of several registers at once."""
    dtype, count = _vector(op)
    op.ctx.store(address, dtype, _given(op, values, count))


def st_ordered(op: Op, address: Any, *values: Any) -> None:
    """A store that may release what its thread did before."""
    dtype, count = _vector(op)
    if dtype.lanes == 1:
        op.ctx.atomic(address, dtype, lambda _, new: new, op.full(values[0]))
        return
    if op.get("sem") == "release":
        op.ctx.release(address)
    op.ctx.store(address, dtype, _given(op, values, count))


def nothing(op: Op, *values: Any) -> None:
    """Only caches change."""


def discard(op: Op, address: Any, *size: Any) -> None:
    """What the line held is lost."""
    for position in range(8):
        op.ctx.store(
            np.asarray(address, np.int64) + 16 * position,
            DType("uint32x4"),
            np.full((op.count, 4), 0xCDCDCDCD, np.uint32),
        )


def policy(op: Op, *values: Any) -> Any:
    """A cache policy is opaque: its bits stand for nothing here."""
    return np.zeros(op.count, np.uint64)


def st_bulk(op: Op, address: Any, size: Any, *zero: Any) -> None:
    """Zeros over a stretch of memory, in units of 8 bytes."""
    count = op.full(np.asarray(size).astype(np.int64))
    wrong = count % 8 != 0
    if wrong.any():
        op.ctx.finding("copy_size", f"{op.form.mnemonic} sets a multiple of 8 bytes", wrong)
    rows = count // 8
    start = np.repeat(np.cumsum(rows) - rows, rows)
    first = np.repeat(op.full(np.asarray(address).astype(np.int64)), rows)
    where = first + 8 * (np.arange(len(first)) - start)
    op.ctx.repeated(rows).store(where, DType("uint64"), np.zeros(len(where), np.uint64))
