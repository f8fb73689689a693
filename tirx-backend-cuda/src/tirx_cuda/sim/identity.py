"""Meanings of what a thread asks about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["clock64", "mov_sreg", "thread_rank"]

_LINEAR = {"laneid": ("thread", "warp"), "warpid": ("warp", "cta")}


def thread_rank(ctx: SimContext) -> Any:
    """Linear index of the thread in its cta."""
    return np.asarray(ctx.id("thread", "cta"), dtype=np.int32)


def mov_sreg(ctx: SimContext, *, bits: int, reg_name: str) -> Any:
    """Registers that say who the thread is; of a machine's other registers there is no model."""
    levels = _LINEAR.get(reg_name.removeprefix("%"))
    kind = np.uint32 if bits == 32 else np.uint64
    if levels is None:
        ctx.unmodelled(f"special register {reg_name}")
        return np.zeros(ctx.count, kind)
    return np.asarray(ctx.id(*levels)).astype(kind)


def clock64(ctx: SimContext) -> Any:
    """Time does not pass in the simulator."""
    return np.zeros(ctx.count, np.int64)
