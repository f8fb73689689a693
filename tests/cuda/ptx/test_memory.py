"""Loads, stores, atomics, and copies that are seen only when somebody waits for them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx

from .machine import run

TARGET = "cuda -arch=sm_90a"


def clean(kernel: Any, *args: Any) -> None:
    """A run without findings."""
    report = tirx.simulate(kernel, *args, target=TARGET)
    assert report.verdict == "clean", str(report)


def test_vectors_and_extension_to_wider_registers() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32, 4), "int8"), B: Tx.Buffer((32, 4), "int32"), C: Tx.Buffer((32, 4), "uint8")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        v = Tx.alloc_local((4,), "int32")
        Tx.ptx.ld.global_.v4.s8(v[0], v[1], v[2], v[3], A.ptr_to([tx, 0]))
        for i in range(4):
            B[tx, i] = v[i]
        Tx.ptx.ld.global_.L1__no_allocate.v4.u8(v[0], v[1], v[2], v[3], A.ptr_to([tx, 0]))
        Tx.ptx.st.global_.v4.u8(C.ptr_to([tx, 0]), v[3], v[2], v[1], v[0])

    a = np.arange(-64, 64, dtype=np.int8).reshape(32, 4)
    b, c = np.zeros((32, 4), np.int32), np.zeros((32, 4), np.uint8)
    clean(kernel, a, b, c)
    assert (b == a).all()
    assert (c == a.view(np.uint8)[:, ::-1]).all()


def copying(wait: bool) -> Any:
    """A kernel that reads a copy, with or without waiting for it."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((32, 4), "float32"), B: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((32, 4), "float32")
        Tx.ptx.cp.async_.cg.shared.global_(s.ptr_to([tx, 0]), A.ptr_to([tx, 0]), 16)
        Tx.ptx.cp.async_.commit_group()
        if wait:
            Tx.ptx.cp.async_.wait_group(0)
        B[tx] = s[tx, 1]

    return kernel


def test_a_copy_is_there_after_the_wait_and_not_before() -> None:
    a, b = np.arange(128, dtype=np.float32).reshape(32, 4), np.zeros(32, np.float32)
    clean(copying(True), a, b)
    assert (b == a[:, 1]).all()
    report = tirx.simulate(copying(False), a, b, target=TARGET)
    assert report.verdict == "error"
    assert "uninitialised" in {finding.kind for finding in report.findings}
    assert not (b == a[:, 1]).any()


def test_groups_complete_in_order() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2, 32), "float32"), B: Tx.Buffer((3, 32), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((2, 32), "float32")
        s[0, tx] = -1.0
        s[1, tx] = -1.0
        for i in Tx.unroll(2):
            Tx.ptx.cp.async_.ca.shared.global_(s.ptr_to([i, tx]), A.ptr_to([i, tx]), 4)
            Tx.ptx.cp.async_.commit_group()
        Tx.ptx.cp.async_.wait_group(1)
        B[0, tx] = s[0, tx]
        B[1, tx] = s[1, tx]
        Tx.ptx.cp.async_.wait_all()
        B[2, tx] = s[1, tx]

    a, b = np.arange(64, dtype=np.float32).reshape(2, 32), np.zeros((3, 32), np.float32)
    report = tirx.simulate(kernel, a, b, target=TARGET)
    (found,) = report.findings
    assert (found.kind, found.span.line - kernel.span.line) == ("in_flight", 11)
    assert "reads an element of `s` while `cp.async.ca` may still be writing it" in found.message
    assert "`cp.async.wait_group` must come before" in found.notes
    assert (b == [a[0], np.full(32, -1), a[1]]).all()


def test_what_is_not_copied_becomes_zero() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32, 4), "float32"), B: Tx.Buffer((2, 32, 4), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((2, 32, 4), "float32")
        Tx.ptx.cp.async_.cg.shared.global_(s.ptr_to([0, tx, 0]), A.ptr_to([tx, 0]), 16, Tx.cast(tx % 5 * 4, "uint32"))
        Tx.ptx.cp.async_.cg.shared.global_(s.ptr_to([1, tx, 0]), A.ptr_to([tx, 0]), 16, tx % 2 == 0)
        Tx.ptx.cp.async_.wait_all()
        for i in range(4):
            B[0, tx, i] = s[0, tx, i]
            B[1, tx, i] = s[1, tx, i]

    a, b = np.arange(1, 129, dtype=np.float32).reshape(32, 4), np.zeros((2, 32, 4), np.float32)
    clean(kernel, a, b)
    lanes = np.arange(32)[:, None]
    assert (b[0] == np.where(np.arange(4) < lanes % 5, a, 0)).all()
    assert (b[1] == np.where(lanes % 2 == 0, 0, a)).all()


def test_atomics_answer_the_old_value() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32"), B: Tx.Buffer((2, 32), "int32"), F: Tx.Buffer((2,), "float16")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        old: Tx.int32 = 0
        Tx.ptx.atom.global_.add.s32(old, A.ptr_to([0]), 2)
        B[0, tx] = old
        Tx.ptx.atom.relaxed.gpu.global_.max.s32(old, A.ptr_to([1]), tx)
        Tx.ptx.atom.global_.inc.u32(old, A.ptr_to([2]), 9)
        B[1, tx] = old
        Tx.ptx.atom.global_.cas.b32(old, A.ptr_to([3]), tx, tx + 1)
        Tx.ptx.red.global_.xor.b32(A.ptr_to([4]), 1 << tx)
        Tx.ptx.red.global_.add.noftz.f16x2(F.ptr_to([0]), Tx.uint32(0x40003C00))

    a, b, f = np.zeros(8, np.int32), np.zeros((2, 32), np.int32), np.zeros(2, np.float16)
    clean(kernel, a, b, f)
    assert a[:5].tolist() == [64, 31, 2, 32, -1]
    assert b[0].tolist() == list(range(0, 64, 2))
    assert b[1].tolist() == [i % 10 for i in range(32)]
    assert f.tolist() == [32.0, 64.0]


def test_bulk_copies_through_an_mbarrier() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32", align=16)
        bar = Tx.alloc_shared((1,), "uint64")
        done: Tx.bool = False
        if tx == 0:
            Tx.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), 1)
        Tx.cuda.cta_sync()
        if tx == 0:
            Tx.ptx.mbarrier.arrive.expect_tx.shared__cta.b64(bar.ptr_to([0]), 256)
            Tx.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes(
                s.ptr_to([0]), A.ptr_to([0]), 256, bar.ptr_to([0])
            )
        while not done:
            Tx.ptx.mbarrier.try_wait.parity.shared__cta.b64(done, bar.ptr_to([0]), 0)
        s[tx] = s[tx] * 2.0
        Tx.ptx.fence.proxy.async_.shared__cta()
        Tx.ptx.bar.sync(0)
        if tx == 0:
            Tx.ptx.cp.async_.bulk.global_.shared__cta.bulk_group(B.ptr_to([0]), s.ptr_to([0]), 256)
            Tx.ptx.cp.async_.bulk.commit_group()
            Tx.ptx.cp.async_.bulk.wait_group(0)

    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    clean(kernel, a, b)
    assert (b == 2 * a).all()


def test_a_bulk_copy_that_nobody_waits_for_is_not_seen() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32", align=16)
        bar = Tx.alloc_shared((1,), "uint64")
        if tx == 0:
            Tx.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), 1)
            Tx.ptx.mbarrier.arrive.expect_tx.shared__cta.b64(bar.ptr_to([0]), 256)
            Tx.ptx.cp.async_.bulk.shared__cta.global_.mbarrier__complete_tx__bytes(
                s.ptr_to([0]), A.ptr_to([0]), 256, bar.ptr_to([0])
            )
        Tx.cuda.cta_sync()
        B[tx] = s[tx]

    a, b = np.arange(1, 65, dtype=np.float32), np.zeros(64, np.float32)
    report = tirx.simulate(kernel, a, b, target=TARGET)
    assert "uninitialised" in {finding.kind for finding in report.findings}
    assert not (a == b).any()


def test_asking_for_another_cluster_is_refused() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        answer = Tx.alloc_shared((2,), "uint64", align=16)
        bar = Tx.alloc_shared((1,), "uint64")
        got = Tx.alloc_local((1,), "uint64x2")
        if tx == 0:
            Tx.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), 1)
            answer[0] = Tx.uint64(7)
            Tx.ptx.mbarrier.arrive.expect_tx.shared__cta.b64(bar.ptr_to([0]), 16)
            Tx.ptx.clusterlaunchcontrol.try_cancel.async_.shared__cta.mbarrier__complete_tx__bytes.b128(
                answer.ptr_to([0]), bar.ptr_to([0])
            )
        Tx.cuda.cta_sync()
        done: Tx.bool = Tx.bool(False)
        while not done:
            Tx.ptx.mbarrier.try_wait.parity.shared__cta.b64(done, bar.ptr_to([0]), 0)
        taken: Tx.bool = Tx.bool(True)
        Tx.ptx.ld.shared__cta.b128(got[0], answer.ptr_to([0]))
        Tx.ptx.clusterlaunchcontrol.query_cancel.is_canceled.pred.b128(taken, got[0])
        A[tx] = Tx.if_then_else(taken, Tx.uint32(1), Tx.uint32(2))

    data = np.zeros(32, np.uint32)
    report = tirx.simulate(kernel, data, target="cuda -arch=sm_100a")
    assert report.verdict == "clean", str(report)
    assert data.tolist() == [2] * 32


def test_reducing_bulk_copies() -> None:
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "int32", align=16)
        s[tx] = tx
        Tx.ptx.fence.proxy.async_.shared__cta()
        Tx.ptx.bar.sync(0)
        if tx < 2:
            Tx.ptx.cp.reduce.async_.bulk.global_.shared__cta.bulk_group.add.s32(B.ptr_to([0]), s.ptr_to([0]), 256)
            Tx.ptx.cp.async_.bulk.commit_group()
            Tx.ptx.cp.async_.bulk.wait_group(0)

    b = np.full(64, 100, np.int32)
    clean(kernel, b)
    assert (b == 100 + 2 * np.arange(64)).all()


def test_named_barriers_meet_those_who_arrive() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((32,), "int32")
        if tx < 32:
            s[tx] = tx * 3
            Tx.ptx.bar.arrive(1, 64)
        else:
            Tx.ptx.bar.sync(1, 64)
            A[tx] = s[63 - tx]

    a = np.zeros(64, np.int32)
    clean(kernel, a)
    assert a[32:].tolist() == [3 * (63 - tx) for tx in range(32, 64)]


def test_barriers_that_reduce() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((3, 64), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        n: Tx.uint32 = Tx.uint32(0)
        p: Tx.bool = False
        Tx.ptx.bar.red.popc.u32(n, 1, tx < 10)
        A[0, tx] = n
        Tx.ptx.barrier.cta.red.and_.aligned.pred(p, 2, tx < 64)
        A[1, tx] = Tx.cast(p, "uint32")
        Tx.ptx.bar.red.or_.pred(p, 3, tx == 99)
        A[2, tx] = Tx.cast(p, "uint32")

    a = np.zeros((3, 64), np.uint32)
    clean(kernel, a)
    assert (a == [[10], [1], [0]]).all()


def test_clusters_share_memory() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2, 32), "uint32")):
        Tx.device_entry()
        cb = Tx.cta_id_in_cluster([2])
        Tx.cluster_id([1])
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((32,), "uint32")
        there: Tx.uint32 = Tx.uint32(0)
        value: Tx.uint32 = Tx.uint32(0)
        s[tx] = Tx.cast(cb * 100 + tx, "uint32")
        Tx.ptx.barrier.cluster.arrive.release.aligned()
        Tx.ptx.barrier.cluster.wait.acquire.aligned()
        Tx.ptx.mapa.shared__cluster.u32(
            there, Tx.cuda.cvta_generic_to_shared(s.ptr_to([tx])), Tx.cast(1 - cb, "uint32")
        )
        Tx.ptx.ld.shared__cluster.u32(value, there)
        A[cb, tx] = value
        Tx.ptx.barrier.cluster.arrive.aligned()
        Tx.ptx.barrier.cluster.wait.aligned()

    a = np.zeros((2, 32), np.uint32)
    clean(kernel, a)
    assert a[0].tolist() == [100 + i for i in range(32)]
    assert a[1].tolist() == list(range(32))


# ---- conversions ----------------------------------------------------------------------------------------------------


def test_floats_to_integers_saturate() -> None:
    a = np.float32([1.5, 2.5, -1.5, 3e9, -3e9, np.nan, np.inf])
    assert run("cvt.rni.s32.f32", a).view(np.int32).tolist() == [2, 2, -2, 2**31 - 1, -(2**31), 0, 2**31 - 1]
    assert run("cvt.rzi.u32.f32", a).tolist() == [1, 2, 0, 3000000000, 0, 0, 2**32 - 1]
    assert run("cvt.rpi.s32.f32", a[:3]).view(np.int32).tolist() == [2, 3, -1]


def test_integers_to_floats_round_as_asked() -> None:
    a = np.int32([2**24 + 1, -(2**24) - 1])
    assert run("cvt.rn.f32.s32", a).view(np.float32).tolist() == [2.0**24, -(2.0**24)]
    assert run("cvt.rp.f32.s32", a).view(np.float32).tolist() == [2.0**24 + 2, -(2.0**24)]
    wide = np.uint64([2**63 + 1, 2**53 + 1])
    assert run("cvt.rz.f64.u64", wide).view(np.float64).tolist() == [2.0**63, 2.0**53]
    assert run("cvt.rp.f64.u64", wide).view(np.float64).tolist() == [2.0**63 + 2048, 2.0**53 + 2]


def test_integers_narrow_and_saturate() -> None:
    a = np.int32([300, -5, 100])
    assert run("cvt.sat.u8.s32", a).tolist() == [255, 0, 100]
    assert run("cvt.u8.s32", a).tolist() == [44, 251, 100]


def test_pairs_of_halves_put_the_first_operand_on_top() -> None:
    made = run("cvt.rn.f16x2.f32", np.float32([1.0]), np.float32([2.0]))
    assert made.view(np.float16).tolist() == [2.0, 1.0]
    bf = run("cvt.rz.bf16x2.f32", np.float32([1.999]), np.float32([-1.999]))
    assert bf.view(np.dtype(ml_dtypes.bfloat16)).astype(np.float32).tolist() == [-1.9921875, 1.9921875]
    assert run("cvt.rn.relu.f16.f32", np.float32([-3.0, 3.0])).view(np.float16).tolist() == [0.0, 3.0]
    assert run("cvt.rna.tf32.f32", np.float32([1 + 2**-11])).view(np.float32).tolist() == [1 + 2**-10]


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_eight_bit_formats_there_and_back(name: str) -> None:
    dtype = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[name]
    a, b = np.float32([1.1, 500000.0, np.nan]), np.float32([-2.3, -500000.0, 0.0])
    made = run(f"cvt.rn.satfinite.{name}x2.f32", a, b).view(np.uint8).reshape(-1, 2)
    largest = float(ml_dtypes.finfo(dtype).max)
    assert made.view(dtype).astype(np.float32)[:2].tolist() == [
        [float(np.float32(-2.3).astype(dtype)), float(np.float32(1.1).astype(dtype))],
        [-largest, largest],
    ]
    assert made[2].tolist() == [0, 0x7F]
    back = run(f"cvt.rn.f16x2.{name}x2", np.ascontiguousarray(made[:2]).view(np.uint16)[:, 0]).view(np.float16)
    assert back.tolist() == made[:2].view(dtype).astype(np.float16).reshape(-1).tolist()


def test_powers_of_two() -> None:
    made = run("cvt.rp.ue8m0x2.f32", np.float32([3.0]), np.float32([4.0])).view(np.uint8).tolist()
    assert made == [129, 129]
    assert run("cvt.rz.ue8m0x2.f32", np.float32([3.0]), np.float32([0.75])).view(np.uint8).tolist() == [126, 128]


def test_packing_integers() -> None:
    assert run("cvt.pack.sat.u8.s32.b32", np.int32([300]), np.int32([-1]), np.uint32([0xABCD])).tolist() == [0xABCDFF00]
    assert run("cvt.pack.sat.s16.s32", np.int32([40000]), np.int32([-2])).tolist() == [0x7FFFFFFE]


# ---- warps ----------------------------------------------------------------------------------------------------------

ALL = np.full(32, 0xFFFFFFFF, np.uint32)
LANE = np.arange(32, dtype=np.uint32)


def test_shuffles_say_whether_the_lane_was_in_range() -> None:
    control = np.full(32, 31, np.uint32)

    @Tx.prim_func
    def kernel(A: Tx.Buffer((2, 32), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        v: Tx.uint32 = Tx.uint32(0)
        p: Tx.bool = False
        Tx.ptx.shfl.sync.down.b32(v, p, Tx.cast(tx, "uint32"), 4, 31, Tx.uint32(0xFFFFFFFF))
        A[0, tx] = v
        A[1, tx] = Tx.cast(p, "uint32")

    a = np.zeros((2, 32), np.uint32)
    clean(kernel, a)
    assert a[0].tolist() == [i + 4 if i < 28 else i for i in range(32)]
    assert a[1].tolist() == [1] * 28 + [0] * 4
    assert run("shfl.sync.idx.b32", LANE, LANE // 8, np.full(32, 0x181F, np.uint32), ALL).tolist() == [
        i // 8 * 8 + i // 8 for i in range(32)
    ]
    up = run("shfl.sync.up.b32", LANE, np.full(32, 1, np.uint32), np.zeros(32, np.uint32), ALL)
    assert up.tolist() == [0, *range(31)]
    assert run("shfl.sync.bfly.b32", LANE, np.full(32, 5, np.uint32), control, ALL).tolist() == [
        i ^ 5 for i in range(32)
    ]


def test_votes_and_matches() -> None:
    yes = LANE < 3
    assert set(run("vote.sync.any.pred", yes, ALL).tolist()) == {1}
    assert set(run("vote.sync.all.pred", yes, ALL).tolist()) == {0}
    assert set(run("vote.sync.uni.pred", yes & False, ALL).tolist()) == {1}
    assert set(run("vote.sync.ballot.b32", yes, ALL).tolist()) == {7}
    assert run("match.any.sync.b32", LANE % 2, ALL).tolist() == [0x55555555, 0xAAAAAAAA] * 16
    assert set(run("match.all.sync.b32", LANE * 0, ALL).tolist()) == {0xFFFFFFFF}


def test_reductions_of_a_warp() -> None:
    values = np.random.default_rng(1).integers(0, 2**32, 32, dtype=np.uint32)
    assert set(run("redux.sync.add.u32", values, ALL).tolist()) == {int(values.sum(dtype=np.uint64)) % 2**32}
    assert set(run("redux.sync.min.s32", values.view(np.int32), ALL).view(np.int32).tolist()) == {
        int(values.view(np.int32).min())
    }
    assert set(run("redux.sync.xor.b32", values, ALL).tolist()) == {int(np.bitwise_xor.reduce(values))}
    floats = np.float32([*range(31), np.nan])
    assert set(run("redux.sync.max.f32", floats, ALL).view(np.float32).tolist()) == {30.0}
    assert set(run("redux.sync.max.NaN.f32", floats, ALL).tolist()) == {0x7FFFFFFF}


def test_the_elected_lane_is_one() -> None:
    leader, chosen = run("elect.sync", ALL)
    assert set(leader.tolist()) == {0}
    assert chosen.tolist() == [1] + [0] * 31


def test_special_registers() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((5, 128), "uint32")):
        Tx.device_entry()
        b = Tx.cta_id([2])
        tx = Tx.thread_id([64])
        i = b * 64 + tx
        A[0, i] = Tx.ptx.sreg("laneid")
        A[1, i] = Tx.ptx.sreg("%tid.x") + Tx.ptx.sreg("ctaid.x") * 1000
        A[2, i] = Tx.ptx.sreg("ntid.x") * 10 + Tx.ptx.sreg("nctaid.x")
        A[3, i] = Tx.ptx.sreg("lanemask_lt")
        A[4, i] = Tx.ptx.sreg("warpid")

    a = np.zeros((5, 128), np.uint32)
    clean(kernel, a)
    lanes = np.arange(128) % 32
    assert (a[0] == lanes).all()
    assert (a[1] == np.arange(128) % 64 + np.arange(128) // 64 * 1000).all()
    assert (a[2] == 642).all()
    assert (a[3] == (1 << lanes) - 1).all()
    assert (a[4] == np.arange(128) % 64 // 32).all()


def test_atomics_of_16_bytes() -> None:
    """A lock-free counter whose upper half says who was last; each thread tries until it is its turn."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((4,), "uint64"), C: Tx.Buffer((32, 2), "uint64")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        old = Tx.alloc_local((1,), "uint64x2")
        wanted = Tx.alloc_local((1,), "uint64x2")
        new = Tx.alloc_local((1,), "uint64x2")
        Tx.ptx.mov.b128(wanted[0], Tx.uint64(5), Tx.uint64(6))
        Tx.ptx.mov.b128(new[0], Tx.cast(tx, "uint64"), Tx.uint64(6))
        Tx.ptx.atom.global_.cas.b128(old[0], A.ptr_to([0]), wanted[0], new[0])
        Tx.ptx.mov.b128(C[tx, 0], C[tx, 1], old[0])
        Tx.ptx.atom.global_.exch.b128(old[0], A.ptr_to([2]), new[0])

    a, c = np.array([5, 6, 1, 2], np.uint64), np.zeros((32, 2), np.uint64)
    report = tirx.simulate(kernel, a, c, target="cuda -arch=sm_90a")
    assert report.verdict == "clean", str(report)
    assert a.tolist() == [0, 6, 31, 6]
    assert c.tolist() == [[5, 6]] + [[0, 6]] * 31


def test_instructions_without_a_meaning_make_the_run_incomplete() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        Tx.ptx.fabric.submit()
        A[tx] = tx

    report = tirx.simulate(kernel, np.zeros(32, np.int32), target="cuda -arch=sm_100a")
    assert report.verdict == "incomplete", str(report)


def test_leaving_the_kernel() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        Tx.ptx.exit(pred=tx % 2 == 0)
        A[tx] = tx

    a = np.full(32, -1, np.int32)
    clean(kernel, a)
    assert a.tolist() == [tx if tx % 2 else -1 for tx in range(32)]


def test_a_trap_is_a_finding() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        Tx.ptx.trap(pred=A[tx] != 0)

    assert tirx.simulate(kernel, np.zeros(32, np.int32), target=TARGET).verdict == "clean"
    report = tirx.simulate(kernel, np.ones(32, np.int32), target=TARGET)
    assert [finding.kind for finding in report.findings] == ["trap"]
