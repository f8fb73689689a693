"""Kernels in which variants are chosen that need tiles in registers or one thread; and what is knowingly not shown."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

# Source that is only there when profiling is on.
GAPS = {
    "intrinsics.emittable: cuda.iket.range_pop": "written where profiling is on",
    "intrinsics.emittable: cuda.iket.sentinel_token": "written where profiling is on",
}


@Tx.prim_func
def vectors(x: Tx.Buffer((64, 16), "float16"), y: Tx.Buffer((64, 16), "float16")):
    """Each thread copies its row in vectors of every width, a part each."""
    Tx.device_entry()
    tx = Tx.thread_id([64])
    Tx.tile.copy(y[tx, 0:8], x[tx, 0:8], dispatch="vec_128b")
    Tx.tile.copy(y[tx, 8:12], x[tx, 8:12], dispatch="vec_64b")
    Tx.tile.copy(y[tx, 12:14], x[tx, 12:14], dispatch="vec_32b")
    Tx.tile.copy(y[tx, 14:15], x[tx, 14:15], dispatch="vec_16b")
    Tx.tile.copy(y[tx, 15:16], x[tx, 15:16], dispatch="vec_16b")


KERNEL = vectors
TARGET = "cuda"


def arguments(rng):
    """Rows of halves."""
    return rng.standard_normal((64, 16)).astype(np.float16), np.zeros((64, 16), np.float16)


def expected(x, y):
    """What the arrays hold afterwards."""
    return {"y": x}
