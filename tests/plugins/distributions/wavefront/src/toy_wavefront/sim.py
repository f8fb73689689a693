"""What the intrinsics mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from tirx.intrinsic import SimContext

__all__ = ["wave_sum"]


def wave_sum(ctx: SimContext, value: Any) -> Any:
    """Each thread gets the sum over its wave; threads that are not there add nothing."""
    rows, present = ctx.collect(np.broadcast_to(value, (ctx.count,)), "warp")
    return np.where(present, rows, 0).sum(axis=-1).astype(np.asarray(value).dtype)
