"""Instructions that no made-up call shows: copies by queues, scans, selections, the eight largest elements."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS = 128, 64


def tile(rows: int = ROWS, columns: int = COLUMNS, dtype: str = "float32"):
    """Room in SBUF: rows lie along partitions."""
    return Tx.alloc_buffer((rows, columns), dtype, scope="trn.sbuf", layout="PF")


def instructions(x, scanned, turned, lower, kept, ranged, top, places, rest, linear, copied):
    """Each result goes out by a queue."""
    Tx.device_entry()
    data, ones, made = tile(), tile(), tile()
    Tx.nki.dma_copy(data, x)
    Tx.nki.memset(ones, 1.0)
    Tx.nki.tensor_tensor_scan(made, ones, data, 0.0, "multiply", "add")
    Tx.nki.dma_copy(scanned, made)
    across = tile(COLUMNS, ROWS)
    Tx.nki.dma_transpose(across, data)
    Tx.nki.dma_copy(turned, across)
    Tx.nki.affine_select(made, Tx.nki.index(0) >= Tx.nki.index(1), data, 0.0)
    Tx.nki.dma_copy(lower, made)
    unit, chosen, there = tile(COLUMNS, COLUMNS), tile(COLUMNS, COLUMNS), tile(COLUMNS, COLUMNS, "uint8")
    Tx.nki.identity(unit, COLUMNS)
    Tx.nki.tensor_copy(there, unit)
    Tx.nki.select_reduce(chosen, there, data[0:COLUMNS, :], -1.0)
    Tx.nki.dma_copy(kept, chosen)
    low, high = tile(ROWS, 1), tile(ROWS, 1)
    Tx.nki.memset(low, 8.0)
    Tx.nki.memset(high, 24.0)
    most = tile(ROWS, 1)
    Tx.nki.range_select(made, data, "greater_equal", "less", low, high, most)
    Tx.nki.dma_copy(ranged, most)
    eight, where = tile(ROWS, 8), tile(ROWS, 8, "uint32")
    Tx.nki.max8(eight, data)
    Tx.nki.nc_find_index8(where, data, eight)
    Tx.nki.dma_copy(top, eight)
    Tx.nki.dma_copy(places, where)
    Tx.nki.nc_match_replace8(made, data, eight, 0.0)
    Tx.nki.dma_copy(rest, made)
    Tx.nki.scalar_tensor_scalar(made, data, 2.0, 1.0, "multiply", "add")
    Tx.nki.dma_copy(linear, made)
    Tx.nki.dma_copy(copied, x)


WHOLE = (ROWS, COLUMNS)
SHAPES = (WHOLE, WHOLE, WHOLE[::-1], WHOLE, (COLUMNS, COLUMNS), (ROWS, 1), (ROWS, 8), (ROWS, 8), WHOLE, WHOLE, WHOLE)
DTYPES = ("float32",) * 7 + ("uint32",) + ("float32",) * 3
KERNEL = Tx.trace(instructions, *(Tx.Buffer(shape, dtype) for shape, dtype in zip(SHAPES, DTYPES, strict=True)))
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """A tile of different numbers between 1 and 2, and room for every result."""
    data = (1 + rng.permutation(ROWS * COLUMNS).reshape(WHOLE) / (ROWS * COLUMNS)).astype(np.float32)
    return data, *(np.zeros(shape, dtype) for shape, dtype in zip(SHAPES[1:], DTYPES[1:], strict=True))


def expected(x, *results):
    """By name."""
    i, j = np.indices(WHOLE)
    largest = np.sort(x, axis=1)[:, ::-1][:, :8]
    return {
        "scanned": np.cumsum(x, axis=1),
        "turned": x.T,
        "lower": np.where(i >= j, x, 0),
        "kept": np.where(np.eye(COLUMNS) > 0, x[:COLUMNS], -1),
        "ranged": x[:, 8:24].max(axis=1, keepdims=True),
        "top": largest,
        "places": np.argsort(-x, axis=1)[:, :8],
        "rest": np.where(x >= largest[:, 7:8], 0, x),
        "linear": x * 2 + 1,
        "copied": x,
    }
