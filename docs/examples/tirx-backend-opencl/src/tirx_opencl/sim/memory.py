"""Meanings of fences, of the group's copies, and of printing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

__all__ = ["async_work_group_copy", "fence", "printf", "wait_group_events"]

_QUEUE = "opencl.copies"
_LENGTH = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)(?:hh|h|ll|l|z|j|t|L)?([diouxXcsfFeEgGaAp%])")


def fence(ctx: SimContext, flags: str) -> None:
    """The simulator's accesses happen in order."""


def async_work_group_copy(ctx: SimContext, dst: Any, src: Any, count: Any, dtype: str) -> None:
    """Each work-item takes every so-manieth element; nobody sees them before it has waited."""
    kind = DType(dtype)
    rank, step = ctx.id("thread", "cta"), ctx.width("thread", "cta")
    to, start, total = (np.broadcast_to(np.asarray(value, np.int64), (ctx.count,)) for value in (dst, src, count))
    for first in range(0, int(total.max(initial=0)), step):
        mine = rank + first
        there = mine < total
        active, offset = ctx.where(there), (mine * kind.bytes)[there]
        active.defer(_QUEUE, to[there] + offset, kind, active.load(start[there] + offset, kind))


def wait_group_events(ctx: SimContext) -> None:
    """What this work-item has copied is there."""
    ctx.settle(_QUEUE)


def printf(ctx: SimContext, fmt: Any, *args: Any) -> None:
    """A line for each work-item, in their order."""
    text = _LENGTH.sub(lambda found: f"%{found[1]}{found[2]}", str(fmt))
    columns = [np.broadcast_to(np.asarray(arg), (ctx.count,)) for arg in args]
    for thread in range(ctx.count):
        ctx.print(text % tuple(column[thread].item() for column in columns))
