"""Meanings of conversions from memory to memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

__all__ = ["float8tohalf8", "float22half2", "half8tofloat8"]

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
