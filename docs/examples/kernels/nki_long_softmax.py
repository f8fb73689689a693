"""Softmax of rows that are longer than one instruction, on a NeuronCore: a row a partition, worked on piece by piece.

The scalar engine's registers carry the sum of the exponentials from piece to piece (`reduce_cmd="reduce"`), so that each element
crosses the DMA queues once in each direction.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS, PIECE = 200, 5000, 2048


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


COUNT = len(pieces(COLUMNS, PIECE))


@Tx.prim_func
def nki_long_softmax(x: Tx.Buffer((ROWS, COLUMNS), "float32"), y: Tx.Buffer((ROWS, COLUMNS), "float32")):
    Tx.device_entry()
    for r, p in pieces(ROWS, 128):
        row = Tx.alloc_buffer((p, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        tops = Tx.alloc_buffer((p, COUNT), "float32", scope="trn.sbuf", layout="PF")
        low = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        for number, (c, n) in enumerate(pieces(COLUMNS, PIECE)):
            Tx.nki.load(row[:, c : c + n], x[r : r + p, c : c + n])
            Tx.nki.tensorreduce(tops[:, number : number + 1], row[:, c : c + n], "max", False, 1)
        Tx.nki.tensorreduce(low, tops, "max", True, 1)
        for number, (c, n) in enumerate(pieces(COLUMNS, PIECE)):
            part = row[:, c : c + n]
            Tx.nki.activation_reduce(
                total, part, part, "exp", "add", low, reduce_cmd="reduce" if number else "reset_reduce"
            )
        Tx.nki.reciprocal(total, total)
        for c, n in pieces(COLUMNS, PIECE):
            Tx.nki.tensorscalar(row[:, c : c + n], row[:, c : c + n], total, "mul")
            Tx.nki.store(y[r : r + p, c : c + n], row[:, c : c + n])


KERNEL = nki_long_softmax
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng):
    """A matrix and room for the result."""
    return 4 * rng.standard_normal((ROWS, COLUMNS), dtype=np.float32), np.empty((ROWS, COLUMNS), np.float32)


def expected(x, y):
    """What the arrays hold afterwards."""
    e = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}
