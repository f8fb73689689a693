"""Softmax of rows on a NeuronCore: one row a partition, 128 rows at once.

The negated maximum is the bias of the exponential, whose sum the scalar engine collects while it computes.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

COLUMNS = 1024


@Tx.prim_func
def nki_softmax(x: Tx.Buffer(("n", COLUMNS), "float32"), y: Tx.Buffer(("n", COLUMNS), "float32")):
    Tx.device_entry()
    for i in range(n // 128):
        rows = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        low = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(rows, x[i * 128 : i * 128 + 128, :])
        Tx.nki.tensorreduce(low, rows, "max", True, 1)
        Tx.nki.activation_reduce(total, rows, rows, "exp", "add", low)
        Tx.nki.reciprocal(total, total)
        Tx.nki.tensorscalar(rows, rows, total, "mul")
        Tx.nki.store(y[i * 128 : i * 128 + 128, :], rows)


KERNEL = nki_softmax
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng, rows=4096):
    """A matrix and room for the result; rows come in groups of 128."""
    return 4 * rng.standard_normal((rows, COLUMNS), dtype=np.float32), np.empty((rows, COLUMNS), np.float32)


def expected(x, y):
    """What the arrays hold afterwards."""
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}
