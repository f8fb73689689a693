"""Meanings of the native functions: the exact ones of NumPy, of which a device may be some way off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = [
    "mad", "native_cos", "native_divide", "native_exp", "native_exp2", "native_exp10", "native_log", "native_log2",
    "native_log10", "native_powr", "native_recip", "native_rsqrt", "native_sin", "native_sqrt", "native_tan",
]  # fmt: skip


def _meaning(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` computed in float64 and rounded once."""

    def meaning(ctx: SimContext, *values: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(function(*(np.asarray(value, np.float64) for value in values))).astype(np.float32)

    return meaning


native_cos = _meaning(np.cos)
native_divide = _meaning(np.divide)
native_exp = _meaning(np.exp)
native_exp2 = _meaning(np.exp2)
native_exp10 = _meaning(lambda x: np.power(10.0, x))
native_log = _meaning(np.log)
native_log2 = _meaning(np.log2)
native_log10 = _meaning(np.log10)
native_powr = _meaning(lambda x, y: np.where(np.asarray(x) < 0, np.nan, np.power(x, y)))  # it is for x >= 0
native_recip = _meaning(np.reciprocal)
native_rsqrt = _meaning(lambda x: 1 / np.sqrt(x))
native_sin = _meaning(np.sin)
native_sqrt = _meaning(np.sqrt)
native_tan = _meaning(np.tan)
mad = _meaning(lambda a, b, c: a * b + c)
