"""Cross-entropy of rows of logits on a NeuronCore: log(sum(exp(x))) - x[label].

A tile of positions is compared with each row's label; the product with the logits leaves the one that was asked for.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, CLASSES = 200, 1000


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_cross_entropy(
    logits: Tx.Buffer((ROWS, CLASSES), "float32"),
    labels: Tx.Buffer((ROWS, 1), "int32"),
    loss: Tx.Buffer((ROWS, 1), "float32"),
):
    Tx.device_entry()
    place = Tx.alloc_buffer((128, CLASSES), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.iota(place, [[1, CLASSES]])
    for r, p in pieces(ROWS, 128):
        row = Tx.alloc_buffer((p, CLASSES), "float32", scope="trn.sbuf", layout="PF")
        work = Tx.alloc_buffer((p, CLASSES), "float32", scope="trn.sbuf", layout="PF")
        label = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        chosen = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        low = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(row, logits[r : r + p, :])
        Tx.nki.load(label, labels[r : r + p, :])  # labels become floats on the way
        Tx.nki.scalar_tensor_tensor(work, place[0:p, :], label, row, "equal", "mul")
        Tx.nki.tensorreduce(chosen, work, "add", False, 1)
        Tx.nki.tensorreduce(low, row, "max", True, 1)
        Tx.nki.activation_reduce(total, work, row, "exp", "add", low)
        Tx.nki.activation(total, total, "log")
        Tx.nki.tensortensor(total, total, low, "sub")
        Tx.nki.tensortensor(total, total, chosen, "sub")
        Tx.nki.store(loss[r : r + p, :], total)


KERNEL = nki_cross_entropy
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng):
    """Logits, labels, room for the losses."""
    logits = 4 * rng.standard_normal((ROWS, CLASSES), dtype=np.float32)
    return logits, rng.integers(0, CLASSES, (ROWS, 1), dtype=np.int32), np.empty((ROWS, 1), np.float32)


def expected(logits, labels, loss):
    """What the arrays hold afterwards."""
    wide = logits.astype(np.float64)
    top = wide.max(axis=1, keepdims=True)
    total = np.log(np.exp(wide - top).sum(axis=1, keepdims=True)) + top
    return {"loss": total - np.take_along_axis(wide, labels.astype(np.int64), axis=1)}
