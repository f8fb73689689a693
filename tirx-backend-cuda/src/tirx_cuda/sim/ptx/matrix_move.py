"""Meanings of moves of 8x8 matrices between shared memory and the registers of a warp."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType

from .fragments import WARP, whole_warps
from .run import Op

__all__ = ["ldmatrix", "movmatrix", "stmatrix"]

_ROW = DType("uint32x4")  # 16 bytes


def _count(op: Op) -> int:
    return int(op.get("num")[1:])


def ldmatrix(op: Op, address: Any) -> Any:
    """Lanes 8i to 8i + 7 say where the rows of matrix i are; each lane gets two elements of each matrix."""
    count = _count(op)
    if not whole_warps(op):
        return tuple(np.zeros(op.count, np.uint32) for _ in range(count))
    rows = _rows(op, address, count)
    if op.has("trans"):
        halves = np.ascontiguousarray(rows).view(np.uint16).reshape(-1, count, 8, 8)
        rows = np.ascontiguousarray(halves.swapaxes(2, 3)).view(np.uint32)
    words = rows.reshape(-1, count, WARP).swapaxes(1, 2).reshape(-1, count)
    return tuple(np.ascontiguousarray(words[:, position]) for position in range(count))


def _rows(op: Op, address: Any, count: int) -> Any:
    """(warps, matrices, rows, words)."""
    addresses = np.broadcast_to(np.asarray(address, np.int64), (op.count,))
    naming = np.asarray(op.ctx.id("thread", "warp")) < 8 * count
    loaded = op.ctx.where(naming).load(addresses[naming], _ROW) if count < 4 else op.ctx.load(addresses, _ROW)
    return loaded.reshape(-1, count, 8, 4)


def stmatrix(op: Op, address: Any, *values: Any) -> None:
    """The other way round."""
    count = _count(op)
    if not whole_warps(op):
        return
    words = np.stack([op.full(value) for value in values], axis=-1).reshape(-1, WARP, count).swapaxes(1, 2)
    rows = np.ascontiguousarray(words.reshape(-1, count, 8, 4))
    if op.has("trans"):
        halves = rows.view(np.uint16).reshape(-1, count, 8, 8)
        rows = np.ascontiguousarray(halves.swapaxes(2, 3)).view(np.uint32)
    addresses = np.broadcast_to(np.asarray(address, np.int64), (op.count,))
    naming = np.asarray(op.ctx.id("thread", "warp")) < 8 * count
    data = rows.reshape(-1, 4)
    op.ctx.where(naming).store(addresses[naming], _ROW, data)


def movmatrix(op: Op, value: Any) -> Any:
    """A matrix transposed in registers."""
    if not whole_warps(op):
        return np.zeros(op.count, np.uint32)
    halves = np.ascontiguousarray(op.full(value)).view(np.uint16).reshape(-1, 8, 8)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).view(np.uint32).reshape(-1)
