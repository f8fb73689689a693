"""Scaling an array of any length: one thread for each element, and a guard for the tail."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def scale(x: Tx.Buffer(("n",), "float32"), y: Tx.Buffer(("n",), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 256)])
    tx = Tx.thread_id([256])
    i: Tx.let = bx * 256 + tx
    if i < n:
        y[i] = a * x[i]


KERNEL = scale
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, n=1_000_003):
    """An input of `n` elements, room for the output, a factor."""
    return rng.standard_normal(n, dtype=np.float32), np.empty(n, np.float32), np.float32(2.5)


def expected(x, y, a):
    """What the arrays hold afterwards."""
    return {"y": a * x}
