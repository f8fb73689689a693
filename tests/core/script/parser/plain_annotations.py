"""Kernels whose annotations Python evaluates itself: this file has no `from __future__ import annotations`."""

from tirx import script as Tx
from tirx.ir import PrimFunc


def make(width: int) -> PrimFunc:
    @Tx.prim_func
    def f(A: Tx.Buffer(("m", width), "float32"), B: Tx.Buffer(("m", width), "float32"), n: Tx.int32):
        A[0, 0] = B[0, n]

    return f


@Tx.jit
def jitted(A: Tx.Buffer(("N", 2)), N: Tx.constexpr):
    A[0, 0] = 1.0
