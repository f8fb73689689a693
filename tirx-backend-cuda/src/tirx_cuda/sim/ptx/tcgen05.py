"""Meanings of the fifth generation of tensor cores, for single ctas.

Tensor memory is an array of 128 lanes and 512 columns of 32 bits for each cta. An operation is done when it is issued: that its operands
must be left alone until the wait is not checked. Products are exact, sums are in float32.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tirx.ir import DType

from . import mbarrier
from .described import UNIT, Place
from .fragments import WARP, elements, whole_warps
from .run import Op

__all__ = ["alloc", "commit", "copy", "dealloc", "load", "mma", "store"]

LANES, COLUMNS = 128, 512
_WORD = DType("uint32")
_SHAPE = re.compile(r"\.(\d+)x(\d+)b")


class _Memory:
    """The tensor memory of a cta, and which columns are allocated."""

    def __init__(self) -> None:
        self.cells = np.zeros((LANES, COLUMNS), np.uint32)
        self.taken = np.zeros(COLUMNS, bool)


def _memory(op: Op, cta: Any) -> _Memory:
    memories: dict[int, _Memory] = op.ctx.state.setdefault("tensor memory", {})
    return memories.setdefault(int(cta), _Memory())


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
        memory, wanted = _memory(op, _ctas(op)[at]), _size(op, count[at])
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
        taken = _memory(op, _ctas(op)[at]).taken[first[at] : first[at] + count[at]]
        loose[at : at + WARP] = not taken.all()
        taken[:] = False
    if loose.any():
        op.ctx.finding("tensor_memory", "columns are freed that are not allocated", loose)


def _checked(op: Op, memory: _Memory, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Places in tensor memory; a finding where they are not allocated."""
    inside = (rows < LANES) & (columns < COLUMNS)
    rows, columns = rows % LANES, columns % COLUMNS
    if not (inside & memory.taken[columns]).all():
        op.ctx.finding("tensor_memory", f"{op.form.mnemonic} uses tensor memory that is not allocated")
    return rows, columns


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


def _accesses(op: Op, address: Any, count: int, split: int) -> list[tuple[int, _Memory, Any, Any]]:
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
        made.append((at, _memory(op, ctas[at]), row + rows, column + columns))
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
            low, high = (memory.cells[_checked(op, memory, rows, pair + side)] & 0xFFFF for side in (0, 1))
            made[at : at + WARP] = low | high << np.uint32(16)
        else:
            made[at : at + WARP] = memory.cells[_checked(op, memory, rows, columns)]
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
            memory.cells[_checked(op, memory, rows, pair)] = given & 0xFFFF
            memory.cells[_checked(op, memory, rows, pair + 1)] = given >> np.uint32(16)
        else:
            memory.cells[_checked(op, memory, rows, columns)] = given


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
    start = op.full(address).astype(np.int64)
    for at in range(op.count):
        memory = _memory(op, _ctas(op)[at])
        for lane in _copies(op, rows):
            row = (int(start[at]) >> 16) + lane + np.arange(len(data[at]) if rows != 64 else 32)[:, None]
            part = data[at] if rows != 64 else data[at][_half(op, lane)]
            column = (int(start[at]) & 0xFFFF) + np.arange(width // 32)[None, :]
            memory.cells[_checked(op, memory, *np.broadcast_arrays(row, column))] = part


def _copies(op: Op, rows: int) -> tuple[int, ...]:
    """Lanes at which the rows start."""
    return (0, 32, 64, 96) if rows in (32, 64) else (0,)


def _half(op: Op, lane: int) -> slice:
    """The half of 64 rows that goes to these lanes."""
    second = lane in ((32, 96) if op.get("multicast64").endswith("02_13") else (64, 96))
    return slice(32, 64) if second else slice(0, 32)


# ---- products -------------------------------------------------------------------------------------------------------

_KINDS = {
    "kind::f16": {0: "f16", 1: "bf16"},
    "kind::tf32": {2: "tf32"},
    "kind::i8": {0: "u8", 1: "s8"},
    "kind::f8f6f4": {0: "e4m3", 1: "e5m2"},
}


def mma(op: Op, *values: Any) -> None:
    """D = a * b + d, by one thread."""
    given = dict(zip((part.name for part in op.form.parts if part.rw != "w"), values, strict=True))
    words = {name: op.full(value).astype(np.uint64).astype(np.int64) for name, value in given.items()}
    shapes = {int(word) for word in words["idesc"]}
    if "lut" in given or op.has("ashift") or len(shapes) != 1:
        op.ctx.unmodelled(op.form.mnemonic)
        return
    described = shapes.pop()
    kinds = _KINDS.get(op.get("kind"), {})
    codes = (described >> 7) & 7, (described >> 10) & 7
    m, n = (described >> 24 & 31) << 4, (described >> 17 & 63) << 3
    if not set(codes) <= set(kinds) or described & 4 or m not in (64, 128):
        op.ctx.unmodelled(f"{op.form.mnemonic} with instruction descriptor {described:#x}")
        return
    right = _shared(op, words["b-desc"], kinds[codes[1]], n, bool(described >> 16 & 1))
    if "a-desc" in words:
        left = _shared(op, words["a-desc"], kinds[codes[0]], m, bool(described >> 15 & 1))
    else:
        left = _tensor(op, words["a"], kinds[codes[0]], m)
    negative = -1 if (described >> 13 & 1) != (described >> 14 & 1) else 1
    with np.errstate(all="ignore"):
        made = np.matmul(left * negative, right.swapaxes(1, 2))
        for at in range(op.count):
            _add(op, words, at, made[at], described)


def _shared(op: Op, descriptor: Any, kind: str, rows: int, transposed: bool) -> Any:
    place = Place.of_tcgen05(op, descriptor, transposed, kind).repeated(2 * rows)
    unit = np.tile(np.arange(2 * rows), op.count)
    units = op.ctx.repeated(2 * rows).load(place.address(unit), UNIT)
    return place.matrices(units.reshape(op.count, 2 * rows, 4))


def _lanes(rows: int) -> Any:
    """The lane of each row; 64 rows lie in half of each warp's lanes."""
    row = np.arange(rows)[:, None]
    return row if rows == LANES else row // 16 * WARP + row % 16


def _tensor(op: Op, address: Any, kind: str, rows: int) -> Any:
    parts = []
    for at in range(op.count):
        memory, place = _memory(op, _ctas(op)[at]), int(address[at])
        where = np.broadcast_arrays((place >> 16) + _lanes(rows), (place & 0xFFFF) + np.arange(8)[None, :])
        parts.append(elements(memory.cells[_checked(op, memory, *where)], kind).reshape(rows, -1))
    return np.stack(parts)


def _add(op: Op, words: dict[str, Any], at: int, product: Any, described: int) -> None:
    """The sum of one product, in tensor memory."""
    memory, place = _memory(op, _ctas(op)[at]), int(words["d"][at])
    rows, columns = product.shape
    where = np.broadcast_arrays((place >> 16) + _lanes(rows), (place & 0xFFFF) + np.arange(columns)[None, :])
    cells = _checked(op, memory, *where)
    held = {0: np.float16, 1: np.float32, 2: np.int32}[(described >> 4) & 3]
    old = memory.cells[cells]
    start = old.astype(np.uint16).view(np.float16).astype(np.float32) if held is np.float16 else old.view(held)
    total = product.astype(np.int64) if held is np.int32 else product
    if words["enable-input-d"][at]:
        scale = 2.0 ** -int(words["scale-input-d"][at]) if "scale-input-d" in words else 1
        total = total + start * scale
    if described & 8:
        total = np.clip(total, -(2**31), 2**31 - 1)
    new = total.astype(held)
    new = new.view(np.uint16).astype(np.uint32) if held is np.float16 else new.view(np.uint32)
    kept = _disabled(words, at)[cells[0]]
    memory.cells[cells] = np.where(kept, old, new)


def _disabled(words: dict[str, Any], at: int) -> Any:
    """Whether a lane of D stays as it is."""
    masks = [int(word[at]) for name, word in words.items() if name.startswith("disable-output-lane")]
    return np.array([bool(masks) and bool(masks[lane // 32] >> lane % 32 & 1) for lane in range(LANES)])


def commit(op: Op, address: Any, *mask: Any) -> None:
    """The object counts one arrival when everything before is done."""
    if not mask:
        mbarrier.arrive_once(op, address)
        return
    place = op.full(np.asarray(address).astype(np.int64))
    chosen = op.full(mask[0]).astype(np.int64)
    for rank in range(op.ctx.width("cta", "cluster")):
        there = (chosen >> rank & 1).astype(bool)
        if there.any():
            mbarrier.arrive_once(Op(op.ctx.where(there), op.form), mbarrier.in_cta(place[there], rank))
