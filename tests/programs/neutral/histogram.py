"""How often each byte occurs: counts of a block in shared memory, then atomics on the result."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

BLOCKS = 4


@Tx.prim_func
def histogram(data: Tx.Buffer(("n",), "uint8"), counts: Tx.Buffer((256,), "int32")):
    Tx.device_entry()
    bx = Tx.cta_id([BLOCKS])
    tx = Tx.thread_id([256])
    local = Tx.alloc_shared((256,), "int32")
    local[tx] = 0
    Tx.tvm_storage_sync("shared")
    for i in range(bx * 256 + tx, n, BLOCKS * 256):
        Tx.atomic_add(Tx.address_of(local[Tx.cast(data[i], "int32")]), 1)
    Tx.tvm_storage_sync("shared")
    Tx.atomic_add(Tx.address_of(counts[tx]), local[tx])


KERNEL = histogram
TOLERANCE = 0.0


def kernel(width):
    """The same for every width."""
    return histogram


def arguments(rng):
    """Bytes, and counts that are zero."""
    return rng.integers(0, 256, 5003).astype(np.uint8), np.zeros(256, np.int32)


def expected(data, counts):
    """What the arrays hold afterwards."""
    return {"counts": np.bincount(data, minlength=256)}


# ruff: noqa: F821
