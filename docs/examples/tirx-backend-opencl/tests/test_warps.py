"""Exchange between the threads of a warp on a device that has no sub-groups."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import TirxError

SHUFFLES = ["tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor"]


@pytest.mark.parametrize("width", [8, 32])
def test_every_shuffle_in_a_branch_that_one_warp_takes(agree, width):
    mask = (1 << width) - 1

    @Tx.prim_func
    def exchanged(x: Tx.Buffer((2, width), "float32"), out: Tx.Buffer((5, 2, width), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        warp = Tx.warp_id([2])
        lane = Tx.lane_id([width])
        if warp == 1:
            mine: Tx.let = x[warp, lane]
            kept: Tx.float32 = mine * 2.0
            for row, name in enumerate(SHUFFLES):
                shuffle = getattr(Tx, name)
                out[row, warp, lane] = mine + shuffle(mask, kept, 3, width if row % 2 else width // 2, width)
            out[4, warp, lane] = kept
        else:
            out[4, warp, lane] = 0.0 - x[warp, lane]

    x = np.arange(2 * width, dtype=np.float32).reshape(2, width)
    _, out = agree(exchanged, x, np.zeros((5, 2, width), np.float32), target=f"opencl -width={width}")
    np.testing.assert_array_equal(out[3, 1], x[1] + 2 * x[1][np.arange(width) ^ 3])
    np.testing.assert_array_equal(out[:4, 0], 0)


def test_branches_in_loops_and_in_each_other(agree):
    @Tx.prim_func
    def sums(x: Tx.Buffer((3, 64), "int32"), out: Tx.Buffer((4, 32), "int32")):
        Tx.device_entry()
        Tx.cta_id([1])
        warp = Tx.warp_id([4])
        lane = Tx.lane_id([32])
        if warp < 3:
            total: Tx.int32 = 0
            for part in range(2):
                value: Tx.int32 = x[warp, part * 32 + lane]
                if warp != 1:
                    for step in Tx.unroll(5):
                        value += Tx.tvm_warp_shuffle_xor(0xFFFFFFFF, value, 1 << step, 32, 32)
                total += value
            out[warp, lane] = total
        else:
            out[warp, lane] = Tx.tvm_warp_shuffle(0xFFFFFFFF, lane, 7, 32, 32)

    x = np.random.default_rng(1).integers(0, 100, (3, 64), dtype=np.int32)
    _, out = agree(sums, x, np.zeros((4, 32), np.int32))
    assert (out[0] == x[0].sum()).all()
    assert (out[3] == 7).all()
    np.testing.assert_array_equal(out[1], x[1, :32] + x[1, 32:])


def test_threads_that_return_before_others_exchange(agree):
    @Tx.prim_func
    def guarded(x: Tx.Buffer((3, 32), "float32"), out: Tx.Buffer((3, 32), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        warp = Tx.warp_id([4])
        lane = Tx.lane_id([32])
        if warp >= 3:
            Tx.thread_return()
        out[warp, lane] = Tx.tvm_warp_shuffle_down(0xFFFFFFFF, x[warp, lane], 1, 32, 32)

    x = np.arange(96, dtype=np.float32).reshape(3, 32)
    _, out = agree(guarded, x, np.zeros_like(x))
    np.testing.assert_array_equal(out[:, :-1], x[:, 1:])


def test_a_warp_that_waits_for_itself(agree):
    @Tx.prim_func
    def passed(x: Tx.Buffer((64,), "int32"), out: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        kept = Tx.alloc_shared((64,), "int32")
        kept[tx] = x[tx]
        Tx.tvm_storage_sync("warp")
        out[tx] = kept[tx ^ 1]

    x = np.arange(64, dtype=np.int32)
    _, out = agree(passed, x, np.zeros_like(x))
    np.testing.assert_array_equal(out, x ^ 1)


def test_a_loop_that_threads_leave_at_different_times_is_refused():
    @Tx.prim_func
    def uneven(x: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        Tx.cta_id([1])
        warp = Tx.warp_id([2])
        lane = Tx.lane_id([32])
        for _turn in range(warp + 1):
            x[warp * 32 + lane] += Tx.tvm_warp_shuffle_xor(0xFFFFFFFF, x[warp * 32 + lane], 1, 32, 32)

    text = "threads exchange values in a loop that they may run a different number of times, and the device has no sub-groups"
    with pytest.raises(TirxError, match=text) as caught:
        tirx.compile(uneven, "opencl").source
    assert "for _turn in range(warp + 1)" in str(caught.value)


def test_sub_groups_shuffle_where_the_device_has_them():
    @Tx.prim_func
    def exchanged(x: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([32])
        x[tx] = Tx.tvm_warp_shuffle_xor(0xFFFFFFFF, x[tx], 1, 32, 32)

    text = tirx.compile(exchanged, "opencl -subgroups=true").source.text
    assert "x[tx] = sub_group_shuffle(x[tx], lane_xor(1, 32));" in text
    assert "cl_khr_subgroup_shuffle : enable" in text
    assert "intel_reqd_sub_group_size(32)" in text
