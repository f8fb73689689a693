"""Meanings of reductions, in the order in which the generated helpers combine, so that rounding agrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

from .warp import LANES, OPERATIONS, lane_of, named

__all__ = ["cta_reduce", "reduce_add_sync", "reduce_min_sync", "warp_reduce"]


def warp_reduce(ctx: SimContext, value: Any, op: str, width: int = LANES) -> Any:
    """A butterfly over `width` lanes."""
    combine, lane = OPERATIONS[str(op)], lane_of(ctx)
    value = np.broadcast_to(np.asarray(value), (ctx.count,))
    kind, step = value.dtype, int(width) // 2
    while step:
        value = combine(value, ctx.exchange(value, lane ^ step)).astype(kind)
        step //= 2
    return value


def cta_reduce(ctx: SimContext, value: Any, op: str, num_warps: int, scratch: Any) -> Any:
    """Warps by butterflies, then one warp after the other."""
    combine = OPERATIONS[str(op)]
    parts, _ = ctx.collect(warp_reduce(ctx, value, op), "cta")
    total = parts[:, 0]
    for warp in range(1, int(num_warps)):
        total = combine(total, parts[:, warp * LANES]).astype(parts.dtype)
    return total


def _over_mask(ctx: SimContext, mask: Any, value: Any, what: str, neutral: int, reduce: Any) -> Any:
    values, present = ctx.collect(np.broadcast_to(np.asarray(value, dtype=np.uint32), (ctx.count,)))
    chosen = named(ctx, mask, present, what)
    return reduce(np.where(chosen, values.astype(np.uint64), np.uint64(neutral)), axis=1).astype(np.uint32)


def reduce_add_sync(ctx: SimContext, mask: Any, v: Any) -> Any:
    """The sum over the named lanes, modulo 2**32."""
    return _over_mask(ctx, mask, v, "reduce_add_sync_u32", 0, np.sum)


def reduce_min_sync(ctx: SimContext, mask: Any, v: Any) -> Any:
    """The smallest value of the named lanes."""
    return _over_mask(ctx, mask, v, "reduce_min_sync_u32", 2**32 - 1, np.min)
