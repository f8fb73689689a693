"""SiLU of one half of each row times the other half, in float16: the gate of many language models.

This kernel is traced: a plain Python function under a builder.
"""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


def build(columns):
    """The kernel `silu_mul(x, y)` for rows of `2 * columns` elements."""
    with Tx.builder.Builder() as ib:
        with Tx.prim_func():
            Tx.func_name("silu_mul")
            rows = Tx.var("int32", "rows")
            x = Tx.arg("x", Tx.Buffer((rows, 2 * columns), "float16"))
            y = Tx.arg("y", Tx.Buffer((rows, columns), "float16"))
            Tx.device_entry()
            row = Tx.cta_id([rows])
            tx = Tx.thread_id([128])
            with Tx.serial(columns // 128) as i:
                column = i * 128 + tx
                gate = Tx.Bind(Tx.cast(x[row, column], "float32"))
                value = Tx.Bind(Tx.cast(x[row, column + columns], "float32"))
                Tx.buffer_store(y, Tx.cast(gate / (1.0 + Tx.exp(-gate)) * value, "float16"), [row, column])
    return ib.get()


KERNEL = build(1024)
TARGET = "cuda"
TOLERANCE = 2e-3


def arguments(rng, rows=4096):
    """`rows` rows of 2048 elements and room for the result."""
    return rng.standard_normal((rows, 2048)).astype(np.float16), np.empty((rows, 1024), np.float16)


def expected(x, y):
    """What the arrays hold afterwards."""
    gate, value = x[:, :1024].astype(np.float64), x[:, 1024:].astype(np.float64)
    return {"y": gate / (1 + np.exp(-gate)) * value}
