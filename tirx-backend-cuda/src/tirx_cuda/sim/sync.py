"""Meanings of barriers and fences. Who waits for whom is said by the row's effect; what is left are the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = [
    "cluster_sync", "cta_sync", "grid_sync", "nano_sleep", "syncthreads_and", "syncthreads_or", "thread_fence", "warp_sync",
    "warpgroup_sync",
]  # fmt: skip


def cta_sync(ctx: SimContext) -> None:
    """The executor has made all threads of the cta meet."""


def warp_sync(ctx: SimContext) -> None:
    """The executor has made all threads of the warp meet."""


def warpgroup_sync(ctx: SimContext, bar_no: Any) -> None:
    """The executor has made the threads of the named barrier meet."""
    wrong = (np.broadcast_to(np.asarray(bar_no), (ctx.count,)) < 0) | (
        np.broadcast_to(np.asarray(bar_no), (ctx.count,)) > 15
    )
    if wrong.any():
        ctx.finding("barrier_number", "named barriers are 0 to 15", wrong)


def cluster_sync(ctx: SimContext) -> None:
    """The executor has made all threads of the cluster meet."""


def grid_sync(ctx: SimContext) -> None:
    """The executor has made all threads of the grid meet."""


def thread_fence(ctx: SimContext) -> None:
    """Memory of the simulator is seen in order."""


def nano_sleep(ctx: SimContext, time: Any) -> None:
    """Time does not pass in the simulator."""


def syncthreads_and(ctx: SimContext, cond: Any) -> Any:
    """1 where the condition holds in all threads of the cta that are here."""
    values, present = ctx.collect(_truth(ctx, cond), "cta")
    return (values.astype(bool) | ~present).all(axis=1).astype(np.int32)


def syncthreads_or(ctx: SimContext, cond: Any) -> Any:
    """1 where the condition holds in any of them."""
    values, present = ctx.collect(_truth(ctx, cond), "cta")
    return (values.astype(bool) & present).any(axis=1).astype(np.int32)


def _truth(ctx: SimContext, cond: Any) -> Any:
    return np.broadcast_to(np.asarray(cond) != 0, (ctx.count,))
