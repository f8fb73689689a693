"""RMSNorm of rows on a NeuronCore: x / sqrt(mean(x^2) + eps) * weight.

The scalar engine squares and sums in one instruction. The weights are the same for all rows: a product with a row of ones spreads them
over the partitions.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS, BANK = 300, 1280, 512
EPSILON = 1e-6


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_rmsnorm(
    x: Tx.Buffer((ROWS, COLUMNS), "float32"),
    weight: Tx.Buffer((1, COLUMNS), "float32"),
    y: Tx.Buffer((ROWS, COLUMNS), "float32"),
):
    Tx.device_entry()
    ones = Tx.alloc_buffer((1, 128), "float32", scope="trn.sbuf", layout="PF")
    line = Tx.alloc_buffer((1, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    spread = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.memset(ones, 1.0)
    Tx.nki.load(line, weight)
    for c, n in pieces(COLUMNS, BANK):
        bank = Tx.alloc_buffer((128, n), "float32", scope="trn.psum", layout="PF")
        Tx.nki.matmul(bank, ones, line[:, c : c + n], is_stationary_onezero=True)
        Tx.nki.tensor_copy(spread[:, c : c + n], bank)
    for r, p in pieces(ROWS, 128):
        row = Tx.alloc_buffer((p, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        square = Tx.alloc_buffer((p, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        norm = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(row, x[r : r + p, :])
        Tx.nki.activation_reduce(norm, square, row, "square", "add")
        Tx.nki.activation(norm, norm, "rsqrt", EPSILON, 1 / COLUMNS)
        Tx.nki.scalar_tensor_tensor(row, row, norm, spread[0:p, :], "mul", "mul")
        Tx.nki.store(y[r : r + p, :], row)


KERNEL = nki_rmsnorm
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Rows, weights, room for the result."""
    x, weight = (
        rng.standard_normal((ROWS, COLUMNS), dtype=np.float32),
        rng.standard_normal((1, COLUMNS), dtype=np.float32),
    )
    return x, weight, np.empty_like(x)


def expected(x, weight, y):
    """What the arrays hold afterwards."""
    wide = x.astype(np.float64)
    return {"y": wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + EPSILON) * weight}
