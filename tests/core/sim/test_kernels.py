"""Whole small kernels against NumPy, on machines of 32 and of 64 lanes, without a finding."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.core.sim.running import simulate
from tirx import script as Tx

WIDTHS = (32, 64)
RANDOM = np.random.default_rng(7)


def run(kernel, *args, width=32, **options):
    report = simulate(kernel, *args, target=f"generic -width={width}", **options)
    assert report.verdict == "clean", str(report)
    return report


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n", [1, 255, 256, 257, 1000])
def test_vector_add_of_any_length(n, width):
    @Tx.prim_func
    def add(a: Tx.handle, b: Tx.handle, c: Tx.handle, n: Tx.int32):
        A = Tx.match_buffer(a, (n,), "float32")
        B = Tx.match_buffer(b, (n,), "float32")
        C = Tx.match_buffer(c, (n,), "float32")
        Tx.device_entry()
        bx = Tx.cta_id([Tx.ceildiv(n, 128)])
        tx = Tx.thread_id([128])
        i = bx * 128 + tx
        if i < n:
            C[i] = A[i] + B[i]

    a, b, c = RANDOM.random(n, "f4"), RANDOM.random(n, "f4"), np.zeros(n, "f4")
    run(add, a, b, c, n, width=width)
    np.testing.assert_array_equal(c, a + b)


@pytest.mark.parametrize("width", WIDTHS)
def test_block_reduction(width):
    @Tx.prim_func
    def reduce(A: Tx.Buffer((8, 256), "float32"), B: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([8])
        tx = Tx.thread_id([256])
        s = Tx.alloc_shared((256,), "float32")
        s[tx] = A[bx, tx]
        Tx.tvm_storage_sync("shared")
        for k in Tx.unroll(8):
            if tx < 128 >> k:
                s[tx] = s[tx] + s[tx + (128 >> k)]
            Tx.tvm_storage_sync("shared")
        if tx == 0:
            B[bx] = s[0]

    a, b = RANDOM.random((8, 256), "f4"), np.zeros(8, "f4")
    run(reduce, a, b, width=width)
    np.testing.assert_allclose(b, a.sum(1), rtol=1e-5)


@pytest.mark.parametrize("pad", [0, 1])
def test_transpose_and_its_bank_conflicts(pad):
    @Tx.prim_func
    def transpose(A: Tx.Buffer((64, 64), "float32"), B: Tx.Buffer((64, 64), "float32")):
        Tx.device_entry()
        bx, by = Tx.cta_id([2, 2])
        tx, ty = Tx.thread_id([32, 8])
        s = Tx.alloc_shared((32, 32 + pad), "float32")
        for r in range(4):
            s[ty + r * 8, tx] = A[by * 32 + ty + r * 8, bx * 32 + tx]
        Tx.tvm_storage_sync("shared")
        for r in range(4):
            B[bx * 32 + ty + r * 8, by * 32 + tx] = s[tx, ty + r * 8]

    a, b = RANDOM.random((64, 64), "f4"), np.zeros((64, 64), "f4")
    report = run(transpose, a, b)
    np.testing.assert_array_equal(b, a.T)
    load = next(line for line in report.lines if line.space == "shared" and not line.store)
    assert load.conflict_degree == (1 if pad else 32)
    assert all(line.sectors_per_request == 4 for line in report.lines if line.space == "global")


@pytest.mark.parametrize("width", WIDTHS)
def test_tiled_matmul(width):
    @Tx.prim_func
    def matmul(A: Tx.Buffer((48, 32), "float32"), B: Tx.Buffer((32, 64), "float32"), C: Tx.Buffer((48, 64), "float32")):
        Tx.device_entry()
        bx, by = Tx.cta_id([4, 3])
        tx, ty = Tx.thread_id([16, 16])
        sA = Tx.alloc_shared((16, 16), "float32")
        sB = Tx.alloc_shared((16, 16), "float32")
        acc: Tx.float32 = 0.0
        for k in range(2):
            sA[ty, tx] = A[by * 16 + ty, k * 16 + tx]
            sB[ty, tx] = B[k * 16 + ty, bx * 16 + tx]
            Tx.tvm_storage_sync("shared")
            for j in range(16):
                acc = acc + sA[ty, j] * sB[j, tx]
            Tx.tvm_storage_sync("shared")
        C[by * 16 + ty, bx * 16 + tx] = acc

    a, b, c = RANDOM.random((48, 32), "f4"), RANDOM.random((32, 64), "f4"), np.zeros((48, 64), "f4")
    run(matmul, a, b, c, width=width)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize("width", WIDTHS)
def test_row_softmax_with_shuffles(width):
    mask = 2**32 - 1 if width == 32 else 2**64 - 1

    @Tx.prim_func
    def softmax(A: Tx.Buffer((4, 256), "float32"), B: Tx.Buffer((4, 256), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        lane = Tx.thread_id([width])
        largest: Tx.float32 = Tx.min_value("float32")
        for k in range(256 // width):
            largest = Tx.max(largest, A[bx, k * width + lane])
        for step in Tx.unroll(6 if width == 64 else 5):
            largest = Tx.max(largest, Tx.tvm_warp_shuffle_xor(Tx.uint64(mask), largest, 1 << step, width, width))
        total: Tx.float32 = 0.0
        for k in range(256 // width):
            total = total + Tx.exp(A[bx, k * width + lane] - largest)
        for step in Tx.unroll(6 if width == 64 else 5):
            total = total + Tx.tvm_warp_shuffle_xor(Tx.uint64(mask), total, 1 << step, width, width)
        for k in range(256 // width):
            B[bx, k * width + lane] = Tx.exp(A[bx, k * width + lane] - largest) / total

    a, b = RANDOM.standard_normal((4, 256)).astype("f4"), np.zeros((4, 256), "f4")
    run(softmax, a, b, width=width)
    wanted = np.exp(a - a.max(1, keepdims=True))
    np.testing.assert_allclose(b, wanted / wanted.sum(1, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("width", WIDTHS)
def test_histogram_with_shared_and_global_atomics(width):
    @Tx.prim_func
    def histogram(A: Tx.Buffer((4096,), "uint8"), H: Tx.Buffer((256,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([256])
        s = Tx.alloc_shared((256,), "int32")
        s[tx] = 0
        Tx.tvm_storage_sync("shared")
        for k in range(4):
            Tx.evaluate(Tx.atomic_add(s[Tx.int32(A[bx * 1024 + k * 256 + tx])], 1))
        Tx.tvm_storage_sync("shared")
        Tx.evaluate(Tx.atomic_add(H[tx], s[tx]))

    a, h = RANDOM.integers(0, 256, 4096).astype("u1"), np.zeros(256, "i4")
    run(histogram, a, h, width=width)
    np.testing.assert_array_equal(h, np.bincount(a, minlength=256))


@pytest.mark.parametrize("width", WIDTHS)
def test_inclusive_scan(width):
    @Tx.prim_func
    def scan(A: Tx.Buffer((4, 128), "int32"), B: Tx.Buffer((4, 128), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([128])
        s = Tx.alloc_shared((128,), "int32")
        s[tx] = A[bx, tx]
        Tx.tvm_storage_sync("shared")
        step: Tx.int32 = 1
        while step < 128:
            value: Tx.int32 = 0
            if tx >= step:
                value = s[tx - step]
            Tx.tvm_storage_sync("shared")
            s[tx] = s[tx] + value
            Tx.tvm_storage_sync("shared")
            step = step * 2
        B[bx, tx] = s[tx]

    a, b = RANDOM.integers(-100, 100, (4, 128), "i4"), np.zeros((4, 128), "i4")
    run(scan, a, b, width=width)
    np.testing.assert_array_equal(b, a.cumsum(1))


def test_a_convolution_with_borders():
    @Tx.prim_func
    def blur(A: Tx.Buffer((20, 30), "float32"), B: Tx.Buffer((20, 30), "float32")):
        Tx.device_entry()
        bx, by = Tx.cta_id([4, 3])
        tx, ty = Tx.thread_id([8, 8])
        x, y = bx * 8 + tx, by * 8 + ty
        if x < 30 and y < 20:
            total: Tx.float32 = 0.0
            for dy in range(-1, 2):
                for dx in range(-1, 2):
                    inside = y + dy >= 0 and y + dy < 20 and x + dx >= 0 and x + dx < 30
                    total = total + Tx.if_then_else(inside, A[y + dy, x + dx], Tx.float32(0))
            B[y, x] = total / Tx.float32(9)

    a, b = RANDOM.random((20, 30), "f4"), np.zeros((20, 30), "f4")
    run(blur, a, b)
    padded = np.pad(a, 1)
    wanted = sum(padded[i : i + 20, j : j + 30] for i in range(3) for j in range(3)) / 9
    np.testing.assert_allclose(b, wanted, rtol=1e-5)


def test_persistent_ctas():
    @Tx.prim_func
    def double(A: Tx.Buffer((1000,), "float32"), B: Tx.Buffer((1000,), "float32")):
        Tx.device_entry()
        bx = Tx.cta_id([3])
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        tile: Tx.int32 = bx
        while tile < 16:
            i = tile * 64 + tx
            if i < 1000:
                s[tx] = A[i]
            Tx.tvm_storage_sync("shared")
            if i < 1000:
                B[i] = s[tx] * Tx.float32(2)
            Tx.tvm_storage_sync("shared")
            tile = tile + 3

    a, b = RANDOM.random(1000, "f4"), np.zeros(1000, "f4")
    run(double, a, b)
    np.testing.assert_array_equal(b, a * 2)


@pytest.mark.parametrize("budget", [1, 1 << 30])
def test_the_last_cta_sums_up(budget):
    @Tx.prim_func
    def total(
        A: Tx.Buffer((512,), "int32"),
        P: Tx.Buffer((8,), "int32"),
        T: Tx.Buffer((1,), "int32"),
        B: Tx.Buffer((1,), "int32"),
    ):
        Tx.device_entry()
        bx = Tx.cta_id([8])
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((1,), "int32")
        ticket = Tx.alloc_shared((1,), "int32")
        if tx == 0:
            s[0] = 0
        Tx.tvm_storage_sync("shared")
        Tx.evaluate(Tx.atomic_add(s[0], A[bx * 64 + tx]))
        Tx.tvm_storage_sync("shared")
        if tx == 0:
            P[bx] = s[0]
            ticket[0] = Tx.atomic_add(T[0], 1)
            if ticket[0] == 7:
                result: Tx.int32 = 0
                for k in range(8):
                    result = result + P[k]
                B[0] = result

    a, b = RANDOM.integers(0, 100, 512, "i4"), np.zeros(1, "i4")
    run(total, a, np.zeros(8, "i4"), np.zeros(1, "i4"), b, budget=budget)
    assert b[0] == a.sum()


def test_a_lock_around_a_counter():
    @Tx.prim_func
    def count(L: Tx.Buffer((1,), "int32"), C: Tx.Buffer((2,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([6])
        tx = Tx.thread_id([4])
        taken: Tx.int32 = 0
        while taken == 0:
            if Tx.atomic_cas(L[0], 0, 1) == 0:
                C[0] = C[0] + 1
                C[1] = C[1] + bx * 4 + tx
                taken = 1
                Tx.evaluate(Tx.atomic_exch(L[0], 0))

    c = np.zeros(2, "i4")
    run(count, np.zeros(1, "i4"), c)
    assert c.tolist() == [24, sum(range(24))]


def test_a_chain_of_ctas_through_flags():
    @Tx.prim_func
    def chain(F: Tx.Buffer((8,), "int32"), V: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([8])
        tx = Tx.thread_id([32])
        if tx == 0:
            if bx < 7:
                while Tx.atomic_add(F[bx + 1], 0) == 0:
                    pass
                V[bx] = V[bx + 1] + bx
            else:
                V[bx] = bx
            Tx.evaluate(Tx.atomic_exch(F[bx], 1))

    v = np.zeros(8, "i4")
    run(chain, np.zeros(8, "i4"), v)
    np.testing.assert_array_equal(v, np.arange(8)[::-1].cumsum()[::-1])


def test_collatz_lengths_differ_between_threads():
    @Tx.prim_func
    def collatz(B: Tx.Buffer((100,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([100])
        n: Tx.int32 = tx + 1
        steps: Tx.int32 = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            steps = steps + 1
        B[tx] = steps

    def length(n):
        steps = 0
        while n != 1:
            n, steps = (n // 2 if n % 2 == 0 else 3 * n + 1), steps + 1
        return steps

    b = np.zeros(100, "i4")
    run(collatz, b)
    assert b.tolist() == [length(n + 1) for n in range(100)]


def test_leaving_before_a_barrier_is_allowed():
    @Tx.prim_func
    def early(A: Tx.Buffer((50,), "float32"), B: Tx.Buffer((50,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        if tx >= 50:
            Tx.thread_return()
        s[tx] = A[tx]
        Tx.tvm_storage_sync("shared")
        B[tx] = s[49 - tx]

    a, b = RANDOM.random(50, "f4"), np.zeros(50, "f4")
    run(early, a, b)
    np.testing.assert_array_equal(b, a[::-1])


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_rms_norm_in_a_narrow_type(name):
    @Tx.prim_func
    def norm(A: Tx.Buffer((4, 128), name), B: Tx.Buffer((4, 128), name)):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        tx = Tx.thread_id([128])
        s = Tx.alloc_shared((128,), "float32")
        value: Tx.float32 = Tx.cast(A[bx, tx], "float32")
        s[tx] = value * value
        Tx.tvm_storage_sync("shared")
        for k in Tx.unroll(7):
            if tx < 64 >> k:
                s[tx] = s[tx] + s[tx + (64 >> k)]
            Tx.tvm_storage_sync("shared")
        B[bx, tx] = Tx.cast(value * Tx.rsqrt(s[0] / Tx.float32(128) + Tx.float32(1e-5)), name)

    kind = np.float16 if name == "float16" else ml_dtypes.bfloat16
    a, b = RANDOM.standard_normal((4, 128)).astype(kind), np.zeros((4, 128), kind)
    run(norm, a, b)
    wide = a.astype("f8")
    wanted = wide / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(b.astype("f8"), wanted, rtol=1e-2)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_storage_in_eight_bits(name):
    @Tx.prim_func
    def scale(A: Tx.Buffer((64,), name), B: Tx.Buffer((64,), name)):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = Tx.cast(Tx.cast(A[tx], "float32") * Tx.float32(0.5), name)

    kind = getattr(ml_dtypes, name)
    a, b = RANDOM.standard_normal(64).astype(kind), np.zeros(64, kind)
    run(scale, a, b)
    np.testing.assert_array_equal(b.view("u1"), (a.astype("f4") * 0.5).astype(kind).view("u1"))


def test_vectors_and_views_of_other_types():
    @Tx.prim_func
    def copy(A: Tx.Buffer((256,), "float16"), B: Tx.Buffer((256,), "float16")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        held = Tx.alloc_local((8,), "float16")
        bits = Tx.decl_buffer((4,), "uint32", data=held.data, scope="local")
        held.vstore([0], A.vload([tx * 8], "float16x8"))
        for k in range(4):
            bits[k] = bits[k] ^ Tx.uint32(0x80008000)
        B.vstore([tx * 8], held.vload([0], "float16x8"))

    a, b = RANDOM.standard_normal(256).astype("f2"), np.zeros(256, "f2")
    run(copy, a, b)
    np.testing.assert_array_equal(b, -a)


def test_pointers_into_arrays():
    @Tx.prim_func
    def gather(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = Tx.masked_load("float32", Tx.address_of(A[63 - tx]), tx % 2 == 0)

    a, b = RANDOM.random(64, "f4"), np.zeros(64, "f4")
    run(gather, a, b)
    np.testing.assert_array_equal(b, np.where(np.arange(64) % 2 == 0, a[::-1], 0))


def test_ctas_run_one_at_a_time_when_memory_is_short():
    @Tx.prim_func
    def shift(A: Tx.Buffer((256,), "int32"), B: Tx.Buffer((256,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([8])
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((32,), "int32")
        s[tx] = A[bx * 32 + tx]
        Tx.tvm_storage_sync("shared")
        B[bx * 32 + tx] = s[31 - tx]

    a, b = np.arange(256, dtype="i4"), np.zeros(256, "i4")
    run(shift, a, b, budget=1)
    np.testing.assert_array_equal(b, a.reshape(8, 32)[:, ::-1].reshape(-1))


def test_waiting_for_a_cta_that_cannot_run_is_incomplete():
    @Tx.prim_func
    def wait(F: Tx.Buffer((1,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([4])
        Tx.thread_id([32])
        if bx == 3:
            Tx.evaluate(Tx.atomic_exch(F[0], 1))
        else:
            while Tx.atomic_add(F[0], 0) == 0:
                pass

    report = simulate(wait, np.zeros(1, "i4"), budget=1)
    assert report.verdict == "incomplete"
    assert "memory budget" in report.unmodelled[0]
    assert simulate(wait, np.zeros(1, "i4")).verdict == "clean"


def test_launches_follow_one_another():
    @Tx.prim_func
    def twice(A: Tx.Buffer((64,), "int32"), B: Tx.Buffer((64,), "int32")):
        with Tx.attr({"tirx.device_entry": True}):
            tx = Tx.thread_id([64])
            A[tx] = tx
        with Tx.attr({"tirx.device_entry": True}):
            ty = Tx.thread_id([64])
            B[ty] = A[63 - ty]

    b = np.zeros(64, "i4")
    report = run(twice, np.zeros(64, "i4"), b)
    np.testing.assert_array_equal(b, np.arange(64)[::-1])
    assert report.metrics["launches"] == 2
