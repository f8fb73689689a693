"""Matrix product of halves on matrix instructions: swizzled tiles in shared memory, double-buffered asynchronous copies.

A block of eight warps computes 128 x 128 of C. While it multiplies one step of K, the next one is already on its way from global to
shared memory. `ldmatrix` brings fragments into registers, `mma.sync` multiplies them; which instruction does what is decided by
dispatch from where the tiles lie: `tirx explain docs/examples/kernels/tile_gemm.py` says why.
"""

from __future__ import annotations

import numpy as np

import tirx
from tirx import script as Tx
from tirx.layout import ComposeLayout, S, TileLayout

M_TILE, N_TILE, K_TILE, STAGES = 128, 128, 32, 2
WARP_M, WARP_N, STEP = 64, 32, 16

# What the lanes of a warp hold, fragment after fragment.
fragment = tirx.layout.mma_fragment_layout
A_LANES = fragment("A", "m16n8k16", "float16").tile_to([WARP_M, STEP], [16, 16])
B_LANES = fragment("B", "m16n8k16", "float16").tile_to([STEP, WARP_N], [16, 8])
C_LANES = fragment("C", "m16n8k16", "float32").tile_to([WARP_M, WARP_N], [16, 8])

# Rows of 32 and of 128 halves, their chunks of 16 bytes exchanged so that eight rows of a column lie in different banks.
A_SHARED = ComposeLayout(3, 2, 3, TileLayout(S[STAGES, M_TILE, K_TILE]))
B_SHARED = ComposeLayout(3, 3, 4, TileLayout(S[STAGES, K_TILE, N_TILE]))


@Tx.jit
def tile_gemm(
    A: Tx.Buffer((M, K), "float16"),
    B: Tx.Buffer((K, N), "float16"),
    C: Tx.Buffer((M, N), "float16"),
    *,
    M: Tx.constexpr,
    N: Tx.constexpr,
    K: Tx.constexpr,
):
    Tx.device_entry()
    bx, by = Tx.cta_id([N // N_TILE, M // M_TILE])
    warp = Tx.warp_id([8])
    As = Tx.alloc_shared((STAGES, M_TILE, K_TILE), "float16", layout=A_SHARED)
    Bs = Tx.alloc_shared((STAGES, K_TILE, N_TILE), "float16", layout=B_SHARED)
    a = Tx.alloc_local((WARP_M, STEP), "float16", layout=A_LANES)
    b = Tx.alloc_local((STEP, WARP_N), "float16", layout=B_LANES)
    acc = Tx.alloc_local((WARP_M, WARP_N), "float32", layout=C_LANES)
    row: Tx.let = warp // 4 * WARP_M
    col: Tx.let = warp % 4 * WARP_N

    Tx.cta.copy_async(As[0, :, :], A[by * M_TILE : by * M_TILE + M_TILE, 0:K_TILE])
    Tx.cta.copy_async(Bs[0, :, :], B[0:K_TILE, bx * N_TILE : bx * N_TILE + N_TILE])
    Tx.ptx.cp.async_.commit_group()
    Tx.warp.fill(acc, 0.0)
    for k in Tx.serial(K // K_TILE):
        if k + 1 < K // K_TILE:
            after = Tx.meta_var((k + 1) * K_TILE)  # a name in Python alone: a value costs nvcc 26 registers
            Tx.cta.copy_async(As[(k + 1) % STAGES, :, :], A[by * M_TILE : by * M_TILE + M_TILE, after : after + K_TILE])
            Tx.cta.copy_async(Bs[(k + 1) % STAGES, :, :], B[after : after + K_TILE, bx * N_TILE : bx * N_TILE + N_TILE])
        Tx.ptx.cp.async_.commit_group()
        Tx.ptx.cp.async_.wait_group(1)
        Tx.cuda.cta_sync()
        for step in Tx.unroll(K_TILE // STEP):
            at = Tx.meta_var(step * STEP)
            Tx.warp.copy(a, As[k % STAGES, row : row + WARP_M, at : at + STEP])
            Tx.warp.copy(b, Bs[k % STAGES, at : at + STEP, col : col + WARP_N])
            Tx.warp.gemm(acc, a, b, acc, beta=1.0)
        Tx.cuda.cta_sync()
    Tx.warp.cast(C[by * M_TILE + row : by * M_TILE + row + WARP_M, bx * N_TILE + col : bx * N_TILE + col + WARP_N], acc)


KERNEL = tile_gemm.specialize(M=512, N=512, K=512)
TARGET = "cuda -arch=sm_80"
TOLERANCE = 2e-3


def arguments(rng, m=512, n=512, k=512):
    """Two matrices and room for their product."""
    a = rng.standard_normal((m, k)).astype(np.float16)
    return a, rng.standard_normal((k, n)).astype(np.float16), np.empty((m, n), np.float16)


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A.astype(np.float64) @ B.astype(np.float64)}
