"""`Tx.opencl`."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import TirxError


def test_places_of_work_items(agree):
    @Tx.prim_func
    def places(out: Tx.Buffer((6, 4, 2, 8, 4), "int32")):
        Tx.device_entry()
        bx, by = Tx.cta_id([4, 2])
        tx, ty = Tx.thread_id([8, 4])
        out[0, bx, by, tx, ty] = Tx.opencl.get_global_id(0) + 1000 * Tx.opencl.get_global_id(1)
        out[1, bx, by, tx, ty] = Tx.opencl.get_local_id(0) + 1000 * Tx.opencl.get_local_id(1)
        out[2, bx, by, tx, ty] = Tx.opencl.get_group_id(0) + 1000 * Tx.opencl.get_group_id(1)
        out[3, bx, by, tx, ty] = Tx.opencl.get_global_size(0) + 1000 * Tx.opencl.get_global_size(2)
        out[4, bx, by, tx, ty] = Tx.opencl.get_local_size(0) + 1000 * Tx.opencl.get_local_size(1)
        out[5, bx, by, tx, ty] = Tx.opencl.get_num_groups(0) + 1000 * Tx.opencl.get_num_groups(1)

    (out,) = agree(places, np.zeros((6, 4, 2, 8, 4), np.int32))
    assert out[0, 3, 1, 7, 2] == 31 + 1000 * 6
    assert list(out[3:, 0, 0, 0, 0]) == [1032, 4008, 2004]


def test_native_functions_are_near(device):
    names = [
        "cos",
        "divide",
        "exp",
        "exp2",
        "exp10",
        "log",
        "log2",
        "log10",
        "powr",
        "recip",
        "rsqrt",
        "sin",
        "sqrt",
        "tan",
    ]

    @Tx.prim_func
    def native(x: Tx.Buffer((64,), "float32"), out: Tx.Buffer((15, 64), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        for row, name in enumerate(names):
            function = getattr(Tx.opencl, f"native_{name}")
            out[row, tx] = function(x[tx], x[tx]) if name in ("divide", "powr") else function(x[tx])
        out[14, tx] = Tx.opencl.mad(x[tx], x[tx], 1.0)

    x = np.linspace(0.1, 1.2, 64, dtype=np.float32)
    found, simulated = np.zeros((15, 64), np.float32), np.zeros((15, 64), np.float32)
    tirx.compile(native, "opencl")(x, found)
    assert tirx.simulate(native, x, simulated, target="opencl").verdict == "clean"
    np.testing.assert_allclose(found, simulated, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_integer_functions(agree, dtype):
    names = ["mul_hi", "add_sat", "sub_sat", "hadd", "rhadd", "rotate"]

    @Tx.prim_func
    def integer(x: Tx.Buffer((64,), dtype), y: Tx.Buffer((64,), dtype), out: Tx.Buffer((6, 64), dtype)):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        for row, name in enumerate(names):
            out[row, tx] = getattr(Tx.opencl, name)(x[tx], y[tx])

    info, rng = np.iinfo(dtype), np.random.default_rng(1)
    x, y = (rng.integers(info.min, info.max, 64, dtype=dtype) for _ in range(2))
    agree(integer, x, y, np.zeros((6, 64), dtype))


def test_fences_and_printing(device, capfd):
    @Tx.prim_func
    def told(x: Tx.Buffer((4,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([4])
        Tx.opencl.mem_fence("CLK_GLOBAL_MEM_FENCE")
        Tx.opencl.barrier()
        if tx == 3:
            Tx.opencl.printf("number %d is %.2f\n", tx, x[tx])

    tirx.compile(told, "opencl")(np.full(4, 1.5, np.float32))
    assert capfd.readouterr().out == "number 3 is 1.50\n"
    assert tirx.simulate(told, np.full(4, 1.5, np.float32), target="opencl").verdict == "clean"


def test_copies_of_the_group(agree):
    @Tx.prim_func
    def copied(x: Tx.Buffer((4, 100), "float32"), y: Tx.Buffer((4, 100), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([64])
        row = Tx.alloc_shared((100,), "float32")
        Tx.opencl.async_work_group_copy(row.ptr_to([0]), x.ptr_to([bx, 0]), 100)
        Tx.opencl.wait_group_events()
        Tx.opencl.barrier()
        for i in range(tx, 100, 64):
            row[i] = row[i] * 2.0
        Tx.opencl.barrier()
        Tx.opencl.async_work_group_copy(y.ptr_to([bx, 0]), row.ptr_to([0]), 100)
        Tx.opencl.wait_group_events()

    x = np.arange(400, dtype=np.float32).reshape(4, 100)
    _, y = agree(copied, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, 2 * x)


def test_reading_before_waiting_is_found():
    @Tx.prim_func
    def early(x: Tx.Buffer((64,), "float32"), y: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        row = Tx.alloc_shared((64,), "float32")
        Tx.opencl.async_work_group_copy(row.ptr_to([0]), x.ptr_to([0]), 64)
        Tx.opencl.barrier()
        y[tx] = row[tx]

    report = tirx.simulate(early, np.ones(64, np.float32), np.zeros(64, np.float32), target="opencl")
    assert report.verdict == "error"
    assert "never written" in str(report) or "uninitialised" in str(report)


def test_unknown_flags_of_a_fence():
    with pytest.raises(TirxError, match=r"there are no flags 'CLK_LOCAL' of fences"):
        Tx.opencl.mem_fence("CLK_LOCAL")


def test_a_copy_of_nothing_known():
    with pytest.raises(TirxError, match="the copy needs to know of which elements"):

        @Tx.prim_func
        def unknown(x: Tx.handle):
            Tx.device_entry()
            Tx.cta_id([1])
            Tx.thread_id([64])
            Tx.opencl.async_work_group_copy(x, x, 64)


def test_a_dimension_that_is_none():
    @Tx.prim_func
    def fourth(x: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        x[tx] = Tx.opencl.get_global_id(3)

    with pytest.raises(TirxError, match="there is no dimension 3"):
        tirx.compile(fourth, "opencl").source


def test_vectors_from_anywhere(agree):
    @Tx.prim_func
    def reversed_pairs(x: Tx.Buffer((67,), "float16"), y: Tx.Buffer((67,), "float16")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([33])
        Tx.opencl.vstore(Tx.opencl.vload(2, x.ptr_to([tx * 2 + 1])), y.ptr_to([tx * 2]))

    x = np.arange(67, dtype=np.float16)
    _, y = agree(reversed_pairs, x, np.zeros_like(x))
    np.testing.assert_array_equal(y[:66], x[1:])


def test_vectors_that_opencl_does_not_have():
    with pytest.raises(TirxError, match="there are no vectors of 3 lanes"):

        @Tx.prim_func
        def odd(x: Tx.Buffer((64,), "float32")):
            Tx.device_entry()
            Tx.cta_id([1])
            tx = Tx.thread_id([16])
            Tx.opencl.vstore(Tx.opencl.vload(3, x.ptr_to([tx])), x.ptr_to([tx]))
