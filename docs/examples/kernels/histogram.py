"""A histogram of bytes: each block counts in shared memory with atomics and adds its counts to the global ones."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

BLOCKS = 16


@Tx.prim_func
def histogram(data: Tx.Buffer(("n",), "uint8"), counts: Tx.Buffer((256,), "int32")):
    Tx.device_entry()
    bx = Tx.cta_id([BLOCKS])
    tx = Tx.thread_id([256])
    local = Tx.alloc_shared((256,), "int32")
    local[tx] = 0
    Tx.cuda.cta_sync()
    i: Tx.int32 = bx * 256 + tx
    while i < n:
        Tx.cuda.atomic_add(local.ptr_to([Tx.cast(data[i], "int32")]), 1)
        i += BLOCKS * 256
    Tx.cuda.cta_sync()
    Tx.cuda.atomic_add(counts.ptr_to([tx]), local[tx])


KERNEL = histogram
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, n=1_000_001):
    """`n` bytes and 256 counters."""
    return (rng.standard_normal(n) * 40 + 128).astype(np.uint8), np.zeros(256, np.int32)


def expected(data, counts):
    """What the arrays hold afterwards."""
    return {"counts": np.bincount(data, minlength=256)}
