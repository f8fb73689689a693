"""Meanings of integer functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["add_sat", "hadd", "mul_hi", "rhadd", "rotate", "sub_sat"]


def _each(ctx: SimContext, function: Callable[[int, int, int], int], a: Any, b: Any) -> Any:
    """`function(a, b, bits)` on Python's integers, which do not overflow."""
    bits = ctx.dtype.bits
    left, right = np.broadcast_arrays(np.asarray(a), np.asarray(b))
    found = [function(int(x), int(y), bits) for x, y in zip(left.flat, right.flat, strict=True)]
    return np.array(found, left.dtype).reshape(left.shape)


def _saturated(ctx: SimContext, value: int) -> int:
    return min(max(value, ctx.dtype.min_int), ctx.dtype.max_int)


def mul_hi(ctx: SimContext, a: Any, b: Any) -> Any:
    """The upper half of the product."""
    return _each(ctx, lambda x, y, bits: (x * y) >> bits, a, b)


def add_sat(ctx: SimContext, a: Any, b: Any) -> Any:
    """The saturated sum."""
    return _each(ctx, lambda x, y, bits: _saturated(ctx, x + y), a, b)


def sub_sat(ctx: SimContext, a: Any, b: Any) -> Any:
    """The saturated difference."""
    return _each(ctx, lambda x, y, bits: _saturated(ctx, x - y), a, b)


def hadd(ctx: SimContext, a: Any, b: Any) -> Any:
    """Half of the sum, rounded down."""
    return _each(ctx, lambda x, y, bits: (x + y) >> 1, a, b)


def rhadd(ctx: SimContext, a: Any, b: Any) -> Any:
    """Half of the sum, rounded up."""
    return _each(ctx, lambda x, y, bits: (x + y + 1) >> 1, a, b)


def rotate(ctx: SimContext, a: Any, b: Any) -> Any:
    """The bits of `a`, rotated to the left by `b`."""

    def turned(x: int, y: int, bits: int) -> int:
        word, by = x & ((1 << bits) - 1), y % bits
        found = (word << by | word >> (bits - by)) & ((1 << bits) - 1)
        return found - (1 << bits) if ctx.dtype.is_int and found >> (bits - 1) else found

    return _each(ctx, turned, a, b)
