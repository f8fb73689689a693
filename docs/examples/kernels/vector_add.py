"""Adding vectors, four elements for each thread through 128-bit loads and stores."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def vector_add(a: Tx.Buffer(("n",), "float32"), b: Tx.Buffer(("n",), "float32"), c: Tx.Buffer(("n",), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 1024)])
    tx = Tx.thread_id([256])
    i: Tx.let = (bx * 256 + tx) * 4
    if i + 3 < n:
        for v in Tx.vectorized(4):
            c[i + v] = a[i + v] + b[i + v]
    else:
        for v in Tx.serial(4):
            if i + v < n:
                c[i + v] = a[i + v] + b[i + v]


KERNEL = vector_add
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, n=1_000_002):
    """Two inputs of `n` elements and room for the sum."""
    return rng.standard_normal(n, dtype=np.float32), rng.standard_normal(n, dtype=np.float32), np.empty(n, np.float32)


def expected(a, b, c):
    """What the arrays hold afterwards."""
    return {"c": a + b}
