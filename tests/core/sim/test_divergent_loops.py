"""Threads that turn a loop differently often meet again behind it, also when the loop asks memory."""

from __future__ import annotations

import numpy as np

from tests.core.sim.running import simulate
from tirx import script as Tx


@Tx.prim_func
def reads_only(A: Tx.Buffer((32,), "int32"), O: Tx.Buffer((32,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([32])
    turns: Tx.int32 = 0
    while A[tx] > turns:
        turns += 1
    O[tx] = Tx.tvm_warp_shuffle_xor(Tx.uint32(0xFFFFFFFF), turns, 1, 32, 32)


@Tx.prim_func
def nobody_writes(A: Tx.Buffer((32,), "int32"), O: Tx.Buffer((32,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([32])
    while A[0] == 0:
        pass
    O[tx] = 1


def test_they_meet_behind_a_loop_that_reads_what_nobody_writes():
    given = np.random.default_rng(2).integers(0, 9, 32, dtype="i4")
    out = np.zeros(32, "i4")
    report = simulate(reads_only, given, out)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out, given.reshape(16, 2)[:, ::-1].reshape(32))


def test_a_wait_for_what_nobody_writes_ends():
    report = simulate(nobody_writes, np.zeros(32, "i4"), np.zeros(32, "i4"), patience=1000)
    assert report.verdict == "error"
    assert report.findings[0].kind == "livelock", str(report)
