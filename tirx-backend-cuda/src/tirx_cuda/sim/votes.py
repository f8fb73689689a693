"""Meanings of votes and shuffles."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

from .warp import LANES, lane_of, named, pack

__all__ = ["activemask", "any_sync", "ballot_sync", "elect_sync", "shfl", "shfl_down", "shfl_up", "shfl_xor"]


def _truth(ctx: SimContext, pred: Any) -> Any:
    return np.broadcast_to(np.asarray(pred) != 0, (ctx.count,))


def any_sync(ctx: SimContext, mask: Any, pred: Any) -> Any:
    """1 where any named thread says yes."""
    values, present = ctx.collect(_truth(ctx, pred))
    return (values.astype(bool) & named(ctx, mask, present, "any_sync")).any(axis=1).astype(np.int32)


def ballot_sync(ctx: SimContext, mask: Any, pred: Any) -> Any:
    """The named threads that say yes."""
    values, present = ctx.collect(_truth(ctx, pred))
    return pack(values.astype(bool) & named(ctx, mask, present, "ballot_sync"))


def activemask(ctx: SimContext) -> Any:
    """The threads that are here."""
    return pack(ctx.collect(_truth(ctx, True))[1])


def elect_sync(ctx: SimContext) -> Any:
    """True in the lowest thread that is here."""
    return ctx.collect(_truth(ctx, True))[1].argmax(axis=1) == lane_of(ctx)


def _exchanged(ctx: SimContext, mask: Any, value: Any, source: Any, inside: Any) -> Any:
    present = ctx.collect(_truth(ctx, True))[1]
    named(ctx, mask, present, "a shuffle")
    return ctx.exchange(np.broadcast_to(np.asarray(value), (ctx.count,)), np.where(inside, source, lane_of(ctx)))


def _group(ctx: SimContext, width: Any) -> tuple[Any, Any, Any]:
    """Own lane, first lane and end of the own group."""
    lane = lane_of(ctx).astype(np.int64)
    size = np.asarray(width, dtype=np.int64)
    first = lane // size * size
    return lane, first, first + size


def shfl(ctx: SimContext, mask: Any, var: Any, lane: Any, width: Any = LANES) -> Any:
    """The value of one thread of the group."""
    _, first, _ = _group(ctx, width)
    return _exchanged(
        ctx, mask, var, first + np.asarray(lane, dtype=np.int64) % np.asarray(width, dtype=np.int64), True
    )


def shfl_up(ctx: SimContext, mask: Any, var: Any, delta: Any, width: Any = LANES) -> Any:
    """The value of the thread `delta` below."""
    lane, first, _ = _group(ctx, width)
    source = lane - np.asarray(delta, dtype=np.int64)
    return _exchanged(ctx, mask, var, source, source >= first)


def shfl_down(ctx: SimContext, mask: Any, var: Any, delta: Any, width: Any = LANES) -> Any:
    """The value of the thread `delta` above."""
    lane, _, end = _group(ctx, width)
    source = lane + np.asarray(delta, dtype=np.int64)
    return _exchanged(ctx, mask, var, source, source < end)


def shfl_xor(ctx: SimContext, mask: Any, var: Any, lane_mask: Any, width: Any = LANES) -> Any:
    """The value of the thread whose number differs in some bits; threads of later groups are out of reach."""
    lane, _, end = _group(ctx, width)
    source = lane ^ np.asarray(lane_mask, dtype=np.int64)
    return _exchanged(ctx, mask, var, source, source < end)
