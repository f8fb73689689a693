"""A mask of the threads that are here has 32 bits: what wider warps lose is said."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.sim.running import simulate
from tirx import script as Tx


@Tx.prim_func
def masks(A: Tx.Buffer((64,), "uint32"), count: Tx.int32):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    if tx % 64 < count:
        A[tx] = Tx.tvm_warp_activemask()


@pytest.mark.parametrize(
    ("width", "count", "low", "high"), [(16, 64, 0xFFFF, 0xFFFF), (32, 40, 0xFFFFFFFF, 0xFF), (64, 20, 0xFFFFF, 0)]
)
def test_one_bit_for_each_thread(width, count, low, high):
    found = np.zeros(64, np.uint32)
    assert simulate(masks, found, count, target=f"generic -width={width}")
    assert (found[0], found[min(count, 39)]) == (low, high)


def test_threads_without_a_bit_are_a_finding():
    found = np.zeros(64, np.uint32)
    report = simulate(masks, found, 40, target="generic -width=64")
    (finding,) = report.findings
    assert (finding.kind, finding.count) == ("lost_lane", 1)
    assert finding.message == "thread 32 and those above it in a warp have no bit in the uint32 of this mask"
    assert finding.threads[0] == "thread 32 of cta 0"
    with open(__file__) as file:
        assert "Tx.tvm_warp_activemask()" in file.read().splitlines()[finding.span.line - 1]
    assert found[0] == 0xFFFFFFFF
