"""A sample for the conformance suite: tile operations on one tile, each result in a plane of its own."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

ROWS, COLUMNS = 128, 64

# What is done with tiles (result, column, argument) or (result, argument), and what NumPy says.
SAME = [
    (lambda r, a: Tx.tile.copy_async(r, a), lambda a: a),
    (lambda r, a: Tx.tile.add(r, a, a), lambda a: a + a),
    (lambda r, a: Tx.tile.sub(r, a, 1.0), lambda a: a - 1),
    (lambda r, a: Tx.tile.mul(r, a, a), lambda a: a * a),
    (lambda r, a: Tx.tile.maximum(r, a, 1.5), lambda a: np.maximum(a, 1.5)),
    (lambda r, a: Tx.tile.minimum(r, a, 1.5), lambda a: np.minimum(a, 1.5)),
    (lambda r, a: Tx.tile.reciprocal(r, a), lambda a: 1 / a),
    (lambda r, a: Tx.tile.fdiv(r, a, 3.0), lambda a: a / 3),
    (lambda r, a: Tx.tile.fma(r, a, a, a), lambda a: a * a + a),
    (lambda r, a: Tx.tile.sqrt(r, a), np.sqrt),
    (lambda r, a: Tx.tile.exp(r, a), np.exp),
    (lambda r, a: Tx.tile.exp2(r, a), np.exp2),
    (lambda r, a: Tx.tile.log2(r, a), np.log2),
    (lambda r, a: Tx.tile.silu(r, a), lambda a: a / (1 + np.exp(-a))),
    (lambda r, a: Tx.tile.memset(r, 2.0), lambda a: 0 * a + 2),
    (lambda r, a: Tx.tile.fill(r, 3.0), lambda a: 0 * a + 3),
    (lambda r, a: Tx.tile.zero(r), lambda a: 0 * a),
    (lambda r, a: Tx.tile.binary_chain(r, a, 2.0, a, "mul", "add"), lambda a: a * 2 + a),
    (
        lambda r, a: Tx.tile.select(r, a, -1.0, lambda i, j: i >= j),
        lambda a: np.where(np.tri(*a.shape, dtype=bool), a, -1),
    ),
]
COLUMN = [
    (lambda r, c, a: Tx.tile.sum(c, a, (1,)), lambda a: a.sum(axis=1)),
    (lambda r, c, a: Tx.tile.max(c, a, (1,)), lambda a: a.max(axis=1)),
    (lambda r, c, a: Tx.tile.min(c, a, (1,)), lambda a: a.min(axis=1)),
    (lambda r, c, a: Tx.tile.reduce_negate(c, a, "sum"), lambda a: -a.sum(axis=1)),
    (lambda r, c, a: Tx.tile.binary_reduce(r, c, a, 2.0, "mul", "sum"), lambda a: (a * 2).sum(axis=1)),
    (lambda r, c, a: Tx.tile.binary_reduce(r, c, a, r, "mul", "sum"), lambda a: (a * a * 2).sum(axis=1)),
    (lambda r, c, a: Tx.tile.unary_reduce(r, c, a, "exp", "sum"), lambda a: np.exp(a).sum(axis=1)),
]


def sbuf(*shape, dtype="float32"):
    """A tile in SBUF."""
    return Tx.alloc_buffer(shape, dtype, scope="trn.sbuf", layout="PF")


@Tx.prim_func
def every_operation(
    x: Tx.Buffer((ROWS, COLUMNS), "float32"),
    planes: Tx.Buffer((len(SAME), ROWS, COLUMNS), "float32"),
    columns: Tx.Buffer((len(COLUMN), ROWS, 1), "float32"),
    whole: Tx.Buffer((ROWS, COLUMNS), "int32"),
    gram: Tx.Buffer((COLUMNS, COLUMNS), "float32"),
    squares: Tx.Buffer((ROWS, 1), "float32"),
):
    Tx.device_entry()
    a, r, c, integers, square = (
        sbuf(ROWS, COLUMNS),
        sbuf(ROWS, COLUMNS),
        sbuf(ROWS, 1),
        sbuf(ROWS, COLUMNS, dtype="int32"),
        sbuf(COLUMNS, COLUMNS),
    )
    Tx.tile.copy(a, x)
    for number, (act, _) in enumerate(SAME):
        act(r, a)
        Tx.tile.copy(planes[number, :, :], r)
    for number, (act, _) in enumerate(COLUMN):
        act(r, c, a)
        Tx.tile.copy(columns[number, :, :], c)
    Tx.tile.cast(integers, a)
    Tx.tile.copy(whole, integers)
    Tx.tile.gemm_async(square, a, a, transA=True, transB=True)
    Tx.tile.copy(gram, square)
    Tx.tile.binary_reduce(r, c, a, a, "mul", "sum")
    Tx.tile.copy(squares, c)


KERNEL = every_operation
TARGET = "trn"
TOLERANCE = 2e-5


def arguments(rng):
    """Values between 1 and 2, and room for the results."""
    x = rng.uniform(1, 2, (ROWS, COLUMNS)).astype(np.float32)
    planes, columns = np.empty((len(SAME), ROWS, COLUMNS), np.float32), np.empty((len(COLUMN), ROWS, 1), np.float32)
    whole, gram = np.empty((ROWS, COLUMNS), np.int32), np.empty((COLUMNS, COLUMNS), np.float32)
    return x, planes, columns, whole, gram, np.empty((ROWS, 1), np.float32)


def expected(x, *results):
    """What the arrays hold afterwards."""
    wide = x.astype(np.float64)
    return {
        "planes": np.stack([formula(wide) for _, formula in SAME]),
        "columns": np.stack([formula(wide)[:, None] for _, formula in COLUMN]),
        "whole": np.trunc(wide),
        "gram": wide.T @ wide,
        "squares": (wide * wide).sum(1, keepdims=True),
    }
