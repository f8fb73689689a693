"""Sums of equal pieces of an array: each block adds up one piece in shared memory, halving the threads at each step."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def block_sums(x: Tx.Buffer(("pieces", 1024), "float32"), total: Tx.Buffer(("pieces",), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([pieces])
    tx = Tx.thread_id([256])
    partial = Tx.alloc_shared((256,), "float32")
    partial[tx] = x[bx, tx] + x[bx, tx + 256] + x[bx, tx + 512] + x[bx, tx + 768]
    Tx.cuda.cta_sync()
    for step in [128, 64, 32, 16, 8, 4, 2, 1]:
        if tx < step:
            partial[tx] = partial[tx] + partial[tx + step]
        Tx.cuda.cta_sync()
    if tx == 0:
        total[bx] = partial[0]


KERNEL = block_sums
TARGET = "cuda"
TOLERANCE = 1e-4


def arguments(rng, pieces=1000):
    """`pieces` rows of 1024 elements and room for their sums."""
    return rng.standard_normal((pieces, 1024), dtype=np.float32), np.empty(pieces, np.float32)


def expected(x, total):
    """What the arrays hold afterwards."""
    return {"total": x.astype(np.float64).sum(axis=1)}
