"""Whether two arrays hold the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def ordered(array: Any) -> Any:
    """Floats as integers in the same order, so that neighbours differ by one; both zeros are 0."""
    bits = array.view(UNSIGNED[array.dtype.itemsize]).astype(object)
    sign = 1 << (8 * array.dtype.itemsize - 1)
    return np.where(bits >= sign, sign - bits, bits)


def distance(a: Any, b: Any) -> int:
    """The largest difference in units of the last place; NaN differs only from numbers, integers and signs must be equal."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return 0
    if a.dtype.kind in "iub":
        return 0 if np.array_equal(a, b) else 1 << 64
    with np.errstate(invalid="ignore"):  # NaNs that signal
        nan, other = np.isnan(a.astype(np.float64)), np.isnan(b.astype(np.float64))
    if not np.array_equal(nan, other):
        return 1 << 64
    apart = np.where(nan, 0, np.abs(ordered(a) - ordered(b)))
    return int(apart.max(initial=0))


def largest_difference(a: Any, b: Any) -> float:
    """Relative to the size of the values."""
    wide_a, wide_b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    scale = max(1.0, float(np.max(np.abs(wide_b), initial=0.0)))
    return float(np.max(np.abs(wide_a - wide_b), initial=0.0)) / scale


def where(a: Any, b: Any, ulp: int = 0) -> str:
    """The first places that differ, for messages."""
    flat_a, flat_b = np.ravel(a), np.ravel(b)
    bad = [i for i in range(len(flat_a)) if distance(flat_a[i : i + 1], flat_b[i : i + 1]) > ulp]
    shown = ", ".join(f"[{i}] {flat_a[i]!r} and {flat_b[i]!r}" for i in bad[:6])
    return f"{len(bad)} of {len(flat_a)} differ: {shown}"
