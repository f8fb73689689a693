"""Barriers, and exchange inside a warp. Lanes are counted in groups of `width` threads; wider masks name lanes by bits."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "storage_sync", "tvm_warp_activemask", "tvm_warp_shuffle", "tvm_warp_shuffle_down", "tvm_warp_shuffle_up",
    "tvm_warp_shuffle_xor", "warp_sync",
]  # fmt: skip


def storage_sync(ctx: Any, *, scope: str = "shared") -> None:
    """The scheduler has let everybody through already."""


def warp_sync(ctx: Any) -> None:
    """The executor has made the threads of the warp meet already."""


def check_mask(ctx: Any, mask: Any) -> None:
    """Threads that a mask names but that are not here, and threads that are here but not named, are findings."""
    lane = ctx.id("thread", "warp")
    bits = np.broadcast_to(np.asarray(mask).astype(np.uint64), (ctx.count,))
    named = (bits >> lane.astype(np.uint64)) & np.uint64(1) == 1
    ctx.finding("absent_lane", "a thread takes part that the mask does not name", ~named)
    _, present = ctx.collect(lane, "warp")
    width = min(present.shape[1], 64)
    wanted = (bits[:, None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1) == 1
    missing = (wanted & ~present[:, :width] & ctx.exist("warp")[:, :width]).any(axis=1)
    ctx.finding("absent_lane", "the mask names threads that do not take part", missing & named)


def _exchange(ctx: Any, mask: Any, value: Any, source: Any, width: Any) -> Any:
    """`value` of lane `source` of each group of `width` lanes; own value where the source is outside the group."""
    check_mask(ctx, mask)
    lane = ctx.id("thread", "warp")
    size = np.asarray(width).astype(np.int64)
    first = lane // size * size
    wanted = np.asarray(source).astype(np.int64)
    inside = (wanted >= 0) & (wanted < size)
    return ctx.exchange(value, np.where(inside, first + wanted, lane), "warp")


def tvm_warp_shuffle(ctx: Any, mask: Any, value: Any, lane: Any, width: Any, warp_size: Any) -> Any:
    """The value of thread `lane` (modulo the width) of each group."""
    return _exchange(ctx, mask, value, np.asarray(lane).astype(np.int64) % np.asarray(width), width)


def tvm_warp_shuffle_up(ctx: Any, mask: Any, value: Any, delta: Any, width: Any, warp_size: Any) -> Any:
    """The value of the thread `delta` below."""
    return _exchange(ctx, mask, value, _inner(ctx, width) - np.asarray(delta).astype(np.int64), width)


def tvm_warp_shuffle_down(ctx: Any, mask: Any, value: Any, delta: Any, width: Any, warp_size: Any) -> Any:
    """The value of the thread `delta` above."""
    return _exchange(ctx, mask, value, _inner(ctx, width) + np.asarray(delta).astype(np.int64), width)


def tvm_warp_shuffle_xor(ctx: Any, mask: Any, value: Any, lane_mask: Any, width: Any, warp_size: Any) -> Any:
    """The value of the thread whose number differs in the bits of `lane_mask`."""
    return _exchange(ctx, mask, value, _inner(ctx, width) ^ np.asarray(lane_mask).astype(np.int64), width)


def _inner(ctx: Any, width: Any) -> Any:
    return ctx.id("thread", "warp") % np.asarray(width).astype(np.int64)


def tvm_warp_activemask(ctx: Any) -> Any:
    """One bit for each thread of the warp that is here; threads for which the result has no bit are findings."""
    lane = ctx.id("thread", "warp")
    bits = ctx.dtype.bits
    message = f"thread {bits} and those above it in a warp have no bit in the {ctx.dtype} of this mask"
    ctx.finding("lost_lane", message, lane >= bits)
    _, present = ctx.collect(lane, "warp")
    width = min(present.shape[1], bits)
    places = present[:, :width].astype(np.uint64) << np.arange(width, dtype=np.uint64)
    return places.sum(axis=1).astype(np.uint32)
