"""RMSNorm in bfloat16: arithmetic in float32, one block for each row, the block's sum through shared memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tirx import script as Tx


@Tx.prim_func
def rmsnorm(
    x: Tx.Buffer(("rows", 1024), "bfloat16"),
    weight: Tx.Buffer((1024,), "bfloat16"),
    y: Tx.Buffer(("rows", 1024), "bfloat16"),
    epsilon: Tx.float32,
):
    Tx.device_entry()
    row = Tx.cta_id([rows])
    tx = Tx.thread_id([256])
    scratch = Tx.alloc_shared((8,), "float32")
    values = Tx.alloc_local((4,), "float32")
    squares: Tx.float32 = 0.0
    for i in Tx.unroll(4):
        values[i] = Tx.cast(x[row, tx * 4 + i], "float32")
        squares += values[i] * values[i]
    squares = Tx.cuda.cta_sum(squares, 8, scratch.ptr_to([0]))
    factor: Tx.float32 = Tx.rsqrt(squares / 1024.0 + epsilon)
    for i in Tx.unroll(4):
        y[row, tx * 4 + i] = Tx.cast(values[i] * factor * Tx.cast(weight[tx * 4 + i], "float32"), "bfloat16")


KERNEL = rmsnorm
TARGET = "cuda"
TOLERANCE = 2e-2


def arguments(rng, rows=4096):
    """`rows` rows of 1024 elements, weights, room for the result, epsilon."""
    x = rng.standard_normal((rows, 1024)).astype(ml_dtypes.bfloat16)
    weight = rng.standard_normal(1024).astype(ml_dtypes.bfloat16)
    return x, weight, np.empty((rows, 1024), ml_dtypes.bfloat16), np.float32(1e-5)


def expected(x, weight, y, epsilon):
    """What the arrays hold afterwards."""
    wide = x.astype(np.float64)
    scale = 1 / np.sqrt((wide**2).mean(axis=1, keepdims=True) + epsilon)
    return {"y": wide * scale * weight.astype(np.float64)}
