"""The sum of each row: a tree in shared memory, one barrier for each step."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

THREADS = 256


@Tx.prim_func
def row_sums(x: Tx.Buffer(("rows", 1000), "float32"), total: Tx.Buffer(("rows",), "float32")):
    Tx.device_entry()
    row = Tx.cta_id([rows])
    tx = Tx.thread_id([THREADS])
    part = Tx.alloc_shared((THREADS,), "float32")
    mine: Tx.float32 = 0.0
    for i in range(tx, 1000, THREADS):
        mine += x[row, i]
    part[tx] = mine
    Tx.tvm_storage_sync("shared")
    for step in Tx.unroll(8):
        if tx < 128 >> step:
            part[tx] += part[tx + (128 >> step)]
        Tx.tvm_storage_sync("shared")
    if tx == 0:
        total[row] = part[0]


KERNEL = row_sums
TOLERANCE = 1e-5


def kernel(width):
    """The same for every width."""
    return row_sums


def arguments(rng):
    """Rows whose length is no multiple of the threads."""
    return rng.standard_normal((5, 1000), dtype=np.float32), np.empty(5, np.float32)


def expected(x, total):
    """What the arrays hold afterwards."""
    return {"total": x.astype(np.float64).sum(axis=1)}


# ruff: noqa: F821
