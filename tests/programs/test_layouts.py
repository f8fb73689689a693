"""Programs whose tiles are swizzled, padded and reinterpreted compute what plain ones compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.ir import Layout, PrimFunc
from tirx.layout import ComposeLayout, S, TileLayout

LAYOUTS = {
    "padded": TileLayout(S[(32, 32) : (33, 1)]),
    "swizzled": ComposeLayout(0, 5, 5, TileLayout(S[(32, 32) : (32, 1)])),
    "chunks": ComposeLayout(2, 3, 3, TileLayout(S[(32, 32) : (32, 1)])),
    "rows": ComposeLayout(2, 3, 3, TileLayout(S[(32, 32) : (32, 1)]), swizzle_inner=False),
    "columns": TileLayout(S[(32, 32) : (1, 32)]),
    "blocks": ComposeLayout(1, 2, 4, TileLayout(S[(32, 2, 16) : (16, 512, 1)])),
}


def transpose(layout: Layout) -> PrimFunc:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 96), "float32"), B: Tx.Buffer((96, 64), "float32")):
        Tx.device_entry()
        bx, by = Tx.cta_id([3, 2])
        tx, ty = Tx.thread_id([32, 8])
        T = Tx.alloc_shared((32, 32), "float32", layout=layout)
        for i in Tx.unroll(4):
            T[ty + i * 8, tx] = A[by * 32 + ty + i * 8, bx * 32 + tx]
        Tx.tvm_storage_sync("shared")
        for i in Tx.unroll(4):
            B[bx * 32 + ty + i * 8, by * 32 + tx] = T[tx, ty + i * 8]

    return kernel


def arrays() -> tuple[Any, Any]:
    return np.arange(64 * 96, dtype=np.float32).reshape(64, 96), np.zeros((96, 64), np.float32)


@pytest.mark.parametrize("name", LAYOUTS)
def test_transpose(name: str) -> None:
    a, b = arrays()
    report = tirx.simulate(transpose(LAYOUTS[name]), a, b, target="generic")
    assert report.verdict == "clean", str(report)
    assert (b == a.T).all()


def turns(layout: Layout) -> float:
    """Turns of the banks per request in which a column of the tile is read."""
    report = tirx.simulate(transpose(layout), *arrays(), target="generic")
    return next(line.conflict_degree for line in report.lines if line.space == "shared" and not line.store)


def test_columns_of_swizzled_tiles_meet_different_banks() -> None:
    assert turns(TileLayout(S[32, 32])) == 32
    assert turns(LAYOUTS["swizzled"]) == turns(LAYOUTS["padded"]) == 1


def test_vectors_views_and_stages() -> None:
    layout = ComposeLayout(3, 3, 3, TileLayout(S[(2, 64, 64) : (4096, 64, 1)]))

    @Tx.prim_func
    def kernel(
        A: Tx.Buffer((128, 64), "float16"), B: Tx.Buffer((128, 64), "float16"), C: Tx.Buffer((64, 64), "uint32")
    ):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        P = Tx.alloc_shared((2, 64, 64), "float16", layout=layout)
        for stage in range(2):
            T = P.sub[stage]
            for i in range(4):
                for v in Tx.vectorized(8):
                    T[i * 16 + tx // 8, tx % 8 * 8 + v] = A[stage * 64 + i * 16 + tx // 8, tx % 8 * 8 + v]
        Tx.tvm_storage_sync("shared")
        Q = P.sub[1, 32:64, 8:]
        for c in range(0, 56, 8):
            if tx < 32:
                B.vstore([96 + tx, 8 + c], Q.vload([tx, c], "float16x8"))
        W = P.view(128, 64).view("uint32").permute(1, 0)
        for j in range(32):
            if tx < 64:
                C[tx, j] = W[j, tx + 64]

    a = np.arange(128 * 64, dtype=np.uint16).view(np.float16).reshape(128, 64)
    b, c = np.zeros_like(a), np.zeros((64, 64), np.uint32)
    report = tirx.simulate(kernel, a, b, c, target="generic")
    assert report.verdict == "clean", str(report)
    assert (b[96:, 8:].view(np.uint16) == a[96:, 8:].view(np.uint16)).all()
    assert (c[:, :32] == a[64:].view(np.uint32)).all()
