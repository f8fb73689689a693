"""Reductions that a warpgroup makes together: every warp its rows, pairs of lanes by shuffles."""

from __future__ import annotations

import numpy as np

import tirx
from tirx import script as Tx
from tirx.layout import R, S, TileLayout, laneid, wid_in_wg


def test_warps_of_a_warpgroup_reduce_with_shuffles() -> None:
    spread = TileLayout(S[(4, 16, 2, 32) : (1 @ wid_in_wg, 1 @ laneid, 16 @ laneid, 1)])
    kept = TileLayout(S[(4, 16) : (1 @ wid_in_wg, 1 @ laneid)] + R[2 : 16 @ laneid])

    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 64), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([128])
        tile = Tx.alloc_buffer((64, 64), "float32", scope="local", layout=spread)
        row = Tx.alloc_buffer((64,), "float32", scope="local", layout=kept)
        Tx.warpgroup.copy(tile, A)
        Tx.warpgroup.sum(row, tile, thread_reduce=True)
        Tx.warpgroup.copy(B, row)

    a, b = np.random.default_rng(3).random((64, 64), np.float32), np.zeros(64, np.float32)
    assert "shfl" in tirx.compile(kernel, "cuda -arch=sm_90a").source.text
    assert tirx.simulate(kernel, a, b, target="cuda -arch=sm_90a", checks="all").verdict == "clean"
    np.testing.assert_allclose(b, a.sum(axis=1), rtol=1e-5)
