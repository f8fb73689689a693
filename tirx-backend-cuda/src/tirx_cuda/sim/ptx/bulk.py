"""Meanings of bulk copies: one thread moves many bytes, and others see them when they wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirx.ir import DType
from tirx.sim.memory import SHARED_RANK_BITS

from .atomic import update_of
from .mbarrier import complete_on
from .run import NUMPY, Op

__all__ = [
    "between", "commit_group", "promised", "red_async", "reduce", "st_async", "to_global", "to_shared", "wait_group",
]  # fmt: skip

QUEUE = "cp.async.bulk"
_ROW = DType("uint32x4")  # 16 bytes, the unit of bulk copies


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
    return many, many.load(_spread(op.full(np.asarray(src).astype(np.int64)), rows), _ROW)


def promised(
    op: Op, dst: Any, rows: Any, dtype: DType, data: Any, update: Callable[[Any, Any], Any] | None
) -> list[Any]:
    """A promise for each thread."""
    many: Any = op.ctx.repeated(rows)
    step = dtype.bytes
    whole = many.promise(_spread(op.full(np.asarray(dst).astype(np.int64)), rows, step), dtype, data, update)
    owner = np.repeat(np.arange(op.count), rows)
    made = []
    for thread in range(op.count):
        kept = owner == thread
        made.append(whole.split(kept))
        owner = owner[~kept]
    return made


def to_shared(op: Op, dst: Any, src: Any, size: Any, mbar: Any, *more: Any) -> None:
    """From global to shared memory; an mbarrier counts the bytes. With `.multicast` to several ctas, at the same places."""
    rows = _rows(op, size)
    _, data = _loaded(op, src, rows)
    if op.has("multicast"):
        _multicast(op, dst, rows, data, size, mbar, op.full(more[0]))
        return
    complete_on(op, mbar, size, promised(op, dst, rows, _ROW, data, None))


def _multicast(op: Op, dst: Any, rows: Any, data: Any, size: Any, mbar: Any, mask: Any) -> None:
    low = (1 << SHARED_RANK_BITS) - 1
    ctas = op.ctx.width("cta", "cluster")
    for rank in range(ctas):
        chosen = (mask.astype(np.int64) >> rank) & 1 == 1
        if not chosen.any():
            continue
        part = Op(op.ctx.where(chosen), op.form)
        kept = np.repeat(chosen, rows)
        there = [
            (op.full(np.asarray(item).astype(np.int64))[chosen] & low) | ((rank + 1) << SHARED_RANK_BITS)
            for item in (dst, mbar)
        ]
        promises = promised(part, there[0], rows[chosen], _ROW, data[kept], None)
        complete_on(part, there[1], op.full(size)[chosen], promises)


def between(op: Op, dst: Any, src: Any, size: Any, mbar: Any) -> None:
    """From shared memory to that of another cta of the cluster."""
    rows = _rows(op, size)
    _, data = _loaded(op, src, rows)
    complete_on(op, mbar, size, promised(op, dst, rows, _ROW, data, None))


def to_global(op: Op, dst: Any, src: Any, size: Any, *policy: Any) -> None:
    """From shared to global memory; the thread waits for its groups of copies."""
    rows = _rows(op, size)
    many, data = _loaded(op, src, rows)
    many.defer(QUEUE, _spread(op.full(np.asarray(dst).astype(np.int64)), rows), _ROW, data)


def commit_group(op: Op) -> None:
    """The copies so far become a group."""
    op.ctx.seal(QUEUE)


def wait_group(op: Op, newest: Any) -> None:
    """All groups but the newest are written (with `.read`: only their sources are free again)."""
    if not op.has("read"):
        op.ctx.settle(QUEUE, int(newest))


def _element(op: Op) -> DType:
    """The type that a reduction combines: the last word of the mnemonic."""
    return DType(NUMPY[op.form.mnemonic.split(".")[-1]][0].name)


def reduce(op: Op, dst: Any, src: Any, size: Any, *more: Any) -> None:
    """Elements of shared memory are combined with those of global memory, or of another cta."""
    rows = _rows(op, size)
    _, data = _loaded(op, src, rows)
    dtype, update = _element(op), update_of(op)
    flat = np.ascontiguousarray(data).view(NUMPY[op.form.mnemonic.split(".")[-1]][0]).reshape(-1)
    each = rows * (16 // dtype.bytes)
    if op.has("mb"):
        complete_on(op, more[0], size, promised(op, dst, each, dtype, flat, update))
        return
    many: Any = op.ctx.repeated(each)
    many.defer(QUEUE, _spread(op.full(np.asarray(dst).astype(np.int64)), each, dtype.bytes), dtype, flat, update)


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
