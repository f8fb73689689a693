"""Softmax of rows on a NeuronCore, by tile operations: the kernel says what is computed, the variants choose the instructions.

`unary_reduce` becomes one activation that also sums; a row of any length goes through the same few lines.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS = 300, 1500


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_tile_softmax(x: Tx.Buffer((ROWS, COLUMNS), "float32"), y: Tx.Buffer((ROWS, COLUMNS), "float32")):
    Tx.device_entry()
    for r, p in pieces(ROWS, 128):
        row = Tx.alloc_buffer((p, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        low = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(row, x[r : r + p, :])
        Tx.tile.reduce_negate(low, row, "max")
        Tx.tile.unary_reduce(row, total, row, "exp", "sum", low)
        Tx.tile.fdiv(row, row, total, max_inst_size=COLUMNS)
        Tx.tile.copy(y[r : r + p, :], row)


KERNEL = nki_tile_softmax
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng):
    """A matrix and room for the result."""
    return 4 * rng.standard_normal((ROWS, COLUMNS), dtype=np.float32), np.empty((ROWS, COLUMNS), np.float32)


def expected(x, y):
    """What the arrays hold afterwards."""
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}
