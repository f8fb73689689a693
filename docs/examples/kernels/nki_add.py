"""Adding matrices on a NeuronCore: tiles of 128 rows go to SBUF, are added, and go back."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

COLUMNS = 1024


@Tx.prim_func
def nki_add(
    a: Tx.Buffer(("n", COLUMNS), "float32"),
    b: Tx.Buffer(("n", COLUMNS), "float32"),
    c: Tx.Buffer(("n", COLUMNS), "float32"),
):
    Tx.device_entry()
    for i in range(n // 128):
        x = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        y = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(x, a[i * 128 : i * 128 + 128, :])
        Tx.nki.load(y, b[i * 128 : i * 128 + 128, :])
        Tx.nki.tensortensor(x, x, y, "add")
        Tx.nki.store(c[i * 128 : i * 128 + 128, :], x)


KERNEL = nki_add
TARGET = "trn"
TOLERANCE = 0.0


def arguments(rng, rows=4096):
    """Two matrices and room for the sum; rows come in groups of 128."""
    shape = (rows, COLUMNS)
    return (
        rng.standard_normal(shape, dtype=np.float32),
        rng.standard_normal(shape, dtype=np.float32),
        np.empty(shape, np.float32),
    )


def expected(a, b, c):
    """What the arrays hold afterwards."""
    return {"c": a + b}
