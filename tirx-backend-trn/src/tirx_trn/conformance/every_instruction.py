"""A sample for the conformance suite: instructions that few kernels need, each result in a plane of its own."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS = 32, 32


def sbuf(*shape, dtype="float32"):
    """A tile in SBUF."""
    return Tx.alloc_buffer(shape, dtype, scope="trn.sbuf", layout="PF")


@Tx.prim_func
def every_instruction(x: Tx.Buffer((ROWS, COLUMNS), "float32"), planes: Tx.Buffer((12, ROWS, COLUMNS), "float32")):
    Tx.device_entry()
    a, b, best, mask = sbuf(ROWS, COLUMNS), sbuf(ROWS, COLUMNS), sbuf(ROWS, 8), sbuf(ROWS, COLUMNS, dtype="uint8")
    c, low, high, place = sbuf(ROWS, 1), sbuf(ROWS, 1), sbuf(ROWS, 1), sbuf(ROWS, 8, dtype="uint32")
    Tx.nki.load(a, x)

    Tx.nki.dma_copy(b, a)
    Tx.nki.store(planes[0, :, :], b)

    Tx.nki.dma_transpose(b, a)
    Tx.nki.store(planes[1, :, :], b)

    Tx.nki.tensor_scalar(mask, a, "greater", 1.5)
    Tx.nki.memset(b, 0.0)
    Tx.nki.tensor_copy_predicated(b, a, mask)
    Tx.nki.store(planes[2, :, :], b)

    Tx.nki.select_reduce(b, mask, a, -1.0)
    Tx.nki.store(planes[3, :, :], b)

    Tx.nki.identity(b, ROWS)
    Tx.nki.store(planes[4, :, :], b)

    Tx.nki.tensor_tensor_scan(b, a, a, 0.0, "max", "add")
    Tx.nki.store(planes[5, :, :], b)

    Tx.nki.memset(low, 3.0)
    Tx.nki.memset(high, 20.0)
    Tx.nki.range_select(b, a, "greater_equal", "less", low, high)
    Tx.nki.tensor_scalar(b, b, "max", 0.0)
    Tx.nki.store(planes[6, :, :], b)

    Tx.nki.max8(best, a)
    Tx.nki.nc_match_replace8(b, a, best, 0.0)
    Tx.nki.store(planes[7, :, :], b)

    Tx.nki.nc_find_index8(place, a, best)
    Tx.nki.tensor_copy(c, place[:, 0:1])
    Tx.nki.tensor_tensor(b, a, c, "add")
    Tx.nki.store(planes[8, :, :], b)

    Tx.nki.iota(b, [[1, COLUMNS]], 5, 100)
    Tx.nki.store(planes[9, :, :], b)

    Tx.nki.tensorscalar_reduce(c, b, a, 2.0, "mul", "max")
    Tx.nki.scalar_tensor_scalar(b, b, c, 1.0, "sub", "add", True)
    Tx.nki.store(planes[10, :, :], b)

    Tx.nki.affine_select(b, Tx.nki.index(0) >= Tx.nki.index(1), a, 0.0)
    Tx.nki.store(planes[11, :, :], b)


KERNEL = every_instruction
TARGET = "trn"
TOLERANCE = 1e-6


def arguments(rng):
    """Different values between 1 and 2, and room for the results."""
    x = 1 + rng.permutation(ROWS * COLUMNS).reshape(ROWS, COLUMNS).astype(np.float32) / (ROWS * COLUMNS)
    return x, np.empty((12, ROWS, COLUMNS), np.float32)


def _scanned(a):
    state, columns = np.zeros(len(a)), []
    for column in a.T:
        state = np.maximum(column, state) + column
        columns.append(state)
    return np.stack(columns, axis=1)


def expected(x, planes):
    """What the arrays hold afterwards."""
    a, column = x.astype(np.float64), np.arange(COLUMNS)
    order = np.argsort(-a, axis=1)
    without = a.copy()
    np.put_along_axis(without, order[:, :8], 0, axis=1)
    return {
        "planes": np.stack(
            [
                a,
                a.T,
                np.where(a > 1.5, a, 0),
                np.where(a > 1.5, a, -1),
                np.eye(ROWS),
                _scanned(a),
                np.where((column >= 3) & (column < 20), a, 0),
                without,
                a + order[:, :1],
                5.0 + 100 * np.arange(ROWS)[:, None] + column,
                2 * a.max(axis=1, keepdims=True) - 2 * a + 1,
                np.tril(a),
            ]
        )
    }
