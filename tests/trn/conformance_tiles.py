"""Every elementwise operation on tiles that the backend has a way for, and every reduction, in one kernel."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

SHAPE = (128, 64)
NAMES = (
    "copy", "copy_async", "permute_layout", "cast", "add", "sub", "mul", "maximum", "minimum", "fdiv", "reciprocal", "memset",
    "fill", "zero", "sqrt", "exp", "exp2", "log2", "silu", "fma", "select", "binary_chain",
)  # fmt: skip
FOLDS = ("sum", "max", "min", "reduce_negate", "unary", "unary in parts", "binary", "binary in parts", "squares")


def place(columns: int = SHAPE[1]):
    """Room for a tile: rows lie along partitions."""
    return Tx.alloc_buffer((SHAPE[0], columns), "float32", scope="trn.sbuf", layout="PF")


@Tx.inline
def elementwise(one, two, made):
    """Each operation into a tile of its own."""
    tile = Tx.tile
    tile.copy(made["copy"], one)
    tile.copy_async(made["copy_async"], one)
    tile.permute_layout(made["permute_layout"], one)
    tile.cast(made["cast"], one)
    tile.add(made["add"], one, two)
    tile.sub(made["sub"], one, two)
    tile.mul(made["mul"], one, two)
    tile.maximum(made["maximum"], one, two)
    tile.minimum(made["minimum"], one, two)
    tile.fdiv(made["fdiv"], one, two)
    tile.reciprocal(made["reciprocal"], one)
    tile.memset(made["memset"], 3.0)
    tile.fill(made["fill"], 2.5)
    tile.zero(made["zero"])
    tile.sqrt(made["sqrt"], one)
    tile.exp(made["exp"], one)
    tile.exp2(made["exp2"], one)
    tile.log2(made["log2"], one)
    tile.silu(made["silu"], one)
    tile.fma(made["fma"], one, two, one)
    tile.select(made["select"], one, two, lambda i, j: i >= j)
    tile.binary_chain(made["binary_chain"], one, 2.0, two, "mul", "add")


@Tx.inline
def reduced(one, two, spare, made):
    """Each way to fold rows, into a column of its own."""
    tile = Tx.tile
    tile.sum(made["sum"], one)
    tile.max(made["max"], one)
    tile.min(made["min"], one)
    tile.reduce_negate(made["reduce_negate"], one, "max")
    tile.unary_reduce(spare, made["unary"], one, "exp", "sum")
    tile.unary_reduce(spare, made["unary in parts"], one, "exp", "max")
    tile.binary_reduce(spare, made["binary"], one, 2.0, "add", "max")
    tile.binary_reduce(spare, made["binary in parts"], one, two, "mul", "max")
    tile.binary_reduce(spare, made["squares"], one, one, "mul", "sum")


def every_operation(x, y, results, sums):
    """Bring two tiles in, run everything, bring everything out."""
    Tx.device_entry()
    one, two, spare = place(), place(), place()
    Tx.tile.copy(one, x)
    Tx.tile.copy(two, y)
    made, folded = {name: place() for name in NAMES}, {name: place(1) for name in FOLDS}
    elementwise(one, two, made)
    reduced(one, two, spare, folded)
    for number, name in enumerate(NAMES):
        Tx.tile.copy(results[number, :, :], made[name])
    for number, name in enumerate(FOLDS):
        Tx.tile.copy(sums[number, :, :], folded[name])


KERNEL = Tx.trace(
    every_operation,
    Tx.Buffer(SHAPE, "float32"),
    Tx.Buffer(SHAPE, "float32"),
    Tx.Buffer((len(NAMES), *SHAPE), "float32"),
    Tx.Buffer((len(FOLDS), SHAPE[0], 1), "float32"),
)
TARGET = "trn"
TOLERANCE = 1e-5


def arguments(rng):
    """Two tiles of positive numbers, and room for what becomes of them."""
    x, y = (rng.uniform(0.5, 2.0, SHAPE).astype(np.float32) for _ in range(2))
    return x, y, np.zeros((len(NAMES), *SHAPE), np.float32), np.zeros((len(FOLDS), SHAPE[0], 1), np.float32)


def expected(x, y, results, sums):
    """In the order of the names."""
    i, j = np.indices(SHAPE)
    tiles = (
        x, x, x, x, x + y, x - y, x * y, np.maximum(x, y), np.minimum(x, y), x / y, 1 / x, np.full(SHAPE, 3.0), np.full(SHAPE, 2.5),
        np.zeros(SHAPE), np.sqrt(x), np.exp(x), np.exp2(x), np.log2(x), x / (1 + np.exp(-x)), x * y + x, np.where(i >= j, x, y),
        x * 2 + y,
    )  # fmt: skip
    rows = (x.sum(1), x.max(1), x.min(1), -x.max(1), np.exp(x).sum(1), np.exp(x).max(1), x.max(1) + 2, (x * y).max(1))
    return {"results": np.stack(tiles), "sums": np.stack([*rows, (x * x).sum(1)])[..., None]}
