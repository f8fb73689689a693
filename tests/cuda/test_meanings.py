"""What `Tx.cuda` does in the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx

TARGET = "cuda -arch=sm_90a"


def run(kernel: Any, *args: Any) -> Any:
    """The report of a clean run."""
    report = tirx.simulate(kernel, *args, target=TARGET)
    assert report.verdict == "clean", str(report)
    return report


def test_votes() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32"), B: Tx.Buffer((4, 64), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        x: Tx.let = A[tx]
        B[0, tx] = Tx.cuda.ballot_sync(0xFFFFFFFF, x > 0)
        B[1, tx] = Tx.cast(Tx.cuda.any_sync(0xFFFFFFFF, x > 0), "uint32")
        B[2, tx] = Tx.cuda.__activemask()
        B[3, tx] = Tx.cast(Tx.cuda.elect_sync(), "uint32")

    values = np.zeros(64, np.int32)
    values[[3, 31]] = 1
    out = np.zeros((4, 64), np.uint32)
    run(kernel, values, out)
    assert (out[0, :32] == (1 << 3) + (1 << 31)).all()
    assert (out[0, 32:] == 0).all()
    assert out[1].tolist() == [1] * 32 + [0] * 32
    assert (out[2] == 0xFFFFFFFF).all()
    assert np.flatnonzero(out[3]).tolist() == [0, 32]


def test_shuffles() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32"), B: Tx.Buffer((4, 32), "float32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        x: Tx.let = A[lane]
        B[0, lane] = Tx.cuda.__shfl_sync(0xFFFFFFFF, x, 3, 8)
        B[1, lane] = Tx.cuda.__shfl_up_sync(0xFFFFFFFF, x, 2)
        B[2, lane] = Tx.cuda.__shfl_down_sync(0xFFFFFFFF, x, 1, 16)
        B[3, lane] = Tx.cuda.__shfl_xor_sync(0xFFFFFFFF, x, 5)

    a = np.arange(32, dtype=np.float32)
    out = np.zeros((4, 32), np.float32)
    run(kernel, a, out)
    lanes = np.arange(32)
    assert out[0].tolist() == (lanes // 8 * 8 + 3).tolist()
    assert out[1].tolist() == np.where(lanes < 2, lanes, lanes - 2).tolist()
    assert out[2].tolist() == np.where(lanes % 16 == 15, lanes, lanes + 1).tolist()
    assert out[3].tolist() == (lanes ^ 5).tolist()


def test_reductions() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((128,), "float32"), B: Tx.Buffer((4, 128), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        scratch = Tx.alloc_shared((4,), "float32")
        B[0, tx] = Tx.cuda.warp_sum(A[tx])
        B[1, tx] = Tx.cuda.warp_max(A[tx], 8)
        B[2, tx] = Tx.cuda.cta_sum(A[tx], 4, scratch)
        B[3, tx] = Tx.cuda.cta_min(A[tx], 4, scratch)

    a = np.random.default_rng(0).integers(-50, 50, 128).astype(np.float32)
    out = np.zeros((4, 128), np.float32)
    run(kernel, a, out)
    assert out[0].tolist() == np.repeat(a.reshape(4, 32).sum(1), 32).tolist()
    assert out[1].tolist() == np.repeat(a.reshape(16, 8).max(1), 8).tolist()
    assert (out[2] == a.sum()).all()
    assert (out[3] == a.min()).all()


def test_hardware_reductions() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32"), B: Tx.Buffer((2, 32), "uint32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        B[0, lane] = Tx.cuda.reduce_add_sync_u32(0xFFFFFFFF, A[lane])
        B[1, lane] = Tx.cuda.reduce_min_sync_u32(0xFFFFFFFF, A[lane])

    a = np.arange(5, 37, dtype=np.uint32)
    out = np.zeros((2, 32), np.uint32)
    run(kernel, a, out)
    assert (out[0] == a.sum()).all()
    assert (out[1] == 5).all()


def test_block_votes() -> None:
    @Tx.prim_func
    def kernel(B: Tx.Buffer((3, 64), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[0, tx] = Tx.cuda.syncthreads_and(tx < 64)
        B[1, tx] = Tx.cuda.syncthreads_or(tx == 40)
        B[2, tx] = Tx.cuda.syncthreads_and(tx != 40)

    out = np.full((3, 64), 7, np.int32)
    run(kernel, out)
    assert (out == np.array([[1], [1], [0]])).all()


def test_waiting_for_another_cta() -> None:
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "uint32"), A: Tx.Buffer((2,), "uint32")):
        Tx.device_entry()
        bx = Tx.cta_id([2])
        tx = Tx.thread_id([1])
        if bx == 0:
            seen = Tx.uint32(0)
            Tx.cuda.wait_until(seen, F.ptr_to([0]), seen >= 3)
            A[0] = seen
        else:
            A[1] = 9
            Tx.cuda.thread_fence()
            Tx.cuda.atomic_add(F.ptr_to([tx]), 3)

    flag, out = np.zeros(1, np.uint32), np.zeros(2, np.uint32)
    run(kernel, flag, out)
    assert out.tolist() == [3, 9]


def test_memory_and_conversion() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((16,), "float32"), H: Tx.Buffer((16,), "float16"), C: Tx.Buffer((16,), "float32")):
        Tx.device_entry()
        C[0] = Tx.cuda.ldg(A.ptr_to([3]), "float32")
        Tx.cuda.ldg(A.ptr_to([4]), "float32", dst=C[4], vec="v4")
        Tx.cuda.float8tohalf8(A.ptr_to([0]), H.ptr_to([0]))
        Tx.cuda.half8tofloat8(H.ptr_to([0]), C.ptr_to([8]))
        Tx.cuda.float22half2(H.ptr_to([8]), A.ptr_to([8]))
        C[1] = Tx.cuda.fdividef(A[6], 2.0)

    a = np.arange(16, dtype=np.float32) / 4
    half, out = np.zeros(16, np.float16), np.zeros(16, np.float32)
    run(kernel, a, half, out)
    assert out.tolist() == [a[3], a[6] / 2, 0, 0, *a[4:8].tolist(), *a[:8].tolist()]
    assert half[:10].tolist() == a[:10].tolist()


def test_small_functions() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "float32"), B: Tx.Buffer((8,), "int32"), H: Tx.Buffer((8,), "float16")):
        Tx.device_entry()
        p: Tx.let = Tx.cuda.make_float2(A[0], A[1])
        q: Tx.let = Tx.cuda.fadd2_rn(Tx.cuda.fmul2_rn(p, p), p)
        A[2] = Tx.cuda.float2_x(q)
        A[3] = Tx.cuda.float2_y(q)
        B[0] = Tx.cuda.ffs_u32(40)
        B[1] = Tx.cuda.ffs_u32(0)
        B[2] = Tx.cuda.thread_rank()
        B[3] = Tx.cast(Tx.cuda.float_as_uint(A[0]), "int32")
        A[4] = Tx.cuda.uint_as_float(Tx.uint32(0x40000000))
        H.vstore([2], Tx.cuda.hmax2(H.vload([0], "float16x2"), H.vload([4], "float16x2")))
        A[5] = Tx.cuda.half2float(H[0])

    a, b, h = (
        np.array([1, 2] + [0] * 6, np.float32),
        np.full(8, 5, np.int32),
        np.array([1, 5, 0, 0, 3, 4, 0, 0], np.float16),
    )
    run(kernel, a, b, h)
    assert a.tolist() == [1, 2, 2, 6, 2, 1, 0, 0]
    assert b[:4].tolist() == [4, 0, 0, 0x3F800000]
    assert h[2:4].tolist() == [3, 5]


def test_printing() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([2])
        Tx.cuda.printf("thread %d has %.2f, %llu%%\n", tx, A[tx], Tx.uint64(5))

    report = run(kernel, np.array([1.5, 2.5], np.float32))
    assert "thread 0 has 1.50, 5%" in str(report.output)
    assert "thread 1 has 2.50, 5%" in str(report.output)


def finding(kernel: Any, *args: Any) -> str:
    report = tirx.simulate(kernel, *args, target=TARGET)
    assert report.verdict == "error"
    return str(report)


def test_a_mask_that_names_absent_lanes() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        if lane < 16:
            A[lane] = Tx.cuda.ballot_sync(0xFFFFFFFF, lane < 4)

    assert "the mask of ballot_sync names lanes that are not here" in finding(kernel, np.zeros(32, np.uint32))


def test_a_trap() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        Tx.cuda.trap_when_assert_failed(A[lane] == 0)

    assert "the condition of trap_when_assert_failed is false" in finding(kernel, np.arange(32, dtype=np.int32))


@pytest.mark.parametrize("register", ["smid", "globaltimer"])
def test_what_no_model_knows_is_never_clean(register: str) -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        A[lane] = Tx.cuda.mov_sreg(32, register)

    assert tirx.simulate(kernel, np.zeros(32, np.uint32), target=TARGET).verdict == "incomplete"


def test_named_barriers_of_warpgroups() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((256,), "int32"), B: Tx.Buffer((256,), "int32")):
        Tx.device_entry()
        wg = Tx.warpgroup_id([2])
        t = Tx.thread_id_in_wg([128])
        tile = Tx.alloc_shared((2, 128), "int32")
        tile[wg, t] = A[wg * 128 + t]
        Tx.cuda.warpgroup_sync(wg + 1)
        B[wg * 128 + t] = tile[wg, 127 - t]

    a, b = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    run(kernel, a, b)
    assert b.tolist() == [*range(127, -1, -1), *range(255, 127, -1)]


def test_clusters_and_grids_meet() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4,), "int32"), B: Tx.Buffer((4,), "int32")):
        Tx.func_attr({"tirx.kernel_launch_params": ["cooperative"]})
        Tx.device_entry()
        cl = Tx.cluster_id([2])
        rank = Tx.cta_id_in_cluster([2])
        tx = Tx.thread_id([32])
        if tx == 0:
            A[cl * 2 + rank] = rank + 1
        Tx.cuda.cluster_sync()
        if tx == 0:
            B[cl * 2 + rank] = A[cl * 2 + 1 - rank]
        Tx.cuda.grid_sync()
        if tx == 0:
            A[cl * 2 + rank] = B[3 - cl * 2 - rank] * 10

    a, b = np.zeros(4, np.int32), np.zeros(4, np.int32)
    run(kernel, a, b)
    assert b.tolist() == [2, 1, 2, 1]
    assert a.tolist() == [10, 20, 10, 20]
