"""Meanings of conversions from memory to memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

__all__ = ["float8tohalf8", "float22half2", "half8tofloat8", "to_e2m1x8"]

_NUMPY = {"float16": np.float16, "float32": np.float32}


def _convert(ctx: SimContext, dst: Any, src: Any, target: str, source: str, lanes: int) -> None:
    values = ctx.load(src, DType(f"{source}x{lanes}"))
    with np.errstate(over="ignore"):
        ctx.store(dst, DType(f"{target}x{lanes}"), np.asarray(values).astype(_NUMPY[target]))


def float22half2(ctx: SimContext, dst: Any, src: Any) -> None:
    """Two floats to two halves."""
    _convert(ctx, dst, src, "float16", "float32", 2)


def half8tofloat8(ctx: SimContext, src: Any, dst: Any) -> None:
    """Eight halves to eight floats."""
    _convert(ctx, dst, src, "float32", "float16", 8)


def float8tohalf8(ctx: SimContext, src: Any, dst: Any) -> None:
    """Eight floats to eight halves."""
    _convert(ctx, dst, src, "float16", "float32", 8)


_E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
_TIES = (_E2M1[1:] + _E2M1[:-1]) / 2


def _e2m1(value: Any) -> Any:
    """Four bits for each value: to nearest, ties to even, no further than 6; NaN becomes 6."""
    size = np.abs(value)
    code = np.searchsorted(_TIES, size, side="left")
    tie = np.isin(size, _TIES)
    code = np.where(tie & (code % 2 == 1), code + 1, code)
    nan = np.isnan(value)
    return np.where(nan, 7, code | np.signbit(value).astype(np.int64) << 3).astype(np.uint32)


def to_e2m1x8(ctx: SimContext, *values: Any) -> Any:
    """Eight values in one word."""
    word = np.zeros(ctx.count, np.uint32)
    for position, value in enumerate(values):
        word = word | _e2m1(np.broadcast_to(np.asarray(value, np.float32), (ctx.count,))) << np.uint32(4 * position)
    return word
