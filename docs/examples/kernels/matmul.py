"""Tiled matrix product: each block keeps one tile of each operand in shared memory, each thread computes 4 x 4 results."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

TILE, STEP = 64, 16


@Tx.jit
def matmul(
    A: Tx.Buffer((M, K), "float32"),
    B: Tx.Buffer((K, N), "float32"),
    C: Tx.Buffer((M, N), "float32"),
    *,
    M: Tx.constexpr,
    N: Tx.constexpr,
    K: Tx.constexpr,
):
    Tx.device_entry()
    bx, by = Tx.cta_id([N // TILE, M // TILE])
    tx = Tx.thread_id([256])
    As = Tx.alloc_shared((STEP, TILE), "float32")
    Bs = Tx.alloc_shared((STEP, TILE), "float32")
    acc = Tx.alloc_local((4, 4), "float32")
    row: Tx.let = tx // 16 * 4
    col: Tx.let = tx % 16 * 4
    for i, j in Tx.grid(4, 4):
        acc[i, j] = 0.0
    for k in Tx.serial(K // STEP):
        for v in Tx.unroll(4):
            e = Tx.meta_var(v * 256)
            As[(tx + e) % STEP, (tx + e) // STEP] = A[by * TILE + (tx + e) // STEP, k * STEP + (tx + e) % STEP]
            Bs[(tx + e) // TILE, (tx + e) % TILE] = B[k * STEP + (tx + e) // TILE, bx * TILE + (tx + e) % TILE]
        Tx.cuda.cta_sync()
        for kk in Tx.unroll(STEP):
            for i, j in Tx.grid(4, 4):
                acc[i, j] += As[kk, row + i] * Bs[kk, col + j]
        Tx.cuda.cta_sync()
    for i, j in Tx.grid(4, 4):
        C[by * TILE + row + i, bx * TILE + col + j] = acc[i, j]


KERNEL = matmul.specialize(M=512, N=512, K=512)
TARGET = "cuda"
TOLERANCE = 1e-3


def arguments(rng, m=512, n=512, k=512):
    """Two matrices and room for their product."""
    a = rng.standard_normal((m, k), dtype=np.float32)
    return a, rng.standard_normal((k, n), dtype=np.float32), np.empty((m, n), np.float32)


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A.astype(np.float64) @ B}
