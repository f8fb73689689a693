"""Threads that leave a loop early wait for the others of their warp where the warp meets, as on a machine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.sim.rows import wait_for
from tests.core.sim.running import simulate
from tirx import script as Tx

WIDTHS = (32, 64)


def full(width):
    return Tx.uint64(2**width - 1)


def reads_what_is_written(width):
    """Threads turn a loop as often as memory says, change memory, and pass values on."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((128,), "int32"), O: Tx.Buffer((128,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        turns: Tx.int32 = 0
        while A[tx] > turns:
            turns += 1
        A[tx] = -turns
        O[tx] = Tx.tvm_warp_shuffle_xor(full(width), turns, 1, width, width)

    return kernel


def counts_and_sums(width, stays=128):
    """Threads take tickets in turns of their own, then sum them up; those from `stays` on leave before."""

    @Tx.prim_func
    def kernel(N: Tx.Buffer((128,), "int32"), C: Tx.Buffer((1,), "int32"), O: Tx.Buffer((128,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([128])
        taken: Tx.int32 = 0
        i: Tx.int32 = 0
        while i < N[tx]:
            ticket: Tx.let = Tx.atomic_add(Tx.address_of(C[0]), 1)
            taken += Tx.if_then_else(ticket >= 0, 1, 0)
            i += 32
        if tx < stays:
            for step in Tx.unroll(6 if width == 64 else 5):
                taken += Tx.tvm_warp_shuffle_xor(full(width), taken, 1 << step, width, width)
            O[tx] = taken

    return kernel


def tickets(width):
    many = np.random.default_rng(3).integers(0, 300, 128, dtype="i4")
    turns = -(-many // 32)
    return many, np.repeat(turns.reshape(-1, width).sum(axis=1), width)


@pytest.mark.parametrize("width", WIDTHS)
def test_they_meet_behind_a_loop_over_memory_that_the_kernel_writes(width):
    given = np.random.default_rng(2).integers(0, 9, 128, dtype="i4")
    changed, out = given.copy(), np.zeros(128, "i4")
    report = simulate(reads_what_is_written(width), changed, out, target=f"generic -width={width}")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out, given.reshape(64, 2)[:, ::-1].reshape(128))
    np.testing.assert_array_equal(changed, -given)


@pytest.mark.parametrize("width", WIDTHS)
def test_they_meet_behind_a_loop_of_atomics(width):
    many, sums = tickets(width)
    out, count = np.zeros(128, "i4"), np.zeros(1, "i4")
    report = simulate(counts_and_sums(width), many, count, out, target=f"generic -width={width}")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out, sums)
    assert count[0] == sums[::width].sum()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_thread_that_goes_elsewhere_is_still_missed(width):
    many, _ = tickets(width)
    kernel = counts_and_sums(width, stays=127)
    report = simulate(kernel, many, np.zeros(1, "i4"), np.zeros(128, "i4"), target=f"generic -width={width}")
    assert {finding.kind for finding in report.findings} == {"absent_lane"}, str(report)


def test_a_thread_that_never_leaves_its_loop_is_still_missed():
    """It waits for what the others write only after they met without it: a machine hangs, or pairs who should not meet."""

    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), O: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        if tx == 0:
            while F[0] == 0:
                pass
        O[tx] = Tx.tvm_warp_shuffle_xor(full(32), tx, 1, 32, 32)
        F[0] = 1

    report = simulate(kernel, np.zeros(1, "i4"), np.zeros(32, "i4"))
    assert "absent_lane" in {finding.kind for finding in report.findings}, str(report)


def test_a_wait_that_nobody_answers_is_still_a_deadlock():
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), O: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        if tx == 0:
            Tx.evaluate(wait_for(Tx.address_of(F[0])))
        O[tx] = Tx.tvm_warp_shuffle_xor(full(32), tx, 1, 32, 32)

    report = simulate(kernel, np.zeros(1, "i4"), np.zeros(32, "i4"))
    assert {finding.kind for finding in report.findings} == {"absent_lane", "deadlock"}, str(report)


def test_a_thread_that_waits_for_another_warp_is_waited_for():
    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), O: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        if tx == 0:
            Tx.evaluate(wait_for(Tx.address_of(F[0])))
        O[tx] = Tx.tvm_warp_shuffle_xor(full(32), tx, 1, 32, 32)
        if tx == 40:
            Tx.evaluate(Tx.atomic_exch(Tx.address_of(F[0]), 1))

    out = np.zeros(64, "i4")
    report = simulate(kernel, np.zeros(1, "i4"), out)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out, np.arange(64) ^ 1)


def test_a_lock_for_each_thread_then_a_sum():
    """Whoever has the lock gives it back before the warp meets, so the others get out of their loop."""

    @Tx.prim_func
    def kernel(L: Tx.Buffer((1,), "int32"), S: Tx.Buffer((1,), "int32"), O: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        while Tx.atomic_cas(Tx.address_of(L[0]), 0, 1) != 0:
            pass
        S[0] = S[0] + tx
        mine: Tx.let = S[0]
        Tx.evaluate(Tx.atomic_exch(Tx.address_of(L[0]), 0))
        O[tx] = Tx.tvm_warp_shuffle_xor(full(32), mine, 1, 32, 32) + mine

    locks, total, out = np.zeros(1, "i4"), np.zeros(1, "i4"), np.zeros(64, "i4")
    report = simulate(kernel, locks, total, out)
    assert report.verdict == "clean", str(report)
    assert total[0] == 64 * 63 // 2
    np.testing.assert_array_equal(out.reshape(32, 2)[:, 0], out.reshape(32, 2)[:, 1])


def test_loops_inside_a_loop_that_begins_where_the_warp_meets():
    @Tx.prim_func
    def kernel(N: Tx.Buffer((32,), "int32"), C: Tx.Buffer((1,), "int32"), O: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        rounds: Tx.int32 = 0
        mine: Tx.int32 = N[tx]
        while Tx.tvm_warp_shuffle_xor(full(32), rounds, 1, 32, 32) < 3:
            i: Tx.int32 = 0
            while i < mine:
                ticket: Tx.let = Tx.atomic_add(Tx.address_of(C[0]), 1)
                i += Tx.if_then_else(ticket >= 0, 1, 2)
            mine = Tx.tvm_warp_shuffle_xor(full(32), i, 1, 32, 32)
            rounds += 1
        O[tx] = mine

    many = np.random.default_rng(4).integers(0, 7, 32, dtype="i4")
    count, out = np.zeros(1, "i4"), np.zeros(32, "i4")
    report = simulate(kernel, many, count, out)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out, many.reshape(16, 2)[:, ::-1].reshape(32))
    assert count[0] == 3 * many.sum()


def test_threads_of_another_branch_are_not_waited_for():
    """Two threads poll, and count how often, until the others, who meet without them, have written."""

    @Tx.prim_func
    def kernel(F: Tx.Buffer((1,), "int32"), O: Tx.Buffer((32,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        polls: Tx.int32 = 0
        if tx < 2:
            while Tx.atomic_add(Tx.address_of(F[0]), 0) == 0:
                polls += 1
            O[tx] = polls
        else:
            O[tx] = Tx.tvm_warp_shuffle_xor(Tx.uint32(0xFFFFFFFC), tx, 1, 32, 32)
            Tx.evaluate(Tx.atomic_exch(Tx.address_of(F[0]), 1))

    out = np.zeros(32, "i4")
    report = simulate(kernel, np.zeros(1, "i4"), out)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out[2:], np.arange(2, 32) ^ 1)
    assert out[0] == out[1] < 10
