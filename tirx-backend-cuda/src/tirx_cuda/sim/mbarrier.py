"""Waiting at barriers in shared memory, which are those of `Tx.ptx.mbarrier`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

from .ptx.mbarrier import wait_parity

__all__ = ["wait"]


class _Wait:
    """What the instruction's meaning needs of its call."""

    def __init__(self, ctx: SimContext) -> None:
        self.ctx = ctx
        self.count = ctx.count

    def full(self, value: Any) -> Any:
        """A value for each thread."""
        return np.broadcast_to(np.asarray(value), (self.count,))


def wait(ctx: SimContext, bar: Any, phase: Any) -> Any:
    """Who may go on: those whose phase is over."""
    call: Any = _Wait(ctx)
    return wait_parity(call, bar, phase)
