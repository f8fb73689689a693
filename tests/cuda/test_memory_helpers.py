"""Barriers in shared memory, addresses, whole words, accumulators: source and meaning."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.support.errors import ScriptError, TirxError

BLACKWELL, HOPPER = "cuda -arch=sm_100a", "cuda -arch=sm_90a"


def run(kernel: Any, *args: Any, target: str = BLACKWELL) -> None:
    report = tirx.simulate(kernel, *args, target=target)
    assert report.verdict == "clean", str(report)


# ---- addresses and words --------------------------------------------------------------------------------------------


def test_words() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "uint8"), W: Tx.Buffer((8,), "uint32"), L: Tx.Buffer((4,), "uint64")):
        Tx.device_entry()
        Tx.thread_id([1])
        S = Tx.alloc_shared((64,), "uint8")
        for count in Tx.meta_var((1, 2, 4, 8, 16)):
            Tx.cuda.copy_bytes(S.ptr_to([count]), A.ptr_to([count]), count)
            Tx.cuda.copy_bytes(A.ptr_to([32 + count]), S.ptr_to([count]), count)
        W[0] = Tx.cuda.smem_addr_from_uint64(L[0])
        W[1] = Tx.cuda.smem_addr_from_uint64(S.ptr_to([4]))
        W[2] = Tx.cuda.cvta_generic_to_shared(S.ptr_to([4]))
        W[3] = Tx.cuda.sm100_2sm_leader_smem_addr(S.ptr_to([4]))
        W[4] = Tx.cuda.get_tmem_addr(W[5], 32, 8)
        W[6] = Tx.cuda.get_tmem_addr(Tx.uint32(5), 0, 0)

    a, words, wide = np.arange(64, dtype=np.uint8), np.zeros(8, np.uint32), np.full(4, 0x123456789, np.uint64)
    words[5] = 100
    run(kernel, a, words, wide)
    assert a[33:64].tolist() == a[1:32].tolist()
    assert words[0] == 0x23456789
    assert words[1] == words[2] == words[3]
    assert words[4] == 100 + (32 << 16) + 8
    assert words[6] == 5
    text = source_of(kernel, BLACKWELL).text
    assert "*(uint4*)&S[16] = *(const uint4*)&A[16];" in text
    assert "W[3] = (unsigned int)__cvta_generic_to_shared(&S[4]) & 0xfeffffff;" in text
    assert "W[4] = W[5] + 2097152u + 8u;" in text
    assert tirx.compile(kernel, BLACKWELL).binaries


def test_the_leader_of_a_pair() -> None:
    @Tx.prim_func
    def kernel(W: Tx.Buffer((4, 2), "uint32")):
        Tx.device_entry()
        Tx.cluster_id([1])
        rank = Tx.cta_id_in_cluster([4])
        Tx.thread_id([1])
        S = Tx.alloc_shared((8,), "uint32")
        W[rank, 0] = Tx.cuda.cvta_generic_to_shared(S.ptr_to([1]))
        W[rank, 1] = Tx.cuda.sm100_2sm_leader_smem_addr(S.ptr_to([1]))

    words = np.zeros((4, 2), np.uint32)
    run(kernel, words)
    assert words[:, 1].tolist() == words[[0, 0, 2, 2], 0].tolist()


def test_bytes_that_no_access_moves() -> None:
    with pytest.raises(ScriptError, match="no access moves 12 bytes") as caught:

        @Tx.prim_func
        def kernel(A: Tx.Buffer((64,), "uint8")):
            Tx.device_entry()
            Tx.cuda.copy_bytes(A.ptr_to([0]), A.ptr_to([16]), 12)

    assert caught.value.hint == "copy 1, 2, 4, 8, 16 at a time"


def test_eight_values_in_a_word() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((16, 8), "float32"), W: Tx.Buffer((16,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([16])
        W[tx] = Tx.cuda.cvt_e2m1x8_f32(*[A[tx, i] for i in range(8)])

    rng = np.random.default_rng(0)
    a = rng.normal(0, 3, (16, 8)).astype(np.float32)
    a[0] = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -5]  # ties go to even
    a[1] = [7, -100, np.inf, -np.inf, 0, -0.0, 0.24, -0.26]
    words = np.zeros(16, np.uint32)
    run(kernel, a, words)
    codes = np.clip(a, -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 0xF
    assert words.tolist() == (codes.astype(np.uint32) << np.arange(0, 32, 4, dtype=np.uint32)).sum(1).tolist()
    assert tirx.compile(kernel, BLACKWELL).binaries
    with pytest.raises(TirxError, match=r"`cuda.cvt_e2m1x8_f32` needs sm_100a"):
        source_of(kernel, HOPPER)


# ---- barriers -------------------------------------------------------------------------------------------------------


def test_waiting_for_a_phase() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        bar = Tx.alloc_shared((1,), "uint64")
        tile = Tx.alloc_shared((32,), "int32")
        if tx == 0:
            Tx.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), 32)
        Tx.cuda.cta_sync()
        for phase in range(2):
            if tx < 32:
                tile[tx] = A[phase * 32 + tx]
                Tx.ptx.mbarrier.arrive.shared.b64(bar.ptr_to([0]))
            else:
                Tx.cuda.mbarrier_wait(bar.ptr_to([0]), phase)
                B[phase * 32 + tx - 32] = tile[tx - 32]
            Tx.cuda.cta_sync()

    a, b = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(kernel, a, b, target=HOPPER)
    assert b.tolist() == a.tolist()


def test_waiting_in_source() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((1,), "int32"), phase: Tx.int32):
        Tx.device_entry()
        bar = Tx.alloc_shared((2,), "uint64")
        Tx.cuda.mbarrier_wait(bar.ptr_to([1]), phase)
        Tx.cuda.mbarrier_wait_acquire_cluster(bar.ptr_to([0]), phase ^ 1)
        A[0] = 1

    text = source_of(kernel, HOPPER).text
    assert "  mbarrier_wait(&bar[1], phase);\n  mbarrier_wait_acquire_cluster(bar, phase ^ 1);" in text
    assert tirx.compile(kernel, HOPPER).binaries
    with pytest.raises(TirxError, match="needs sm_90 or newer"):
        source_of(kernel, "cuda -arch=sm_80")


def test_nobody_ends_the_phase() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        bar = Tx.alloc_shared((1,), "uint64")
        Tx.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), 1)
        Tx.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
        A[0] = 1

    report = tirx.simulate(kernel, np.zeros(1, np.int32), target=HOPPER)
    assert report.verdict == "error"
    assert "deadlock" in str(report)


# ---- accumulators ---------------------------------------------------------------------------------------------------


def test_accumulators() -> None:
    @Tx.prim_func
    def kernel(C: Tx.Buffer((2, 16, 20), "float32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        acc = Tx.alloc_local((10,), "float32")
        Tx.cuda.mma_fill("float32", 8, acc.data, 2)
        Tx.cuda.mma_store("float32", 16, 16, C.ptr_to([0, 0, 0]), acc.data, 2, 20)
        for i in range(8):
            acc[i] = Tx.cast(lane * 8 + i, "float32")
        Tx.cuda.mma_store_legacy("float32", 16, 16, C.ptr_to([1, 0, 0]), acc.data, 0, 20)

    c = np.full((2, 16, 20), -1, np.float32)
    run(kernel, c, target=HOPPER)
    assert (c[0, :, :16] == 0).all()
    assert (c[:, :, 16:] == -1).all()
    # PTX ISA, fragments of m16n8: row lane / 4 and 8 more, columns lane % 4 * 2 and the next; two of them side by side.
    for lane in range(32):
        for i in range(8):
            assert (
                c[1, lane // 4 + (8 if i % 4 >= 2 else 0), lane % 4 * 2 + i % 2 + (8 if i >= 4 else 0)] == lane * 8 + i
            )
    text = source_of(kernel, HOPPER).text
    assert "mma_fill<8>(acc + 2);" in text
    assert tirx.compile(kernel, HOPPER).binaries


def test_accumulators_of_other_shapes() -> None:
    with pytest.raises(ScriptError, match="an accumulator of 8 by 8 cannot be stored"):

        @Tx.prim_func
        def kernel(C: Tx.Buffer((64,), "float32")):
            Tx.device_entry()
            acc = Tx.alloc_local((2,), "float32")
            Tx.cuda.mma_store("float32", 8, 8, C.ptr_to([0]), acc.data, 0, 8)
