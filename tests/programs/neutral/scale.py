"""Scaling with a guard for the tail."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def scale(x: Tx.Buffer(("n",), "float32"), y: Tx.Buffer(("n",), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 128)])
    tx = Tx.thread_id([128])
    i: Tx.let = bx * 128 + tx
    if i < n:
        y[i] = a * x[i]


KERNEL = scale
TOLERANCE = 0.0


def kernel(width):
    """The same for every width."""
    return scale


def arguments(rng):
    """A length that is no multiple of anything."""
    return rng.standard_normal(1003, dtype=np.float32), np.empty(1003, np.float32), 2.5


def expected(x, y, a):
    """What the arrays hold afterwards."""
    return {"y": np.float32(a) * x}


# ruff: noqa: F821
