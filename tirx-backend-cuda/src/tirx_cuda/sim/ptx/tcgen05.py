"""Meanings of allocation, loads, stores and copies of tensor memory, and of waiting for them.

An operation is done when it is issued; what it uses is watched until it is waited for (`in_flight`).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tirx.ir import DType

from . import mbarrier
from .compression import chosen, indices, order
from .described import UNIT, Place
from .fragments import WARP, spread, whole_warps
from .in_flight import ON_STORE, quiet, reading, stored, taken, unfinished, using
from .run import NUMPY, Op
from .tensor_memory import COLUMNS, TensorMemory, checked, lane_and_column, memory_of

__all__ = ["alloc", "commit", "copy", "dealloc", "load", "load_compressed", "load_reduced", "store", "wait"]

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
    (_, first), count = lane_and_column(op.full(address).astype(np.int64)), op.full(columns).astype(np.int64)
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
        row, column = lane_and_column(int(start[at]))
        if row // WARP != quarter[at] or (start[at : at + WARP] != start[at]).any():
            op.ctx.finding(
                "tensor_memory", f"a warp reaches lanes {WARP} w to {WARP} w + 31 only, w its number modulo 4"
            )
        made.append((at, memory_of(op, ctas[at]), row + rows, column + columns))
    return made


def load(op: Op, address: Any, *split: Any) -> Any:
    """Registers of a warp from its lanes of tensor memory."""
    return _loaded(op, address, sum(part.rw == "w" for part in op.form.parts), *split)


def _loaded(op: Op, address: Any, outputs: int, *split: Any) -> tuple[Any, ...]:
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


def load_reduced(op: Op, address: Any, *split: Any) -> Any:
    """A load, and the least or greatest of what each thread has loaded."""
    loaded = _loaded(op, address, sum(part.rw == "w" for part in op.form.parts) - 1, *split)
    return *_typed(op, loaded), _extreme(op, loaded)


def load_compressed(op: Op, address: Any) -> Any:
    """A load of which two of each four elements are kept, with their numbers; with `.red`, the least or greatest of all."""
    loaded = _loaded(op, address, _repeats(op))
    data = np.stack(loaded, axis=1)
    found = chosen(order(data, "f32", absolute=op.has("abs"), least=op.get("op") == "min"))
    kept = np.take_along_axis(data.reshape(op.count, -1, 4), found, axis=-1).reshape(op.count, -1)
    made = *indices(found, 2), *np.ascontiguousarray(kept.T)
    return (*made, _extreme(op, loaded)) if ".red." in op.form.mnemonic else made


def _repeats(op: Op) -> int:
    return int(op.get("num")[1:])


def _typed(op: Op, words: Any) -> list[Any]:
    kind = op.form.parts[0].type
    assert kind is not None
    return [word.view(NUMPY[kind.name][0]) for word in words]


def _extreme(op: Op, words: Any) -> Any:
    """NaNs count only with `.NaN`; -0 is less than +0."""
    data, least = np.stack(words, axis=1), op.get("op") == "min"
    kind = op.get("itype")
    if kind:
        values = data.view(np.int32 if kind == "s32" else np.uint32)
        return values.min(axis=1) if least else values.max(axis=1)
    ranks = order(data, "f32", absolute=op.has("abs"), least=least)
    strange = np.isnan(data.view(np.float32))
    place = np.argmax(np.where(strange & (not op.has("NaN")), np.iinfo(np.int64).min, ranks), axis=1)[:, None]
    found = np.take_along_axis(data, place, axis=1)[:, 0]
    found = found & np.uint32(0x7FFFFFFF) if op.has("abs") else found
    return np.where(np.isnan(found.view(np.float32)), np.uint32(0x7FFFFFFF), found).view(np.float32)


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
    """Rows of 16 or 32 bytes from shared memory into lanes; in a pair, each cta from its own to its own."""
    shape = _SHAPE.search(op.form.mnemonic)
    assert shape is not None
    rows, width = int(shape[1]), int(shape[2])
    described = op.full(descriptor).astype(np.uint64).astype(np.int64)
    place = Place.of_tcgen05(op, described, False, "u8")
    ranks, ctas = np.asarray(op.ctx.id("cta", "cluster")).astype(np.int64), _ctas(op).astype(np.int64)
    if op.get("group") != "cta_group::2":
        _copy(op, address, place, rows, width, ctas)
        return
    for side in (0, 1):
        _copy(op, address, place.in_rank(ranks & ~1 | side), rows, width, ctas - ranks + (ranks & ~1 | side))


def _copy(op: Op, address: Any, place: Place, rows: int, width: int, ctas: Any) -> None:
    units = rows * width // 128
    unit = np.tile(np.arange(units), op.count) * (2 if width == 128 else 1)
    places = place.repeated(units).address(unit)
    found = op.ctx.repeated(units).load(places, UNIT)
    reading(op, places.reshape(op.count, -1), place.swizzled)
    if op.has("packed"):
        bits = 6 if op.get("packed").startswith("b6") else 4
        found = np.ascontiguousarray(spread(found, bits) << (2 if bits == 4 else 0)).view(np.uint32)
    data, start = found.reshape(op.count, rows, width // 32), op.full(address).astype(np.int64)
    for at in range(op.count):
        memory, (first, left) = memory_of(op, ctas[at]), lane_and_column(int(start[at]))
        for lane in _copies(op, rows):
            part = data[at] if rows != 64 else data[at][_half(op, lane)]
            row = first + lane + np.arange(len(part))[:, None]
            column = left + np.arange(width // 32)[None, :]
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
    for part, bar, there in mbarrier.everywhere(op, address, mask[0]):
        mbarrier.track(part, bar, [items[at] for at in np.flatnonzero(there)])
        mbarrier.arrive_once(part, bar)
