"""The K largest of each row and where they stand, by K reductions: find the maximum, the first place that has it, strike it out."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

WIDTH, K, WARPS = 256, 8, 4
NOWHERE = WIDTH


@Tx.jit
def tile_top_k(
    X: Tx.Buffer((N, WIDTH), "float32"),
    values: Tx.Buffer((N, K), "float32"),
    places: Tx.Buffer((N, K), "int32"),
    *,
    N: Tx.constexpr,
):
    Tx.device_entry()
    block = Tx.cta_id([N // WARPS])
    warp = Tx.warp_id([WARPS])
    lane = Tx.lane_id([32])
    row: Tx.let = block * WARPS + warp
    left = Tx.alloc_shared((WARPS, WIDTH), "float32")
    numbers = Tx.alloc_shared((WARPS, WIDTH), "int32")
    candidates = Tx.alloc_shared((WARPS, WIDTH), "int32")
    best = Tx.alloc_shared((WARPS, 1), "float32")
    place = Tx.alloc_shared((WARPS, 1), "int32")
    Tx.warp.copy(left[warp, :], X[row, :])
    for i in Tx.serial(WIDTH // 32):
        numbers[warp, i * 32 + lane] = i * 32 + lane
    for k in Tx.serial(K):
        Tx.cuda.warp_sync()
        Tx.warp.max(best[warp, :], left[warp, :])
        Tx.cuda.warp_sync()
        Tx.warp.select(candidates[warp, :], numbers[warp, :], NOWHERE, lambda i, j: left[warp, j] == best[warp, 0])
        Tx.cuda.warp_sync()
        Tx.warp.min(place[warp, :], candidates[warp, :])
        Tx.cuda.warp_sync()
        if lane == 0:
            values[row, k] = best[warp, 0]
            places[row, k] = place[warp, 0]
            left[warp, place[warp, 0]] = Tx.min_value("float32")


KERNEL = tile_top_k.specialize(N=128)
TARGET = "cuda"
TOLERANCE = 0.0


def arguments(rng, n=128):
    """Rows, and room for the values and their places."""
    return rng.standard_normal((n, WIDTH), dtype=np.float32), np.empty((n, K), np.float32), np.empty((n, K), np.int32)


def expected(X, values, places):
    """What the arrays hold afterwards."""
    order = np.argsort(-X, axis=-1, kind="stable")[:, :K]
    return {"values": np.take_along_axis(X, order, -1), "places": order}
