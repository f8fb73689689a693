"""Meanings of asynchronous copies of a thread: what they write is seen when the thread waits for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType

from .run import Op

__all__ = ["commit_group", "cp_async", "cp_async_ignore", "wait_all", "wait_group"]

QUEUE = "cp.async"


def cp_async(op: Op, dst: Any, src: Any, size: Any, *more: Any) -> None:
    """Up to 16 bytes from global to shared memory; behind `src-size` bytes come zeros."""
    given = more[: len(more) - op.has("hint")]
    width = int(size)
    count = np.broadcast_to(np.asarray(given[0] if given else width, np.int64), (op.count,))
    _copy(op, dst, src, width, count)


def cp_async_ignore(op: Op, dst: Any, src: Any, size: Any, ignore: Any, *policy: Any) -> None:
    """The same; where `ignore-src` holds, zeros are written."""
    width = int(size)
    _copy(op, dst, src, width, np.where(op.full(ignore), 0, width))


def _copy(op: Op, dst: Any, src: Any, width: int, count: Any) -> None:
    dtype = DType("uint32").with_lanes(width // 4)
    too_many = count > width
    if too_many.any():
        op.ctx.finding("copy_size", f"src-size is larger than the {width} bytes that are copied", too_many)
    data = _read(op, np.broadcast_to(np.asarray(src, np.int64), (op.count,)), width, count, dtype)
    op.ctx.defer(QUEUE, dst, dtype, data, what=op.title, until="`cp.async.wait_group`")


def _read(op: Op, address: Any, width: int, count: Any, dtype: DType) -> Any:
    whole = count >= width
    if whole.all():
        return op.ctx.load(address, dtype)
    made = np.zeros((op.count, width), np.uint8)
    if whole.any():
        made[whole] = (
            np.ascontiguousarray(op.ctx.where(whole).load(address[whole], dtype)).view(np.uint8).reshape(-1, width)
        )
    for position in range(width):
        part = ~whole & (count > position)
        if not part.any():
            break
        made[part, position] = op.ctx.where(part).load(address[part] + position, DType("uint8"))
    words = made.view(np.uint32)
    return words[:, 0] if dtype.lanes == 1 else words


def commit_group(op: Op) -> None:
    """The copies so far become a group."""
    op.ctx.seal(QUEUE)


def wait_group(op: Op, newest: Any) -> None:
    """All groups but the newest ones are there."""
    op.ctx.settle(QUEUE, int(newest))


def wait_all(op: Op) -> None:
    """Every copy is there."""
    op.ctx.settle(QUEUE)
