"""Meanings of vectors that are aligned as one element: each lane is an access of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

__all__ = ["vload", "vstore"]


def vload(ctx: SimContext, src: Any, lanes: int, dtype: str) -> Any:
    """The lanes, one after the other."""
    kind, start = DType(dtype), np.broadcast_to(np.asarray(src, np.int64), (ctx.count,))
    return np.stack([ctx.load(start + lane * kind.bytes, kind) for lane in range(lanes)], axis=-1)


def vstore(ctx: SimContext, value: Any, dst: Any, dtype: str) -> None:
    """The lanes, one after the other."""
    lanes = np.broadcast_to(value, (ctx.count, np.shape(value)[-1]))
    kind, start = DType(dtype), np.broadcast_to(np.asarray(dst, np.int64), (ctx.count,))
    for lane in range(lanes.shape[-1]):
        ctx.store(start + lane * kind.bytes, kind, lanes[:, lane])
