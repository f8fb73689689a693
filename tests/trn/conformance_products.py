"""Products of matrices: waited for, and not."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

SIZE = 64


def products(a, b, first, second):
    """K lies on the partitions of both operands."""
    Tx.device_entry()
    left = Tx.alloc_buffer((SIZE, SIZE), "float32", scope="trn.sbuf", layout="FP")
    right = Tx.alloc_buffer((SIZE, SIZE), "float32", scope="trn.sbuf", layout="PF")
    out = [Tx.alloc_buffer((SIZE, SIZE), "float32", scope="trn.sbuf", layout="PF") for _ in range(2)]
    Tx.tile.copy(left, a)
    Tx.tile.copy(right, b)
    Tx.tile.gemm(out[0], left, right, out[0], beta=0.0)
    Tx.tile.gemm_async(out[1], left, right, transB=True)
    Tx.tile.copy(first, out[0])
    Tx.tile.copy(second, out[1])


KERNEL = Tx.trace(products, *(Tx.Buffer((SIZE, SIZE), "float32") for _ in range(4)))
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Two matrices and room for their product, twice."""
    return *rng.standard_normal((2, SIZE, SIZE)).astype(np.float32), *np.zeros((2, SIZE, SIZE), np.float32)


def expected(a, b, first, second):
    """The same both times."""
    return {"first": a @ b, "second": a @ b}
