"""Lowered kernels compute what their author wrote: run on the simulator, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.layout import S, TileLayout


def simulated(kernel: object, *args: object, target: str = "generic") -> None:
    report = tirx.simulate(kernel, *args, target=target)  # type: ignore[arg-type]
    assert report.verdict == "clean", str(report)


def test_strided_and_offset_buffers() -> None:
    @Tx.prim_func
    def kernel(a: Tx.handle, B: Tx.Buffer((8, 4), "float32")):
        A = Tx.match_buffer(a, (8, 4), "float32", strides=(10, 2), elem_offset=0)
        Tx.device_entry()
        tx = Tx.thread_id([32])
        B[tx // 4, tx % 4] = A[tx // 4, tx % 4] * 2.0

    storage = np.arange(80, dtype=np.float32)
    a = np.lib.stride_tricks.as_strided(storage, (8, 4), (40, 8))
    b = np.zeros((8, 4), np.float32)
    simulated(kernel, a, b)
    np.testing.assert_array_equal(b, a * 2)


def test_a_transposed_layout_in_shared_memory() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8, 16), "float32"), B: Tx.Buffer((128,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        tile = Tx.alloc_shared((8, 16), layout=TileLayout(S[(8, 16) : (1, 8)]))
        flat = Tx.decl_buffer((128,), "float32", data=tile.data, scope="shared")
        tile[tx // 16, tx % 16] = A[tx // 16, tx % 16]
        Tx.tvm_storage_sync("shared")
        B[tx] = flat[tx]

    a = np.arange(128, dtype=np.float32).reshape(8, 16)
    b = np.zeros(128, np.float32)
    simulated(kernel, a, b)
    np.testing.assert_array_equal(b, a.T.ravel())


@pytest.mark.parametrize("width", [32, 64])
def test_ids_of_warps_and_lanes(width: int) -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((256, 4), "int32")):
        Tx.device_entry()
        tx, ty = Tx.thread_id([64, 4])
        w = Tx.warp_id()
        lane = Tx.lane_id()
        A[ty * 64 + tx, 0] = tx
        A[ty * 64 + tx, 1] = ty
        A[ty * 64 + tx, 2] = w
        A[ty * 64 + tx, 3] = lane

    a = np.zeros((256, 4), np.int32)
    simulated(kernel, a, target=f"generic -width={width}")
    thread = np.arange(256)
    np.testing.assert_array_equal(a.T, [thread % 64, thread // 64, thread // width, thread % width])


def test_vectors_and_what_has_no_vector_form() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 16), "float32"), B: Tx.Buffer((64, 16), "float32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        for v in Tx.vectorized(8):
            t: Tx.float32 = A[tx, v]
            B[tx, v] = t * t + Tx.float32(v)
        for v in Tx.vectorized(4):
            if v < n:
                B[tx, 9 + v] = A[tx, v + 1]

    a = np.arange(1024, dtype=np.float32).reshape(64, 16)
    b = np.full((64, 16), -1, np.float32)
    simulated(kernel, a, b, 3)
    want = np.full((64, 16), -1, np.float32)
    want[:, :8] = a[:, :8] ** 2 + np.arange(8, dtype=np.float32)
    want[:, 9:12] = a[:, 1:4]
    np.testing.assert_array_equal(b, want)


def test_values_of_the_host() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer(("n",), "int32"), factor: Tx.int32):
        blocks = (n + 31) // 32  # noqa: F821  # the dimension of A
        twice = factor * 2
        Tx.device_entry()
        bx = Tx.cta_id([blocks])
        tx = Tx.thread_id([32])
        i: Tx.let = bx * 32 + tx
        if i < n:  # noqa: F821  # the dimension of A
            A[i] = twice * i

    a = np.zeros(100, np.int32)
    simulated(kernel, a, 3)
    np.testing.assert_array_equal(a, np.arange(100) * 6)


def test_one_pool_of_several_types() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32"), B: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        pool = Tx.alloc_buffer((256,), "uint8", scope="shared.dyn")
        f = Tx.decl_buffer((32,), "float32", data=pool.data, scope="shared.dyn")
        i = Tx.decl_buffer((32,), "int32", data=pool.data, elem_offset=32, scope="shared.dyn")
        f[tx] = A[tx]
        i[tx] = B[tx]
        Tx.tvm_storage_sync("shared")
        A[tx] = f[31 - tx]
        B[tx] = i[31 - tx]

    a, b = np.arange(32, dtype=np.float32), np.arange(32, dtype=np.int32)
    simulated(kernel, a, b)
    np.testing.assert_array_equal(a, np.arange(32)[::-1])
    np.testing.assert_array_equal(b, np.arange(32)[::-1])


def test_bound_loops() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4, 32), "int32")):
        for bx in Tx.thread_binding(4, thread="cta.x"):
            for tx in Tx.thread_binding(32, thread="thread.x"):
                A[bx, tx] = bx * 100 + tx

    a = np.zeros((4, 32), np.int32)
    simulated(kernel, a)
    np.testing.assert_array_equal(a, np.arange(4)[:, None] * 100 + np.arange(32))
