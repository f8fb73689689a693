"""Transposing through a tile in shared memory, so that reads and writes are both contiguous; a padding column keeps the
accesses of a warp in different banks."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def transpose(a: Tx.Buffer(("rows", "cols"), "float32"), b: Tx.Buffer(("cols", "rows"), "float32")):
    Tx.device_entry()
    bx, by = Tx.cta_id([Tx.ceildiv(cols, 32), Tx.ceildiv(rows, 32)])
    tx, ty = Tx.thread_id([32, 8])
    tile = Tx.alloc_shared((32, 33), "float32")
    for r in Tx.unroll(0, 32, step=8):
        if by * 32 + ty + r < rows and bx * 32 + tx < cols:
            tile[ty + r, tx] = a[by * 32 + ty + r, bx * 32 + tx]
    Tx.cuda.cta_sync()
    for r in Tx.unroll(0, 32, step=8):
        if bx * 32 + ty + r < cols and by * 32 + tx < rows:
            b[bx * 32 + ty + r, by * 32 + tx] = tile[tx, ty + r]


KERNEL = transpose
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, rows=1000, cols=777):
    """A matrix and room for its transpose."""
    return rng.standard_normal((rows, cols), dtype=np.float32), np.empty((cols, rows), np.float32)


def expected(a, b):
    """What the arrays hold afterwards."""
    return {"b": a.T}
