"""A sample of the machine without threads: sums of rows, bank by bank."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def add_rows(A: Tx.Buffer((8, 16), "float32"), B: Tx.Buffer((8, 16), "float32"), C: Tx.Buffer((8, 16), "float32")):
    Tx.device_entry()
    left = Tx.alloc_buffer((2, 16), "float32", scope="flow.bank")
    total = Tx.alloc_buffer((2, 16), "float32", scope="flow.bank")
    for i in range(4):
        Tx.flow.load(left, A[i * 2 : i * 2 + 2, 0:16])
        Tx.flow.load(total, B[i * 2 : i * 2 + 2, 0:16])
        Tx.flow.add(total, left, total)
        Tx.flow.store(C[i * 2 : i * 2 + 2, 0:16], total)


KERNEL = add_rows
TARGET = "dataflow"


def arguments(rng):
    """Two matrices and room for their sum."""
    return (*rng.standard_normal((2, 8, 16), dtype=np.float32), np.empty((8, 16), np.float32))


def expected(A, B, C):
    """What the arrays hold afterwards."""
    return {"C": A + B}
