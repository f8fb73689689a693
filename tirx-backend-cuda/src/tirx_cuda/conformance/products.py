"""The product of a warp by matrix instructions, with fragments that are brought from shared memory by theirs."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx
from tirx_cuda.layout.mma import mma_fragment_layout


@Tx.prim_func
def product(A: Tx.Buffer((16, 16), "float16"), B: Tx.Buffer((16, 8), "float16"), C: Tx.Buffer((16, 8))):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.warp_id([1])
    As = Tx.alloc_shared((16, 16), "float16")
    Bs = Tx.alloc_shared((16, 8), "float16")
    a = Tx.alloc_local((16, 16), "float16", layout=mma_fragment_layout("A", "m16n8k16", "float16"))
    b = Tx.alloc_local((16, 8), "float16", layout=mma_fragment_layout("B", "m16n8k16", "float16"))
    c = Tx.alloc_local((16, 8), "float32", layout=mma_fragment_layout("C", "m16n8k16", "float32"))
    Tx.cta.copy(As, A)
    Tx.cta.copy(Bs, B)
    Tx.cuda.cta_sync()
    Tx.warp.copy(a, As, dispatch="ldstmatrix")
    Tx.warp.copy(b, Bs, dispatch="ldstmatrix")
    Tx.warp.fill(c, 0.0)
    Tx.warp.gemm(c, a, b, c, beta=1.0, dispatch="mma.m16n8k*")
    Tx.warp.copy(C, c)


KERNEL = product
TARGET = "cuda -arch=sm_80"
TOLERANCE = 2e-3


def arguments(rng):
    """Two matrices and room for their product."""
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    return a, b, np.zeros((16, 8), np.float32)


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A.astype(np.float64) @ B.astype(np.float64)}
