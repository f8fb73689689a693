"""Transposing a matrix on a NeuronCore: blocks of 128 x 128 pass through the tensor engine, edges are smaller."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS, BLOCK = 200, 328, 128


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_transpose(a: Tx.Buffer((ROWS, COLUMNS), "float32"), b: Tx.Buffer((COLUMNS, ROWS), "float32")):
    Tx.device_entry()
    for i, rows in pieces(ROWS, BLOCK):
        strip = Tx.alloc_buffer((rows, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(strip, a[i : i + rows, :])
        for j, columns in pieces(COLUMNS, BLOCK):
            turned = Tx.alloc_buffer((columns, rows), "float32", scope="trn.psum", layout="PF")
            result = Tx.alloc_buffer((columns, rows), "float32", scope="trn.sbuf", layout="PF")
            Tx.nki.nc_transpose(turned, strip[:, j : j + columns])
            Tx.nki.tensor_copy(result, turned)
            Tx.nki.store(b[j : j + columns, i : i + rows], result)


KERNEL = nki_transpose
TARGET = "trn"
TOLERANCE = 0.0


def arguments(rng):
    """A matrix and room for its transpose."""
    return rng.standard_normal((ROWS, COLUMNS), dtype=np.float32), np.empty((COLUMNS, ROWS), np.float32)


def expected(a, b):
    """What the arrays hold afterwards."""
    return {"b": a.T}
