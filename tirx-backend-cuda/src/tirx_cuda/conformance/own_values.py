"""Sums and extremes of one thread's own values, which newer machines do two and three at a time; vectors of 32 bytes."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx


@Tx.prim_func
def own_values(
    x: Tx.Buffer((32, 16), "float32"),
    total: Tx.Buffer((32,), "float32"),
    top: Tx.Buffer((32,), "float32"),
    low: Tx.Buffer((32,), "float32"),
):
    Tx.device_entry()
    tx = Tx.thread_id([32])
    mine = Tx.alloc_local((16,), "float32")
    kept = Tx.alloc_local((1,), "float32")
    Tx.tile.copy(mine[0:8], x[tx, 0:8], dispatch="vec_256b")
    Tx.tile.copy(mine[8:16], x[tx, 8:16], dispatch="vec_256b")
    Tx.tile.sum(kept, mine, dispatch="packed_add_sum")
    total[tx] = kept[0]
    Tx.tile.max(kept, mine, dispatch="3input_maxmin")
    top[tx] = kept[0]
    Tx.tile.min(kept, mine, dispatch="3input_maxmin")
    low[tx] = kept[0]


KERNEL = own_values
TARGET = "cuda -arch=sm_100a"
TOLERANCE = 1e-6


def arguments(rng):
    """Rows of numbers."""
    return rng.standard_normal((32, 16)).astype(np.float32), *(np.zeros(32, np.float32) for _ in range(3))


def expected(x, total, top, low):
    """What the arrays hold afterwards."""
    return {"total": x.sum(1), "top": x.max(1), "low": x.min(1)}
