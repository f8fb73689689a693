"""Running sums of rows: each block scans one row in shared memory, doubling the distance at each step."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def prefix_sum(x: Tx.Buffer(("rows", 512), "int32"), y: Tx.Buffer(("rows", 512), "int32")):
    Tx.device_entry()
    row = Tx.cta_id([rows])
    tx = Tx.thread_id([512])
    sums = Tx.alloc_shared((2, 512), "int32")
    sums[0, tx] = x[row, tx]
    Tx.cuda.cta_sync()
    for step in range(9):
        source: Tx.let = step % 2
        distance: Tx.let = 1 << step
        if tx >= distance:
            sums[1 - source, tx] = sums[source, tx] + sums[source, tx - distance]
        else:
            sums[1 - source, tx] = sums[source, tx]
        Tx.cuda.cta_sync()
    y[row, tx] = sums[1, tx]


KERNEL = prefix_sum
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, rows=2048):
    """`rows` rows of 512 integers and room for the running sums."""
    return rng.integers(-1000, 1000, (rows, 512), dtype=np.int32), np.empty((rows, 512), np.int32)


def expected(x, y):
    """What the arrays hold afterwards."""
    return {"y": np.cumsum(x, axis=1)}
