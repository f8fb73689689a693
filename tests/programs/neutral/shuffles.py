"""The largest element and the sum of each row, through shuffles alone: one warp, of whatever width, for each row."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

COLUMNS = 512


def kernel(width):
    """Rows by warps of `width` threads; a warp of `width` takes log2(width) steps."""
    steps = width.bit_length() - 1

    @Tx.prim_func
    def extremes(
        x: Tx.Buffer(("rows", COLUMNS), "float32"),
        largest: Tx.Buffer(("rows",), "float32"),
        total: Tx.Buffer(("rows",), "float32"),
    ):
        Tx.device_entry()
        bx = Tx.cta_id([Tx.ceildiv(rows, 2)])
        warp = Tx.warp_id([2])
        lane = Tx.lane_id([width])
        row: Tx.let = bx * 2 + warp
        if row < rows:
            top: Tx.float32 = Tx.min_value("float32")
            sum: Tx.float32 = 0.0
            for i in Tx.unroll(COLUMNS // width):
                top = Tx.max(top, x[row, i * width + lane])
                sum += x[row, i * width + lane]
            mask: Tx.let = Tx.max_value(f"uint{width}")  # one bit for each lane
            for step in Tx.unroll(steps):
                top = Tx.max(top, Tx.tvm_warp_shuffle_xor(mask, top, 1 << step, width, width))
                sum += Tx.tvm_warp_shuffle_down(mask, sum, width >> (step + 1), width, width)
            sum = Tx.tvm_warp_shuffle(mask, sum, 0, width, width)
            if lane == width - 1:
                largest[row] = top
                total[row] = sum

    return extremes


TOLERANCE = 1e-5


def arguments(rng):
    """An odd number of rows: the last warp has nothing to do."""
    return rng.standard_normal((7, COLUMNS), dtype=np.float32), np.empty(7, np.float32), np.empty(7, np.float32)


def expected(x, largest, total):
    """What the arrays hold afterwards."""
    return {"largest": x.max(axis=1), "total": x.astype(np.float64).sum(axis=1)}


# ruff: noqa: F821
