"""Softmax over rows: one warp for each row, maxima and sums by shuffles."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def softmax(x: Tx.Buffer(("rows", 1024), "float32"), y: Tx.Buffer(("rows", 1024), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(rows, 4)])
    warp = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    row: Tx.let = bx * 4 + warp
    if row < rows:
        values = Tx.alloc_local((32,), "float32")
        largest: Tx.float32 = Tx.min_value("float32")
        for i in Tx.unroll(32):
            values[i] = x[row, i * 32 + lane]
            largest = Tx.max(largest, values[i])
        largest = Tx.cuda.warp_max(largest)
        total: Tx.float32 = 0.0
        for i in Tx.unroll(32):
            values[i] = Tx.exp(values[i] - largest)
            total += values[i]
        total = Tx.cuda.warp_sum(total)
        for i in Tx.unroll(32):
            y[row, i * 32 + lane] = values[i] / total


KERNEL = softmax
TARGET = "cuda"
TOLERANCE = 1e-6


def arguments(rng, rows=4096):
    """`rows` rows of 1024 elements and room for the result."""
    return rng.standard_normal((rows, 1024), dtype=np.float32), np.empty((rows, 1024), np.float32)


def expected(x, y):
    """What the arrays hold afterwards."""
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"y": powers / powers.sum(axis=1, keepdims=True)}
