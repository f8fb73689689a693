"""Meanings of arithmetic functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["fadd2_rn", "fdividef", "ffs", "fmul2_rn", "hmax2", "hmin2"]


def fdividef(ctx: SimContext, x: Any, y: Any) -> Any:
    """X / y; the device may differ in the last two bits."""
    with np.errstate(all="ignore"):
        return (np.asarray(x, np.float32) / np.asarray(y, np.float32)).astype(np.float32)


def ffs(ctx: SimContext, v: Any) -> Any:
    """1 + position of the lowest bit that is set."""
    word = np.asarray(v).astype(np.int64) & 0xFFFFFFFF
    lowest = word & -word
    return np.where(word == 0, 0, np.log2(np.maximum(lowest, 1)).astype(np.int64) + 1).astype(np.int32)


def hmin2(ctx: SimContext, a: Any, b: Any) -> Any:
    """The smaller of each half; a NaN gives way."""
    return np.fmin(np.asarray(a), np.asarray(b))


def hmax2(ctx: SimContext, a: Any, b: Any) -> Any:
    """The larger of each half; a NaN gives way."""
    return np.fmax(np.asarray(a), np.asarray(b))


def fmul2_rn(ctx: SimContext, a: Any, b: Any) -> Any:
    """The product of each lane."""
    with np.errstate(all="ignore"):
        return np.asarray(a, np.float32) * np.asarray(b, np.float32)


def fadd2_rn(ctx: SimContext, a: Any, b: Any) -> Any:
    """The sum of each lane."""
    with np.errstate(all="ignore"):
        return np.asarray(a, np.float32) + np.asarray(b, np.float32)
