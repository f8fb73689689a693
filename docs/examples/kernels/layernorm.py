"""LayerNorm in float32: one warp for each row, mean and variance in one pass over registers."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

COLUMNS = 1024


@Tx.prim_func
def layernorm(
    x: Tx.Buffer(("rows", COLUMNS), "float32"),
    gamma: Tx.Buffer((COLUMNS,), "float32"),
    beta: Tx.Buffer((COLUMNS,), "float32"),
    y: Tx.Buffer(("rows", COLUMNS), "float32"),
):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(rows, 4)])
    warp = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    row: Tx.let = bx * 4 + warp
    if row < rows:
        values = Tx.alloc_local((COLUMNS // 32,), "float32")
        total: Tx.float32 = 0.0
        for i in Tx.unroll(COLUMNS // 32):
            values[i] = x[row, i * 32 + lane]
            total += values[i]
        mean: Tx.float32 = Tx.cuda.warp_sum(total) / float(COLUMNS)
        spread: Tx.float32 = 0.0
        for i in Tx.unroll(COLUMNS // 32):
            spread += (values[i] - mean) * (values[i] - mean)
        factor: Tx.float32 = Tx.rsqrt(Tx.cuda.warp_sum(spread) / float(COLUMNS) + 1e-5)
        for i in Tx.unroll(COLUMNS // 32):
            column = Tx.meta_var(i * 32 + lane)
            y[row, column] = (values[i] - mean) * factor * gamma[column] + beta[column]


KERNEL = layernorm
TARGET = "cuda"
TOLERANCE = 1e-5


def arguments(rng, rows=4096):
    """`rows` rows, scale and shift of the columns, room for the result."""
    x = rng.standard_normal((rows, COLUMNS), dtype=np.float32)
    gamma, beta = rng.standard_normal((2, COLUMNS), dtype=np.float32)
    return x, gamma, beta, np.empty((rows, COLUMNS), np.float32)


def expected(x, gamma, beta, y):
    """What the arrays hold afterwards."""
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta}
