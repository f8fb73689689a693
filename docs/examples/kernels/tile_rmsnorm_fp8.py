"""RMSNorm and quantisation to fp8 in one pass: a warp keeps its row in registers, normalises it, and scales it to what fp8 reaches."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tirx import script as Tx
from tirx.layout import R, S, TileLayout, laneid

WIDTH, WARPS, LARGEST, EPSILON = 1024, 4, 448.0, 1e-6

ROW = TileLayout(S[(4, 32, 8) : (8, 1 @ laneid, 1)])  # neighbours hold eight elements each, four times over
ONE = TileLayout(S[1] + R[32 : 1 @ laneid])  # every lane has it


@Tx.jit
def tile_rmsnorm_fp8(
    X: Tx.Buffer((N, WIDTH), "bfloat16"),
    W: Tx.Buffer((WIDTH,), "bfloat16"),
    Y: Tx.Buffer((N, WIDTH), "float8_e4m3fn"),
    scales: Tx.Buffer((N,), "float32"),
    *,
    N: Tx.constexpr,
):
    Tx.device_entry()
    block = Tx.cta_id([N // WARPS])
    warp = Tx.warp_id([WARPS])
    row: Tx.let = block * WARPS + warp
    x = Tx.alloc_local((WIDTH,), "float32", layout=ROW)
    other = Tx.alloc_local((WIDTH,), "float32", layout=ROW)
    factor = Tx.alloc_local((1,), "float32", layout=ONE)
    Tx.warp.cast(x, X[row, :])
    Tx.warp.mul(other, x, x)
    Tx.warp.sum(factor, other, thread_reduce=True)
    Tx.warp.sqrt(factor, factor, EPSILON, 1.0 / WIDTH)  # of the mean square, a little more than zero
    Tx.warp.fdiv(x, x, factor)
    Tx.warp.cast(other, W)
    Tx.warp.mul(x, x, other)
    Tx.warp.mul(other, x, -1.0)
    Tx.warp.maximum(other, other, x)  # magnitudes
    Tx.warp.max(factor, other, thread_reduce=True)
    Tx.warp.mul(factor, factor, 1.0 / LARGEST)
    Tx.warp.maximum(factor, factor, 1e-12)
    Tx.warp.copy(scales[row : row + 1], factor)
    Tx.warp.fdiv(x, x, factor)
    Tx.warp.cast(Y[row, :], x)


KERNEL = tile_rmsnorm_fp8.specialize(N=256)
TARGET = "cuda -arch=sm_90a"
TOLERANCE = 0.07  # a step of fp8


def arguments(rng, n=256):
    """Rows, weights, and room for the quantised rows and their scales."""
    x = rng.standard_normal((n, WIDTH)).astype(ml_dtypes.bfloat16)
    w = rng.standard_normal(WIDTH).astype(ml_dtypes.bfloat16)
    return x, w, np.zeros((n, WIDTH), ml_dtypes.float8_e4m3fn), np.empty(n, np.float32)


def expected(X, W, Y, scales):
    """What the arrays hold afterwards."""
    x = X.astype(np.float64)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * W.astype(np.float64)
    scale = np.abs(x).max(-1) / LARGEST
    return {"Y": x / scale[:, None], "scales": scale}
