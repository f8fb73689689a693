"""Barriers by number, arrivals, waits, barriers with a result, barriers of the whole launch."""

from __future__ import annotations

import numpy as np

from tests.core.sim.rows import any_in_cta, bar_arrive_, bar_sync, grid_sync, mystery, wait_for
from tests.core.sim.running import simulate
from tirx import script as Tx


def kinds(report):
    return [finding.kind for finding in report.findings]


def two_halves(first, second):
    """Each half of the cta passes values through its own part of shared memory, at its own barrier."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((128,), "int32"), B: Tx.Buffer((128,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        s = Tx.alloc_shared((128,), "int32")
        s[tx] = A[tx]
        if tx < 64:
            Tx.evaluate(bar_sync(1, first))
            B[tx] = s[63 - tx]
        else:
            Tx.evaluate(bar_sync(2, second))
            B[tx] = s[191 - tx]

    return kernel


def test_named_barriers_of_parts():
    a, b = np.arange(128, dtype="i4"), np.zeros(128, "i4")
    report = simulate(two_halves(64, 64), a, b)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, np.concatenate([a[:64][::-1], a[64:][::-1]]))


def test_a_named_barrier_that_counts_too_many():
    report = simulate(two_halves(128, 64), np.arange(128, dtype="i4"), np.zeros(128, "i4"))
    assert kinds(report) == ["deadlock"]
    assert "64 of 128 threads arrive at this cta barrier 1" in report.findings[0].message


def test_a_named_barrier_that_counts_too_few():
    report = simulate(two_halves(32, 64), np.arange(128, dtype="i4"), np.zeros(128, "i4"))
    assert "mismatched_barrier" in kinds(report)
    assert "64 threads arrive at a barrier that counts 32" in report.findings[0].message


def test_the_wrong_named_barrier_orders_nothing():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((128,), "int32"), B: Tx.Buffer((128,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        s = Tx.alloc_shared((128,), "int32")
        s[tx] = A[tx]
        if tx < 64:
            Tx.evaluate(bar_sync(1, 64))
        else:
            Tx.evaluate(bar_sync(2, 64))
        B[tx] = s[127 - tx]

    report = simulate(kernel, np.arange(128, dtype="i4"), np.zeros(128, "i4"))
    assert kinds(report) == ["race"]


def producers(signal_first):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        s = Tx.alloc_shared((64,), "int32")
        if tx < 64:
            if signal_first:
                Tx.evaluate(bar_arrive_(3, 128))
            s[tx] = tx * 2
            if not signal_first:
                Tx.evaluate(bar_arrive_(3, 128))
        else:
            Tx.evaluate(bar_sync(3, 128))
            B[tx - 64] = s[127 - tx]

    return kernel


def test_producers_arrive_and_consumers_wait():
    b = np.zeros(64, "i4")
    report = simulate(producers(False), b)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, np.arange(64)[::-1] * 2)


def test_a_producer_that_arrives_too_early():
    assert kinds(simulate(producers(True), np.zeros(64, "i4"))) == ["race"]


def test_a_barrier_with_a_result():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4, 64), "int32"), B: Tx.Buffer((4, 64), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([64])
        if any_in_cta(A[bx, tx]) != 0:
            B[bx, tx] = 1

    a, b = np.zeros((4, 64), "i4"), np.zeros((4, 64), "i4")
    a[1, 5] = a[3, 63] = 1
    report = simulate(kernel, a, b)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b[:, 0], [0, 1, 0, 1])
    assert (b == b[:, :1]).all()


def test_a_barrier_of_the_launch_orders_ctas():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((256,), "int32"), B: Tx.Buffer((256,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([64])
        A[bx * 64 + tx] = bx * 64 + tx
        Tx.evaluate(grid_sync())
        B[bx * 64 + tx] = A[255 - (bx * 64 + tx)]

    b = np.zeros(256, "i4")
    report = simulate(kernel, np.zeros(256, "i4"), b)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, np.arange(256)[::-1])
    assert simulate(kernel, np.zeros(256, "i4"), b, budget=1).verdict != "clean"


def test_a_wait_parks_its_threads():
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), M: Tx.Buffer((1,), "int32"), B: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([2])
        Tx.thread_id([1])
        if bx == 0:
            Tx.evaluate(wait_for(Tx.address_of(F[0])))
            B[0] = M[0]
        else:
            M[0] = 7
            Tx.evaluate(Tx.atomic_exch(F[0], 1))

    b = np.zeros(1, "i4")
    report = simulate(kernel, np.zeros(1, "i4"), np.zeros(1, "i4"), b)
    assert report.verdict == "clean", str(report)
    assert b[0] == 7


def test_a_wait_for_nothing_is_a_deadlock():
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        Tx.thread_id([4])
        Tx.evaluate(wait_for(Tx.address_of(F[0])))

    assert kinds(simulate(kernel, np.zeros(1, "i4"))) == ["deadlock"]


def test_what_is_not_modelled_is_never_clean():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        A[tx] = mystery(tx)

    report = simulate(kernel, np.zeros(4, "i4"))
    assert report.verdict == "incomplete"
    assert report.unmodelled[0].startswith("test.mystery")


def test_a_long_loop_of_atomics_that_counts_is_no_livelock():
    @Tx.prim_func
    def kernel(C: Tx.Buffer((1,), "int32"), D: Tx.Buffer((4,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        i: Tx.int32 = 0
        odd: Tx.int32 = 0
        while i < 3000 + tx:
            odd += Tx.atomic_add(C.ptr_to([0]), 1) % 2
            i += 1
        D[tx] = i

    c, d = np.zeros(1, "i4"), np.zeros(4, "i4")
    report = simulate(kernel, c, d)
    assert report.verdict == "clean", str(report)
    assert c[0] == 12006
    assert d.tolist() == [3000, 3001, 3002, 3003]
