"""Many small products: each warp multiplies one pair of 32 x 32 matrices of bf16, four pairs a block."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import tirx
from tirx import script as Tx
from tirx.layout import ComposeLayout, S, TileLayout

SIDE, WARPS = 32, 4

fragment = tirx.layout.mma_fragment_layout
A_LANES = fragment("A", "m16n8k16", "bfloat16").tile_to([SIDE, SIDE], [16, 16])
B_LANES = fragment("B", "m16n8k16", "bfloat16").tile_to([SIDE, SIDE], [16, 8])
C_LANES = fragment("C", "m16n8k16", "float32").tile_to([SIDE, SIDE], [16, 8])
SHARED = ComposeLayout(3, 2, 3, TileLayout(S[WARPS, SIDE, SIDE]))


@Tx.jit
def tile_batched_gemm(
    A: Tx.Buffer((BATCH, SIDE, SIDE), "bfloat16"),
    B: Tx.Buffer((BATCH, SIDE, SIDE), "bfloat16"),
    C: Tx.Buffer((BATCH, SIDE, SIDE), "float32"),
    *,
    BATCH: Tx.constexpr,
):
    Tx.device_entry()
    block = Tx.cta_id([BATCH // WARPS])
    warp = Tx.warp_id([WARPS])
    As = Tx.alloc_shared((WARPS, SIDE, SIDE), "bfloat16", layout=SHARED)
    Bs = Tx.alloc_shared((WARPS, SIDE, SIDE), "bfloat16", layout=SHARED)
    a = Tx.alloc_local((SIDE, SIDE), "bfloat16", layout=A_LANES)
    b = Tx.alloc_local((SIDE, SIDE), "bfloat16", layout=B_LANES)
    c = Tx.alloc_local((SIDE, SIDE), "float32", layout=C_LANES)
    item: Tx.let = block * WARPS + warp
    Tx.warp.copy_async(As[warp, :, :], A[item, :, :])
    Tx.warp.copy_async(Bs[warp, :, :], B[item, :, :])
    Tx.ptx.cp.async_.wait_all()
    Tx.cuda.warp_sync()
    Tx.warp.copy(a, As[warp, :, :])
    Tx.warp.copy(b, Bs[warp, :, :])
    Tx.warp.gemm(c, a, b, c)
    Tx.warp.copy(C[item, :, :], c)


KERNEL = tile_batched_gemm.specialize(BATCH=64)
TARGET = "cuda -arch=sm_80"
TOLERANCE = 1e-5


def arguments(rng, batch=64):
    """Two stacks of matrices and room for their products."""
    a, b = (rng.standard_normal((batch, SIDE, SIDE)).astype(ml_dtypes.bfloat16) for _ in range(2))
    return a, b, np.empty((batch, SIDE, SIDE), np.float32)


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A.astype(np.float64) @ B.astype(np.float64)}
