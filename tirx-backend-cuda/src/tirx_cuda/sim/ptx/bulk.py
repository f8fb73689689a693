"""Meanings of bulk copies: one thread moves many bytes, and others see them when they wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirx.ir import DType

from .address import in_cta, rank_of
from .atomic import update_of
from .mbarrier import complete_on
from .run import NUMPY, Op
from .turned import mark

__all__ = [
    "ON_GROUP", "ON_MBARRIER", "ON_READ", "QUEUE", "ROW", "between", "commit_group", "masked", "promised", "red_async",
    "reduce", "st_async", "targets", "to_global", "to_shared", "wait_group", "within",
]  # fmt: skip

QUEUE = "cp.async.bulk"
_BYTE = DType("uint8")
ROW = DType("uint32x4")  # 16 bytes, the unit of bulk copies
ON_MBARRIER, ON_GROUP = "a wait for its mbarrier", "`cp.async.bulk.wait_group`"
ON_READ = "`cp.async.bulk.wait_group.read`"


def _rows(op: Op, size: Any) -> Any:
    """How many units each thread moves; sizes that are no multiple are findings."""
    size = op.full(size).astype(np.int64)
    wrong = size % 16 != 0
    if wrong.any():
        op.ctx.finding("copy_size", f"{op.form.mnemonic} moves a multiple of 16 bytes", wrong)
    return size // 16


def _spread(base: Any, rows: Any, step: int = 16) -> Any:
    """The addresses of all units, thread after thread."""
    first = np.repeat(np.asarray(base).astype(np.int64), rows)
    start = np.repeat(np.cumsum(rows) - rows, rows)
    return first + step * (np.arange(len(first)) - start)


def _loaded(op: Op, src: Any, rows: Any) -> Any:
    many: Any = op.ctx.repeated(rows)
    return many, many.load(_spread(op.full(np.asarray(src).astype(np.int64)), rows), ROW)


def _reading(op: Op, src: Any, rows: Any, queue: str | None) -> list[Any]:
    """For each thread, the places in shared memory that its copy reads until it is waited for."""
    found, base = [], op.full(np.asarray(src).astype(np.int64))
    for thread, one in enumerate(op.each()):
        many: Any = one.ctx.repeated(rows[thread : thread + 1])
        addresses = _spread(base[thread : thread + 1], rows[thread : thread + 1])
        until = ON_MBARRIER if queue is None else ON_READ
        found.append(many.watch(addresses, ROW, queue=queue, what=op.title, until=until, fenced=True))
    return found


def promised(
    op: Op, dst: Any, rows: Any, dtype: DType, data: Any, update: Callable[[Any, Any], Any] | None
) -> list[Any]:
    """A promise for each thread."""
    base, ends = op.full(np.asarray(dst).astype(np.int64)), np.cumsum(rows)
    made = []
    for thread, one in enumerate(op.each()):
        count = rows[thread : thread + 1]
        many: Any = one.ctx.repeated(count)
        part = data[ends[thread] - count[0] : ends[thread]]
        places = _spread(base[thread : thread + 1], count, dtype.bytes)
        mark(one, places, None)
        made.append(many.promise(places, dtype, part, update, what=op.title, until=ON_MBARRIER, apart=True))
    return made


def to_shared(op: Op, dst: Any, src: Any, size: Any, mbar: Any, *more: Any) -> None:
    """From global to shared memory; an mbarrier counts the bytes. With `.multicast` to several ctas, at the same places."""
    rows = _rows(op, size)
    _, data = _loaded(op, src, rows)
    mask = op.full(more[0]) if "multicast" in op.form.mnemonic else None
    for part, there, bar, chosen in targets(op, dst, mbar, mask):
        promises = promised(part, there, rows[chosen], ROW, data[np.repeat(chosen, rows)], None)
        complete_on(part, bar, op.full(size)[chosen], promises)


def targets(op: Op, dst: Any, mbar: Any, mask: Any) -> list[tuple[Op, Any, Any, Any]]:
    """`(instruction, destinations, mbarriers, threads)` for each cta that a copy goes to: with a mask, those it names.

    In pairs of ctas (`cta_group::2`) the mbarrier is that of the cta of the pair in which the given one lies.
    """
    place, bar = (op.full(np.asarray(item).astype(np.int64)) for item in (dst, mbar))
    everyone = np.ones(op.count, bool)
    if mask is None:
        return [(op, place, bar, everyone)]
    found = []
    for rank in range(op.ctx.width("cta", "cluster")):
        chosen = (mask.astype(np.int64) >> rank) & 1 == 1
        if not chosen.any():
            continue
        part = op.where(chosen)
        parity = rank_of(bar[chosen]) & 1
        home = (rank & ~1) | parity if op.get("group") == "cta_group::2" else rank
        found.append((part, in_cta(place[chosen], rank), in_cta(bar[chosen], home), chosen))
    return found


def between(op: Op, dst: Any, src: Any, size: Any, mbar: Any) -> None:
    """From shared memory to that of another cta of the cluster."""
    rows = _rows(op, size)
    _, data = _loaded(op, src, rows)
    reading, writing = _reading(op, src, rows, None), promised(op, dst, rows, ROW, data, None)
    complete_on(op, mbar, size, [_kept(pair) for pair in zip(reading, writing, strict=True)])


def _kept(items: Any) -> list[Any]:
    return [item for item in items if item is not None]


def within(op: Op, dst: Any, src: Any, size: Any, left: Any, right: Any, mbar: Any, *policy: Any) -> None:
    """`.ignore_oob`: some bytes at both ends are not read; here those of the destination stay. The mbarrier counts all."""
    rows = _rows(op, size)
    left, right = (op.full(item).astype(np.int64) for item in (left, right))
    wrong = (left > 15) | (right > 15) | (left + right > 16 * rows)
    if wrong.any():
        op.ctx.finding("copy_size", f"{op.form.mnemonic} ignores up to 15 bytes at an end, none twice", wrong)
    count = np.where(wrong, 0, 16 * rows - left - right)
    many: Any = op.ctx.repeated(count)
    start = op.full(np.asarray(src).astype(np.int64)) + left
    data = many.load(_spread(start, count, 1), _BYTE)
    promises = promised(op, op.full(np.asarray(dst).astype(np.int64)) + left, count, _BYTE, data, None)
    complete_on(op, mbar, size, promises)


def to_global(op: Op, dst: Any, src: Any, size: Any, *more: Any) -> list[Any]:
    """From shared to global memory; the thread waits for its groups of copies. The bytes of each thread are the answer."""
    rows = _rows(op, size)
    many, data = _loaded(op, src, rows)
    _reading(op, src, rows, QUEUE)
    places = _spread(op.full(np.asarray(dst).astype(np.int64)), rows)
    if op.has("cp_mask"):
        chosen = np.repeat(masked(op, more[-1]), rows, axis=0)
        at, byte = np.nonzero(chosen)
        many = op.ctx.repeated(np.bincount(np.repeat(np.arange(op.count), rows)[at], minlength=op.count))
        bytes_of_rows = np.ascontiguousarray(data).view(np.uint8)
        many.defer(QUEUE, places[at] + byte, _BYTE, bytes_of_rows[at, byte], what=op.title, until=ON_GROUP, apart=True)
    else:
        many.defer(QUEUE, places, ROW, data, what=op.title, until=ON_GROUP, apart=True)
    return _of_threads(data, rows)


def masked(op: Op, mask: Any) -> Any:
    """Which bytes of sixteen are copied: (threads, 16)."""
    return op.full(mask).astype(np.int64)[:, None] >> np.arange(16) & 1 == 1


def _of_threads(data: Any, rows: Any) -> list[Any]:
    whole = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    return np.split(whole, np.cumsum(16 * rows)[:-1])


def commit_group(op: Op) -> None:
    """The copies so far become a group."""
    op.ctx.seal(QUEUE)


def wait_group(op: Op, newest: Any) -> None:
    """All groups but the newest are written (with `.read`: only their sources are free again)."""
    if op.has("read"):
        op.ctx.free(QUEUE, int(newest))
    else:
        op.ctx.settle(QUEUE, int(newest))


def _element(op: Op) -> DType:
    """The type that a reduction combines: the last word of the mnemonic."""
    return DType(NUMPY[op.form.mnemonic.split(".")[-1]][0].name)


def reduce(op: Op, dst: Any, src: Any, size: Any, *more: Any) -> list[Any]:
    """Elements of shared memory are combined with those of global memory, or of another cta. The bytes of each thread are the answer."""
    rows = _rows(op, size)
    _, data = _loaded(op, src, rows)
    dtype, update = _element(op), update_of(op)
    flat = np.ascontiguousarray(data).view(NUMPY[op.form.mnemonic.split(".")[-1]][0]).reshape(-1)
    each = rows * (16 // dtype.bytes)
    if op.has("mb"):
        reading, writing = _reading(op, src, rows, None), promised(op, dst, each, dtype, flat, update)
        complete_on(op, more[0], size, [_kept(pair) for pair in zip(reading, writing, strict=True)])
        return _of_threads(data, rows)
    _reading(op, src, rows, QUEUE)
    many: Any = op.ctx.repeated(each)
    places = _spread(op.full(np.asarray(dst).astype(np.int64)), each, dtype.bytes)
    many.defer(QUEUE, places, dtype, flat, update, what=op.title, until=ON_GROUP, apart=True)
    return _of_threads(data, rows)


def st_async(op: Op, address: Any, *values: Any) -> None:
    """A store to another cta's shared memory that its mbarrier counts."""
    *parts, mbar = values
    kind = op.form.parts[1].type
    assert kind is not None
    dtype = DType(NUMPY[kind.name][0].name)
    count = len(parts)
    ones = np.full(op.count, count, np.int64)
    data = np.stack([op.full(part) for part in parts], axis=1).reshape(-1)
    complete_on(op, mbar, np.full(op.count, count * dtype.bytes), promised(op, address, ones, dtype, data, None))


def red_async(op: Op, address: Any, value: Any, mbar: Any) -> None:
    """An atomic update of another cta's shared memory that its mbarrier counts."""
    dtype = _element(op)
    ones = np.ones(op.count, np.int64)
    promises = promised(op, address, ones, dtype, op.full(value), update_of(op))
    complete_on(op, mbar, np.full(op.count, dtype.bytes), promises)
