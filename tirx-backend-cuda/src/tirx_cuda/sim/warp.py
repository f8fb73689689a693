"""What the meanings of warp functions share: lanes, masks, who is absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["LANES", "OPERATIONS", "bits_of", "lane_of", "named", "pack"]

LANES = 32

Combine = Callable[[Any, Any], Any]
OPERATIONS: dict[str, Combine] = {"sum": np.add, "max": np.fmax, "min": np.fmin}


def lane_of(ctx: SimContext) -> Any:
    """Per active thread, its number in its warp."""
    return np.asarray(ctx.id("thread", "warp"))


def bits_of(ctx: SimContext, mask: Any) -> Any:
    """A mask as one truth value for each thread and lane."""
    words = np.broadcast_to(np.asarray(mask, dtype=np.uint64), (ctx.count,))
    shifted = words[:, None] >> np.arange(LANES, dtype=np.uint64)
    return (shifted & np.uint64(1)).astype(bool)


def named(ctx: SimContext, mask: Any, present: Any, what: str) -> Any:
    """Which lanes take part: those of the mask that are here. Named but absent ones are a finding."""
    wanted = bits_of(ctx, mask)
    absent = (wanted & ~present).any(axis=1)
    if absent.any():
        ctx.finding("absent_lanes", f"the mask of {what} names lanes that are not here", absent)
    missing = ~wanted[np.arange(ctx.count), lane_of(ctx)]
    if missing.any():
        ctx.finding("absent_lanes", f"a thread calls {what} that its mask does not name", missing)
    return wanted & present


def pack(bits: Any) -> Any:
    """Truth values by lane as a mask."""
    return (bits.astype(np.uint64) << np.arange(LANES, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
