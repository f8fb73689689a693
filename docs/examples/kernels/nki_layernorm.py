"""LayerNorm of rows on a NeuronCore: (x - mean) / sqrt(variance + eps) * gamma + beta.

Gamma and beta are spread over the partitions by products with ones; both wait in SBUF for all groups of rows.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS, BANK = 300, 768, 512
EPSILON = 1e-5


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.inline
def spread(wide, ones, vector):
    """A row of device memory in all partitions."""
    line = Tx.alloc_buffer((1, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(line, vector)
    for c, n in pieces(COLUMNS, BANK):
        bank = Tx.alloc_buffer((128, n), "float32", scope="trn.psum", layout="PF")
        Tx.nki.matmul(bank, ones, line[:, c : c + n], is_stationary_onezero=True)
        Tx.nki.tensor_copy(wide[:, c : c + n], bank)


@Tx.prim_func
def nki_layernorm(
    x: Tx.Buffer((ROWS, COLUMNS), "float32"),
    gamma: Tx.Buffer((1, COLUMNS), "float32"),
    beta: Tx.Buffer((1, COLUMNS), "float32"),
    y: Tx.Buffer((ROWS, COLUMNS), "float32"),
):
    Tx.device_entry()
    ones = Tx.alloc_buffer((1, 128), "float32", scope="trn.sbuf", layout="PF")
    scale = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    shift = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.memset(ones, 1.0)
    spread(scale, ones, gamma)
    spread(shift, ones, beta)
    for r, p in pieces(ROWS, 128):
        row = Tx.alloc_buffer((p, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        square = Tx.alloc_buffer((p, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
        mean = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        norm = Tx.alloc_buffer((p, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(row, x[r : r + p, :])
        Tx.nki.tensorreduce(mean, row, "add", True, 1)  # negated, so that it can be added
        Tx.nki.tensorscalar(mean, mean, 1 / COLUMNS, "mul")
        Tx.nki.tensorscalar(row, row, mean, "add")
        Tx.nki.activation_reduce(norm, square, row, "square", "add")
        Tx.nki.activation(norm, norm, "rsqrt", EPSILON, 1 / COLUMNS)
        Tx.nki.scalar_tensor_tensor(row, row, norm, scale[0:p, :], "mul", "mul")
        Tx.nki.tensortensor(row, row, shift[0:p, :], "add")
        Tx.nki.store(y[r : r + p, :], row)


KERNEL = nki_layernorm
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Rows, gamma, beta, room for the result."""
    x, gamma, beta = (rng.standard_normal((rows, COLUMNS), dtype=np.float32) for rows in (ROWS, 1, 1))
    return x, gamma, beta, np.empty_like(x)


def expected(x, gamma, beta, y):
    """What the arrays hold afterwards."""
    centred = x.astype(np.float64) - x.astype(np.float64).mean(axis=1, keepdims=True)
    return {"y": centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON) * gamma + beta}
