"""Vectors of small integers."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["dp4a", "lane", "with_lane"]


def dp4a(ctx: Any, a: Any, b: Any, acc: Any) -> Any:
    """`acc` plus the dot product of four 8-bit integers, wrapped to 32 bits."""
    total = (np.asarray(a).astype(np.int64) * np.asarray(b).astype(np.int64)).sum(axis=-1)
    return (np.asarray(acc).astype(np.int64) + total).astype(np.asarray(acc).dtype)


def lane(ctx: Any, pair: Any, index: Any) -> Any:
    """One lane of each vector."""
    rows, which = _aligned(pair, index)
    return np.take_along_axis(rows, which, axis=1)[:, 0]


def with_lane(ctx: Any, pair: Any, index: Any, element: Any) -> Any:
    """Vectors with one lane replaced."""
    rows, which = _aligned(pair, index)
    made = rows.copy()
    value = np.asarray(element)
    np.put_along_axis(made, which, value[:, None] if value.ndim else value, axis=1)
    return made


def _aligned(pair: Any, index: Any) -> tuple[Any, Any]:
    """Vectors and lane numbers, both a row per thread."""
    which = np.asarray(index).astype(np.int64).reshape(-1, 1)
    count = max(len(pair), len(which))
    return np.broadcast_to(pair, (count, pair.shape[1])), np.broadcast_to(which, (count, 1))
