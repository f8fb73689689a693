"""Meanings of the event log. Time is what ran so far (`SimContext.elapsed`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

from ..timer import BEGIN, END, FINAL
from .warp import lane_of

__all__ = ["timer_end", "timer_finalize", "timer_init", "timer_start"]

_LOG = DType("uint64")


def _column(ctx: SimContext, value: Any) -> Any:
    return np.broadcast_to(np.asarray(value), (ctx.count,))


def timer_init(
    ctx: SimContext,
    buf: Any,
    tag: Any,
    offset: Any,
    num_groups: Any,
    group_id: Any,
    *,
    tag_dtype: str,
    offset_dtype: str,
) -> None:
    """Who writes, where the first entry goes, and the header by one thread."""
    groups = _column(ctx, num_groups).astype(np.int64)
    writer = np.asarray(ctx.id("cta", "kernel")) * groups + _column(ctx, group_id)
    ctx.store(tag, DType(tag_dtype), writer << 12)
    ctx.store(offset, DType(offset_dtype), writer + 1)
    chosen = (writer == 0) & (lane_of(ctx) == 0)
    if chosen.any() and "timer_header" not in ctx.state:
        ctx.state["timer_header"] = True
        one = np.arange(ctx.count) == int(np.argmax(chosen))
        header = int(groups[0]) << 32 | ctx.width("cta", "kernel")
        ctx.where(one).store(_column(ctx, buf)[one], _LOG, np.array([header], np.uint64))


def _entry(ctx: SimContext, what: Any, values: tuple[Any, ...], kinds: tuple[str, str]) -> None:
    buf, tag, offset, stride, leader = values
    place = np.asarray(ctx.load(offset, DType(kinds[1]))).astype(np.int64)
    chosen = _column(ctx, leader).astype(bool)
    if chosen.any():
        some = ctx.where(chosen)
        who = np.asarray(some.load(_column(ctx, tag)[chosen], DType(kinds[0]))).astype(np.uint64)
        word = who | _column(ctx, what)[chosen].astype(np.uint64) | np.uint64(ctx.elapsed % 2**32) << np.uint64(32)
        some.store((_column(ctx, buf) + place * 8)[chosen], _LOG, word)
    ctx.store(offset, DType(kinds[1]), place + _column(ctx, stride))


def timer_start(ctx: SimContext, event: Any, *values: Any, tag_dtype: str, offset_dtype: str) -> None:
    """An event begins."""
    _entry(ctx, np.asarray(event) << 2 | BEGIN, values, (tag_dtype, offset_dtype))


def timer_end(ctx: SimContext, event: Any, *values: Any, tag_dtype: str, offset_dtype: str) -> None:
    """An event ends."""
    _entry(ctx, np.asarray(event) << 2 | END, values, (tag_dtype, offset_dtype))


def timer_finalize(ctx: SimContext, *values: Any, tag_dtype: str, offset_dtype: str) -> None:
    """The log of a group ends."""
    _entry(ctx, FINAL, values, (tag_dtype, offset_dtype))
