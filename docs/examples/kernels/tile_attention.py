"""Attention forward on matrix instructions: one pass over keys and values, softmax kept up to date row by row.

A block of four warps has 64 queries, each warp 16 of them in its registers. Scores, their maxima and sums, the weights and the output
never leave registers: the fragments that one product leaves are those that the next one takes.
"""

from __future__ import annotations

import math

import numpy as np

import tirx
from tirx import script as Tx
from tirx.layout import ComposeLayout, R, S, TileLayout, laneid

QUERIES, KEYS, DIM, ROWS = 64, 64, 64, 16

fragment = tirx.layout.mma_fragment_layout
A, B, C = (fragment(name, "m16n8k16", "float32" if name == "C" else "float16") for name in "ABC")
turned, separators = B.group([16, 8])
B_TURNED = turned.permute_by_groups(separators, [1, 0])  # (n, k): keys lie by rows
Q_LANES = A.tile_to([ROWS, DIM], [16, 16])
K_LANES = B_TURNED.tile_to([KEYS, 16], [8, 16])
V_LANES = B.tile_to([16, DIM], [16, 8])
SCORES = C.tile_to([ROWS, KEYS], [16, 8])
OUTPUT = C.tile_to([ROWS, DIM], [16, 8])
PER_ROW = TileLayout(S[(2, 8) : (1, 4 @ laneid)] + R[4 : 1 @ laneid])
SWIZZLED = ComposeLayout(3, 3, 3, TileLayout(S[KEYS, DIM]))


@Tx.jit
def tile_attention(
    Q: Tx.Buffer((H, N, DIM), "float16"),
    K: Tx.Buffer((H, N, DIM), "float16"),
    V: Tx.Buffer((H, N, DIM), "float16"),
    O: Tx.Buffer((H, N, DIM), "float16"),
    *,
    H: Tx.constexpr,
    N: Tx.constexpr,
):
    Tx.device_entry()
    block, head = Tx.cta_id([N // QUERIES, H])
    warp = Tx.warp_id([QUERIES // ROWS])
    Qs = Tx.alloc_shared((QUERIES, DIM), "float16", layout=SWIZZLED)
    Ks = Tx.alloc_shared((KEYS, DIM), "float16", layout=SWIZZLED)
    Vs = Tx.alloc_shared((KEYS, DIM), "float16", layout=SWIZZLED)
    q = Tx.alloc_local((ROWS, DIM), "float16", layout=Q_LANES)
    k = Tx.alloc_local((KEYS, 16), "float16", layout=K_LANES)
    v = Tx.alloc_local((16, DIM), "float16", layout=V_LANES)
    scores = Tx.alloc_local((ROWS, KEYS), "float32", layout=SCORES)
    weights = Tx.alloc_local((ROWS, KEYS), "float16", layout=SCORES)
    out = Tx.alloc_local((ROWS, DIM), "float32", layout=OUTPUT)
    highest = Tx.alloc_local((ROWS, 1), "float32", layout=PER_ROW)
    before = Tx.alloc_local((ROWS, 1), "float32", layout=PER_ROW)
    total = Tx.alloc_local((ROWS, 1), "float32", layout=PER_ROW)
    scale = Tx.meta_var(math.log2(math.e) / math.sqrt(DIM))  # weights are powers of two

    Tx.cta.copy(Qs, Q[head, block * QUERIES : block * QUERIES + QUERIES, :])
    Tx.cuda.cta_sync()
    Tx.warp.copy(q, Qs[warp * ROWS : warp * ROWS + ROWS, :])
    Tx.warp.fill(out, 0.0)
    Tx.warp.fill(total, 0.0)
    Tx.warp.fill(highest, -1e30)
    for step in Tx.serial(N // KEYS):
        first: Tx.let = step * KEYS
        Tx.cuda.cta_sync()
        Tx.cta.copy_async(Ks, K[head, first : first + KEYS, :])
        Tx.cta.copy_async(Vs, V[head, first : first + KEYS, :])
        Tx.ptx.cp.async_.wait_all()
        Tx.cuda.cta_sync()
        Tx.warp.fill(scores, 0.0)
        for d in Tx.unroll(DIM // 16):
            at = Tx.meta_var(d * 16)
            Tx.warp.copy(k, Ks[:, at : at + 16])
            Tx.warp.gemm(scores, q[:, at : at + 16], k, scores, transpose_B=True, beta=1.0)
        Tx.warp.mul(scores, scores, scale)
        Tx.warp.copy(before, highest)
        Tx.warp.max(highest, scores, axes=1, accum=True, thread_reduce=True)
        Tx.warp.sub(scores, scores, highest)
        Tx.warp.exp2(scores, scores)
        Tx.warp.sub(before, before, highest)
        Tx.warp.exp2(before, before)  # what everything so far shrinks by
        Tx.warp.mul(total, total, before)
        Tx.warp.sum(total, scores, axes=1, accum=True, thread_reduce=True)
        Tx.warp.mul(out, out, before)
        Tx.warp.cast(weights, scores)
        for s in Tx.unroll(KEYS // 16):
            at = Tx.meta_var(s * 16)
            Tx.warp.copy(v, Vs[at : at + 16, :])
            Tx.warp.gemm(out, weights[:, at : at + 16], v, out, beta=1.0)
    Tx.warp.fdiv(out, out, total)
    row: Tx.let = block * QUERIES + warp * ROWS
    Tx.warp.cast(O[head, row : row + ROWS, :], out)


KERNEL = tile_attention.specialize(H=2, N=256)
TARGET = "cuda -arch=sm_80"
TOLERANCE = 2e-3


def arguments(rng, h=2, n=256):
    """Queries, keys, values, and room for the output."""
    return (*(rng.standard_normal((h, n, DIM)).astype(np.float16) for _ in range(3)), np.empty((h, n, DIM), np.float16))


def expected(Q, K, V, O):
    """What the arrays hold afterwards."""
    q, k, v = (item.astype(np.float64) for item in (Q, K, V))
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(DIM)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return {"O": weights / weights.sum(-1, keepdims=True) @ v}
