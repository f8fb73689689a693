"""RMSNorm of rows on a NeuronCore, by tile operations: x / sqrt(mean(x^2) + eps) * weight.

All rows are one tile: rows beyond 128 go on in the free dimension, and a ragged last group is an instruction of its own. The weights are a
row of one partition; `cast` spreads it over the partitions once, by a product with ones.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS = 300, 1280
GROUPS = -(-ROWS // 128) * 128
EPSILON = 1e-6


def pieces(total, step):
    """(first, count) of each piece of `total`; the last may be shorter."""
    return [(first, min(step, total - first)) for first in range(0, total, step)]


@Tx.prim_func
def nki_tile_rmsnorm(
    x: Tx.Buffer((ROWS, COLUMNS), "float32"),
    weight: Tx.Buffer((1, COLUMNS), "float32"),
    y: Tx.Buffer((ROWS, COLUMNS), "float32"),
):
    Tx.device_entry()
    line = Tx.alloc_buffer((1, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    spread = Tx.alloc_buffer((128, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    rows = Tx.alloc_buffer((GROUPS, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    square = Tx.alloc_buffer((GROUPS, COLUMNS), "float32", scope="trn.sbuf", layout="PF")
    norm = Tx.alloc_buffer((GROUPS, 1), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(line, weight)
    Tx.tile.cast(spread, line)
    Tx.tile.copy(rows[0:ROWS], x)
    Tx.tile.binary_reduce(square[0:ROWS], norm[0:ROWS], rows[0:ROWS], rows[0:ROWS], "mul", "sum")
    Tx.tile.sqrt(norm[0:ROWS], norm[0:ROWS], EPSILON, 1 / COLUMNS)
    for r, p in pieces(ROWS, 128):
        part = rows[r : r + p]
        Tx.tile.binary_chain(part, part, norm[r : r + p], spread[0:p], "fdiv", "mul", max_inst_size=COLUMNS)
    Tx.tile.copy(y, rows[0:ROWS])


KERNEL = nki_tile_rmsnorm
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Rows, weights, room for the result."""
    x = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    weight = rng.standard_normal((1, COLUMNS), dtype=np.float32)
    return x, weight, np.empty_like(x)


def expected(x, weight, y):
    """What the arrays hold afterwards."""
    wide = x.astype(np.float64)
    return {"y": wide / np.sqrt((wide**2).mean(axis=1, keepdims=True) + EPSILON) * weight}
