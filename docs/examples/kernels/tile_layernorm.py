"""LayerNorm of rows of halves, one warp a row: mean and variance by reductions over lanes, everything in registers."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx
from tirx.layout import R, S, TileLayout, laneid

WIDTH, WARPS, EPSILON = 512, 8, 1e-5

ROW = TileLayout(S[(2, 32, 8) : (8, 1 @ laneid, 1)])
ONE = TileLayout(S[1] + R[32 : 1 @ laneid])


@Tx.jit
def tile_layernorm(
    X: Tx.Buffer((N, WIDTH), "float16"),
    gain: Tx.Buffer((WIDTH,), "float32"),
    shift: Tx.Buffer((WIDTH,), "float32"),
    Y: Tx.Buffer((N, WIDTH), "float16"),
    *,
    N: Tx.constexpr,
):
    Tx.device_entry()
    block = Tx.cta_id([Tx.ceildiv(N, WARPS)])
    warp = Tx.warp_id([WARPS])
    row: Tx.let = block * WARPS + warp
    x = Tx.alloc_local((WIDTH,), "float32", layout=ROW)
    square = Tx.alloc_local((WIDTH,), "float32", layout=ROW)
    mean = Tx.alloc_local((1,), "float32", layout=ONE)
    deviation = Tx.alloc_local((1,), "float32", layout=ONE)
    if row < N:
        Tx.warp.cast(x, X[row, :])
        Tx.warp.sum(mean, x, thread_reduce=True)
        Tx.warp.mul(mean, mean, 1.0 / WIDTH)
        Tx.warp.sub(x, x, mean)
        Tx.warp.mul(square, x, x)
        Tx.warp.sum(deviation, square, thread_reduce=True)
        Tx.warp.sqrt(deviation, deviation, EPSILON, 1.0 / WIDTH)
        Tx.warp.fdiv(x, x, deviation)
        Tx.warp.fma(x, x, gain, shift)
        Tx.warp.cast(Y[row, :], x)


KERNEL = tile_layernorm.specialize(N=1000)
TARGET = "cuda"
TOLERANCE = 4e-3


def arguments(rng, n=1000):
    """Rows, gain, shift, and room for the result."""
    x = rng.standard_normal((n, WIDTH)).astype(np.float16)
    gain, shift = (rng.standard_normal(WIDTH, dtype=np.float32) for _ in range(2))
    return x, gain, shift, np.empty((n, WIDTH), np.float16)


def expected(X, gain, shift, Y):
    """What the arrays hold afterwards."""
    x = X.astype(np.float64)
    x = x - x.mean(-1, keepdims=True)
    return {"Y": x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain + shift}
