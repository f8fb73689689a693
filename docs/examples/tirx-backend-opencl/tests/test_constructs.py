"""Every construct of the neutral language, natively and simulated."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import TirxError


def test_dynamic_and_static_shared_memory(agree):
    @Tx.prim_func
    def turned(x: Tx.Buffer(("n",), "float32"), y: Tx.Buffer(("n",), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([n // 64])
        tx = Tx.thread_id([64])
        first = Tx.alloc_shared((64,), "float32")
        second = Tx.alloc_buffer((64,), "float32", scope="shared.dyn")
        first[tx] = x[bx * 64 + tx]
        Tx.tvm_storage_sync("shared")
        second[63 - tx] = first[tx]
        Tx.tvm_storage_sync("shared")
        y[bx * 64 + tx] = second[tx]

    x = np.arange(256, dtype=np.float32)
    _, y = agree(turned, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, x.reshape(4, 64)[:, ::-1].ravel())


def test_control_flow(agree):
    @Tx.prim_func
    def collatz(x: Tx.Buffer((100,), "int64"), steps: Tx.Buffer((100,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([32])
        i: Tx.let = bx * 32 + tx
        if i >= 100:
            Tx.thread_return()
        value: Tx.int64 = x[i]
        count: Tx.int32 = 0
        while value != 1:
            if value % 2 == 0:
                value = value // 2
            else:
                value = 3 * value + 1
            count += 1
            if count == 1000:
                break
        for k in range(10):
            if k == 3:
                continue
            if k > 7:
                break
            count += k
        steps[i] = count

    x = np.arange(1, 101, dtype=np.int64)
    _, steps = agree(collatz, x, np.zeros(100, np.int32))
    assert steps[26] == 111 + sum(k for k in range(8) if k != 3)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_atomics(agree, dtype):
    """Sums of small whole numbers do not depend on the order; of an exchange nothing may be lost."""

    @Tx.inline
    def update(place, value, tx, x):
        Tx.atomic_add(place[0], value)
        Tx.atomic_max(place[1], value)
        Tx.atomic_min(place[2], value)
        if tx == 0:
            Tx.atomic_exch(place[3], x[7])
            Tx.atomic_cas(place[3], x[7], x[9])

    @Tx.prim_func
    def counted(x: Tx.Buffer((256,), dtype), out: Tx.Buffer((4,), dtype), own: Tx.Buffer((4,), dtype)):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([256])
        group = Tx.alloc_shared((4,), dtype)
        if tx < 4:
            group[tx] = own[tx]
        Tx.tvm_storage_sync("shared")
        update(out, x[tx], tx, x)
        update(group, x[tx], tx, x)
        Tx.tvm_storage_sync("shared")
        if tx < 4:
            own[tx] = group[tx]

    x = np.random.default_rng(1).permutation(256).astype(dtype)
    start = np.array([0, 0, 500, 0], dtype)
    _, out, own = agree(counted, x, start, start)
    assert list(out) == list(own) == [x.sum(), 255, 0, x[9]]


def test_atomics_that_opencl_does_not_have():
    @Tx.prim_func
    def counted(out: Tx.Buffer((4,), "uint16")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        Tx.atomic_add(out[0], Tx.uint16(1))

    with pytest.raises(TirxError, match="atomic_add of uint16 does not exist in OpenCL"):
        tirx.compile(counted, "opencl").source


def test_pointers_and_bits(agree):
    @Tx.prim_func
    def bits(x: Tx.Buffer((64,), "float32"), out: Tx.Buffer((4, 64), "uint32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        words = Tx.decl_buffer((64,), "uint32", data=Tx.reinterpret("handle", Tx.address_of(x[0])))
        out[0, tx] = Tx.reinterpret("uint32", x[tx])
        out[1, tx] = words[tx]
        one: Tx.float32 = x[tx]
        out[2, tx] = Tx.reinterpret("uint32", one + 1.0)
        out[3, tx] = Tx.reinterpret("uint32", Tx.reinterpret("float32", out[0, tx]) * 2.0)

    x = np.random.default_rng(2).standard_normal(64, dtype=np.float32)
    _, out = agree(bits, x, np.zeros((4, 64), np.uint32))
    np.testing.assert_array_equal(out[0], x.view(np.uint32))
    np.testing.assert_array_equal(out[1], x.view(np.uint32))


def test_functions_of_the_module(agree):
    @Tx.prim_func(private=True)
    def half_of(a: Tx.float32) -> Tx.float32:
        return a * 0.5

    @Tx.prim_func
    def halves(x: Tx.Buffer((64,), "float32"), y: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        y[tx] = half_of(x[tx])

    x = np.arange(64, dtype=np.float32)
    _, y = agree(halves, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, x / 2)


def test_masked_vectors(agree):
    @Tx.prim_func
    def masked(x: Tx.Buffer((66,), "float32"), y: Tx.Buffer((66,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([17])
        mask = Tx.meta_var(Tx.broadcast(tx * 4, 4) + Tx.ramp(0, 1, 4) < Tx.broadcast(66, 4))
        Tx.masked_store(y, Tx.masked_load("float32x4", x, tx * 4, mask) * Tx.broadcast(2.0, 4), tx * 4, mask)

    x = np.arange(66, dtype=np.float32)
    _, y = agree(masked, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, 2 * x)


@pytest.mark.parametrize("lanes", [2, 16])
def test_wide_vectors_of_bytes(agree, lanes):
    @Tx.prim_func
    def widened(x: Tx.Buffer((256,), "uint8"), y: Tx.Buffer((256,), "uint8"), z: Tx.Buffer((256,), "int32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([256 // lanes])
        for v in Tx.vectorized(lanes):
            y[tx * lanes + v] = Tx.max(x[tx * lanes + v], Tx.uint8(100)) // Tx.uint8(3)
        for v in Tx.vectorized(lanes):
            z[tx * lanes + v] = Tx.cast(x[tx * lanes + v], "int32") * 1000

    x = np.arange(256).astype(np.uint8)
    _, y, z = agree(widened, x, np.zeros_like(x), np.zeros(256, np.int32))
    np.testing.assert_array_equal(y, np.maximum(x, 100) // 3)
    np.testing.assert_array_equal(z, x.astype(np.int32) * 1000)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float64", "bool"])
def test_numbers_as_arguments(agree, dtype):
    @Tx.prim_func
    def filled(y: Tx.Buffer((33,), dtype), value: getattr(Tx, dtype)):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        if tx < 33:
            y[tx] = value

    value = dtype == "bool" or 3
    y, _ = agree(filled, np.zeros(33, dtype), value)
    np.testing.assert_array_equal(y, np.full(33, value, dtype))


def test_grids_of_three_dimensions(agree):
    @Tx.prim_func
    def places(out: Tx.Buffer((2, 3, 2, 4, 2, 8), "int32")):
        Tx.device_entry()
        bx, by, bz = Tx.cta_id([2, 3, 2])
        tx, ty, tz = Tx.thread_id([4, 2, 8])
        out[bx, by, bz, tx, ty, tz] = bx + 10 * by + 100 * bz + 1000 * tx + 10000 * ty + 100000 * tz

    (out,) = agree(places, np.zeros((2, 3, 2, 4, 2, 8), np.int32))
    assert out[1, 2, 1, 3, 1, 7] == 713121


def test_names_that_opencl_keeps_for_itself(agree):
    @Tx.prim_func
    def kernel(half: Tx.Buffer((32,), "float32"), global_: Tx.Buffer((32,), "float32"), get_local_id: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        barrier = Tx.thread_id([32])
        local: Tx.float32 = half[barrier]
        float4: Tx.int32 = get_local_id
        global_[barrier] = local + Tx.cast(float4, "float32")

    x = np.arange(32, dtype=np.float32)
    _, y, _ = agree(kernel, x, np.zeros_like(x), 5)
    np.testing.assert_array_equal(y, x + 5)


@Tx.prim_func
def rooted(x: Tx.Buffer((256,), "float32"), y: Tx.Buffer((256,), "float32"), most: Tx.int32):
    Tx.device_entry()
    bx = Tx.cta_id([4])
    tx = Tx.thread_id([64])
    kept = Tx.alloc_buffer((64,), "float32", scope="shared.dyn")
    kept[tx] = x[bx * 64 + tx]
    assert kept[tx] >= 0.0, "a root of a negative number"
    Tx.Assert(tx < most, ["thread ", tx, " is too many"])
    y[bx * 64 + tx] = Tx.sqrt(kept[tx])


def test_asserts_that_hold(agree):
    x = np.arange(256, dtype=np.float32)
    _, y, _ = agree(rooted, x, np.zeros_like(x), 64)
    np.testing.assert_array_equal(y, np.sqrt(x))


def test_an_assert_that_fails_is_an_error_with_its_text_and_line(device):
    x, run = np.ones(256, np.float32), tirx.compile(rooted, "opencl")
    x[77] = -1
    with pytest.raises(TirxError) as caught:
        run(x, np.zeros_like(x), 64)
    line = rooted.body.span.line
    assert "in kernel `rooted_kernel`: RuntimeError: a root of a negative number at test_constructs.py:" in str(
        caught.value
    )
    assert abs(int(str(caught.value).split("test_constructs.py:")[1].split()[0]) - line) < 12
    assert "tirx.simulate(...) stops there" in str(caught.value)
    run(np.abs(x), np.zeros_like(x), 64)  # the next launch is a new one


def test_values_of_a_failed_assert_are_printed(device):
    x, run = np.ones(256, np.float32), tirx.compile(rooted, "opencl")
    with pytest.raises(TirxError, match=r"thread \.\.\. is too many at test_constructs.py"):
        run(x, np.zeros_like(x), 63)
    (line,) = (line.strip() for line in run.source.text.splitlines() if "is too many" in line)
    assert line.startswith('printf("RuntimeError: thread %d is too many at test_constructs.py:')
    assert "tx); fail(failure, " in line


def test_asserts_inside_functions_are_refused():
    @Tx.prim_func(private=True)
    def root_of(a: Tx.float32) -> Tx.float32:
        assert a >= 0.0, "a root of a negative number"
        return Tx.sqrt(a)

    @Tx.prim_func
    def roots(x: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([64])
        x[tx] = root_of(x[tx])

    with pytest.raises(TirxError, match="OpenCL tells of assertions of kernels, not of functions") as caught:
        tirx.compile(roots, "opencl").source
    assert "assert in the kernel, before or behind the call" in str(caught.value)


def test_float64_is_refused_where_the_device_has_none():
    @Tx.prim_func
    def wide(x: Tx.Buffer((32,), "float64")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([32])
        x[tx] = 1.0

    with pytest.raises(TirxError, match="has no float64"):
        tirx.compile(wide, "opencl -double=false")


def test_half_is_a_type_where_the_device_has_it():
    @Tx.prim_func
    def added(x: Tx.Buffer((32,), "float16")):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([32])
        x[tx] = x[tx] + Tx.float16(1.5)

    stored = tirx.compile(added, "opencl").source.text
    computed = tirx.compile(added, "opencl -half=true").source.text
    assert "__global ushort* restrict x" in stored
    assert "float_to_half(half_to_float(x[tx]) + 1.5f)" in stored
    assert "#pragma OPENCL EXTENSION cl_khr_fp16 : enable" in computed
    assert "x[tx] += 1.5h;" in computed
