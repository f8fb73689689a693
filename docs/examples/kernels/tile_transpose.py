"""Transpose through shared memory whose chunks are exchanged row by row: both ways without bank conflicts, without padding."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx
from tirx.layout import ComposeLayout, S, TileLayout

SIDE = 32
SWIZZLED = ComposeLayout(0, 5, 5, TileLayout(S[SIDE, SIDE]))  # column j of row i lies at i ^ j


@Tx.jit
def tile_transpose(
    A: Tx.Buffer((M, N), "float32"), B: Tx.Buffer((N, M), "float32"), *, M: Tx.constexpr, N: Tx.constexpr
):
    Tx.device_entry()
    bx, by = Tx.cta_id([N // SIDE, M // SIDE])
    Tx.thread_id([256])
    tile = Tx.alloc_shared((SIDE, SIDE), "float32", layout=SWIZZLED)
    Tx.cta.copy(tile, A[by * SIDE : by * SIDE + SIDE, bx * SIDE : bx * SIDE + SIDE])
    Tx.cuda.cta_sync()
    Tx.cta.copy(B[bx * SIDE : bx * SIDE + SIDE, by * SIDE : by * SIDE + SIDE], tile.permute(1, 0))


KERNEL = tile_transpose.specialize(M=512, N=256)
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, m=512, n=256):
    """A matrix and room for its transpose."""
    return rng.standard_normal((m, n), dtype=np.float32), np.empty((n, m), np.float32)


def expected(A, B):
    """What the arrays hold afterwards."""
    return {"B": A.T}
