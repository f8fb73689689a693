"""Meanings of allocation, loads, stores and copies of tensor memory, and of waiting for them.

An operation is done when it is issued; what it uses is watched until it is waited for (`in_flight`).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tirx.ir import DType

from . import mbarrier
from .described import UNIT, Place
from .fragments import WARP, whole_warps
from .in_flight import ON_STORE, quiet, reading, stored, taken, unfinished, using
from .run import Op
from .tensor_memory import COLUMNS, TensorMemory, checked, memory_of

__all__ = ["alloc", "commit", "copy", "dealloc", "load", "store", "wait"]

_WORD = DType("uint32")
_SHAPE = re.compile(r"\.(\d+)x(\d+)b")


def _ctas(op: Op) -> Any:
    return np.asarray(op.ctx.group("cta"))


# ---- allocation -----------------------------------------------------------------------------------------------------


def alloc(op: Op, address: Any, columns: Any) -> None:
    """Columns for the cta; where they start is written to shared memory."""
    if not whole_warps(op):
        return
    count = op.full(columns).astype(np.int64)
    first = np.zeros(op.count, np.uint32)
    lacking = np.zeros(op.count, bool)
    for at in range(0, op.count, WARP):
        memory, wanted = memory_of(op, _ctas(op)[at]), _size(op, count[at])
        starts = [start for start in range(0, COLUMNS, wanted) if not memory.taken[start : start + wanted].any()]
        lacking[at : at + WARP] = not starts
        if starts:
            memory.taken[starts[0] : starts[0] + wanted] = True
            first[at : at + WARP] = starts[0]
    if lacking.any():
        op.ctx.finding("tensor_memory", "no such run of columns is free: the cta waits for ever", lacking)
    leader = np.asarray(op.ctx.id("thread", "warp")) == 0
    op.ctx.where(leader).store(op.full(np.asarray(address).astype(np.int64))[leader], _WORD, first[leader])


def _size(op: Op, columns: Any) -> int:
    count = int(columns)
    if count in (32, 64, 128, 256, 512):
        return count
    op.ctx.finding("tensor_memory", f"{count} columns: a power of two from 32 to 512 is allocated")
    return COLUMNS


def dealloc(op: Op, address: Any, columns: Any) -> None:
    """The columns are free again."""
    if not whole_warps(op):
        return
    first, count = op.full(address).astype(np.int64) & 0xFFFF, op.full(columns).astype(np.int64)
    loose = np.zeros(op.count, bool)
    for at in range(0, op.count, WARP):
        taken = memory_of(op, _ctas(op)[at]).taken[first[at] : first[at] + count[at]]
        loose[at : at + WARP] = not taken.all()
        taken[:] = False
    if loose.any():
        op.ctx.finding("tensor_memory", "columns are freed that are not allocated", loose)


# ---- registers ------------------------------------------------------------------------------------------------------


def _places(op: Op, count: int, split: int) -> tuple[Any, Any]:
    """Lane and column of each (lane of a warp, register), from where the access starts."""
    lane, register = np.arange(WARP)[:, None], np.arange(count)[None, :]
    words = op.form.mnemonic.split(".")
    group, member = lane // 4, lane % 4
    if "32x32b" in words:
        return lane + 0 * register, register + 0 * lane
    if "16x32bx2" in words:
        return lane % 16 + 0 * register, register + lane // 16 * split
    if "16x64b" in words:
        return group + 8 * (member % 2) + 0 * register, 2 * register + member // 2
    if "16x128b" in words:
        return group + 8 * (register % 2), register // 2 * 4 + member
    return group + 8 * (register // 2 % 2), register // 4 * 8 + 2 * member + register % 2


def _accesses(op: Op, address: Any, count: int, split: int) -> list[tuple[int, TensorMemory, Any, Any]]:
    """For each warp: its first thread, its tensor memory, and the lane and column of each (thread, register)."""
    rows, columns = _places(op, count, split)
    start = op.full(address).astype(np.int64)
    quarter = np.asarray(op.ctx.id("warp", "cta")) % 4
    ctas, made = _ctas(op), []
    for at in range(0, op.count, WARP):
        row, column = int(start[at]) >> 16, int(start[at]) & 0xFFFF
        if row // WARP != quarter[at] or (start[at : at + WARP] != start[at]).any():
            op.ctx.finding(
                "tensor_memory", f"a warp reaches lanes {WARP} w to {WARP} w + 31 only, w its number modulo 4"
            )
        made.append((at, memory_of(op, ctas[at]), row + rows, column + columns))
    return made


def load(op: Op, address: Any, *split: Any) -> Any:
    """Registers of a warp from its lanes of tensor memory."""
    outputs = sum(part.rw == "w" for part in op.form.parts)
    made = np.zeros((op.count, outputs), np.uint32)
    if not whole_warps(op):
        return tuple(made.T)
    packed = op.has("pack")
    for at, memory, rows, columns in _accesses(op, address, outputs, int(split[0]) if split else 0):
        if packed:  # the low halves of two columns that are side by side
            pair = 2 * columns - columns.min()
            quiet(op, memory, checked(op, memory, rows, pair), "r")
            low, high = (memory.cells[checked(op, memory, rows, pair + side)] & 0xFFFF for side in (0, 1))
            made[at : at + WARP] = low | high << np.uint32(16)
        else:
            cells = checked(op, memory, rows, columns)
            quiet(op, memory, cells, "r")
            made[at : at + WARP] = memory.cells[cells]
    return tuple(np.ascontiguousarray(made[:, i]) for i in range(outputs))


def store(op: Op, address: Any, *values: Any) -> None:
    """The other way round."""
    split, values = (int(values[0]), values[1:]) if "16x32bx2" in op.form.mnemonic else (0, values)
    if not whole_warps(op):
        return
    words = np.stack([op.full(value) for value in values], axis=-1).astype(np.uint32)
    for at, memory, rows, columns in _accesses(op, address, len(values), split):
        given = words[at : at + WARP]
        if op.has("unpack"):
            pair = 2 * columns - columns.min()
            stored(op, at, memory, checked(op, memory, rows, pair))
            memory.cells[checked(op, memory, rows, pair)] = given & 0xFFFF
            memory.cells[checked(op, memory, rows, pair + 1)] = given >> np.uint32(16)
        else:
            cells = checked(op, memory, rows, columns)
            stored(op, at, memory, cells)
            memory.cells[cells] = given


def wait(op: Op) -> None:
    """Loads have filled their registers; or stores are in tensor memory."""
    if op.get("what") == "wait::ld":
        op.ctx.settle("tcgen05.wait::ld")
        return
    for stores in taken(op, ON_STORE):
        op.ctx.fulfil(stores)


# ---- from shared memory ---------------------------------------------------------------------------------------------


def copy(op: Op, address: Any, descriptor: Any) -> None:
    """Rows of 16 or 32 bytes from shared memory into lanes."""
    shape = _SHAPE.search(op.form.mnemonic)
    if shape is None or op.get("group") == "cta_group::2" or op.has("packed") or shape[1] == "4":
        op.ctx.unmodelled(op.form.mnemonic)
        return
    rows, width = int(shape[1]), int(shape[2])
    units = rows * width // 128
    described = op.full(descriptor).astype(np.uint64).astype(np.int64)
    place = Place.of_tcgen05(op, described, False, "u8").repeated(units)
    unit = np.tile(np.arange(units), op.count)
    if width == 128:
        unit = 2 * unit
    data = op.ctx.repeated(units).load(place.address(unit), UNIT).reshape(op.count, rows, width // 32)
    reading(op, place.address(unit).reshape(op.count, -1), place.swizzled.reshape(op.count, -1)[:, 0])
    start = op.full(address).astype(np.int64)
    for at in range(op.count):
        memory = memory_of(op, _ctas(op)[at])
        for lane in _copies(op, rows):
            row = (int(start[at]) >> 16) + lane + np.arange(len(data[at]) if rows != 64 else 32)[:, None]
            part = data[at] if rows != 64 else data[at][_half(op, lane)]
            column = (int(start[at]) & 0xFFFF) + np.arange(width // 32)[None, :]
            cells = checked(op, memory, *np.broadcast_arrays(row, column))
            using(op, at, memory, cells, "u")
            memory.cells[cells] = part


def _copies(op: Op, rows: int) -> tuple[int, ...]:
    """Lanes at which the rows start."""
    return (0, 32, 64, 96) if rows in (32, 64) else (0,)


def _half(op: Op, lane: int) -> slice:
    """The half of 64 rows that goes to these lanes."""
    second = lane in ((32, 96) if op.get("multicast64").endswith("02_13") else (64, 96))
    return slice(32, 64) if second else slice(0, 32)


# ---- completion -----------------------------------------------------------------------------------------------------


def commit(op: Op, address: Any, *mask: Any) -> None:
    """The object counts one arrival when everything before is done."""
    items = unfinished(op)
    if not mask:
        mbarrier.track(op, address, items)
        mbarrier.arrive_once(op, address)
        return
    place = op.full(np.asarray(address).astype(np.int64))
    chosen = op.full(mask[0]).astype(np.int64)
    for rank in range(op.ctx.width("cta", "cluster")):
        there = (chosen >> rank & 1).astype(bool)
        if there.any():
            part, bar = Op(op.ctx.where(there), op.form), mbarrier.in_cta(place[there], rank)
            mbarrier.track(part, bar, [items[at] for at in np.flatnonzero(there)])
            mbarrier.arrive_once(part, bar)
