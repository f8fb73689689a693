"""Meanings of arithmetic with the carry flag, which each thread keeps from one instruction to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from .integer import product
from .run import Op

__all__ = ["run"]


def _flags(op: Op) -> Any:
    found = op.ctx.state.get("carry")
    if found is None:
        found = op.ctx.state["carry"] = np.zeros(op.ctx.size, np.uint64)
    return found


def run(op: Op, *values: Any) -> Any:
    """`add.cc addc sub.cc subc mad.cc madc`."""
    family = op.form.row.family
    arrays = [op.full(value) for value in values]
    dtype = arrays[0].dtype
    flags, threads = _flags(op), op.ctx.threads
    incoming = flags[threads] if family in ("addc", "subc", "madc") else np.zeros(op.count, np.uint64)
    if family.startswith("mad"):
        high, low = product(arrays[0], arrays[1])
        arrays = [high if op.get("half") == "hi" else low, arrays[2]]
    bits = 8 * dtype.itemsize
    mask = np.uint64((1 << bits) - 1)
    a, b = (array.astype(np.uint64) & mask for array in arrays)
    with np.errstate(over="ignore"):
        if family.startswith("sub"):
            made = (a - b - incoming) & mask
            outgoing = (a < b) | ((a == b) & (incoming == 1))
        else:
            made = (a + b + incoming) & mask
            outgoing = (made < a) | ((made == a) & (incoming == 1))
    if op.has("cc"):
        flags[threads] = outgoing
    return made.astype(dtype)
