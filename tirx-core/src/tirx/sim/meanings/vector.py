"""Vectors of small integers."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["dp4a"]


def dp4a(ctx: Any, a: Any, b: Any, acc: Any) -> Any:
    """`acc` plus the dot product of four 8-bit integers, wrapped to 32 bits."""
    total = (np.asarray(a).astype(np.int64) * np.asarray(b).astype(np.int64)).sum(axis=-1)
    return (np.asarray(acc).astype(np.int64) + total).astype(np.asarray(acc).dtype)
