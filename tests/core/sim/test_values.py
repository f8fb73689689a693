"""Values and places of unusual kinds: wide integers, pointers to locals, strided arguments, three-dimensional launches."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.sim.running import simulate
from tirx import script as Tx


def run(kernel, *args, checks="all"):
    report = simulate(kernel, *args, checks=checks)
    assert report.verdict == "clean", str(report)


def wrapped(value, bits, signed=True):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


@pytest.mark.parametrize("n", [0, 1, 77, -3, 2**31 - 1, -(2**31)])
def test_values_that_are_the_same_for_all_threads_wrap(n):
    @Tx.prim_func
    def kernel(n: Tx.int32, B: Tx.Buffer((4,), "int64"), C: Tx.Buffer((4,), "uint32"), D: Tx.Buffer((4,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        B[tx] = Tx.cast(n, "int64") * Tx.int64(1000000007) * Tx.int64(1000000009) + Tx.cast(tx, "int64")
        C[tx] = Tx.cast(n, "uint32") * Tx.uint32(4000000000) - Tx.uint32(5)
        D[tx] = (n << 3) - n * 3 + tx

    b, c, d = np.zeros(4, "i8"), np.zeros(4, "u4"), np.zeros(4, "i4")
    run(kernel, n, b, c, d)
    assert b.tolist() == [wrapped(n * 1000000007 * 1000000009 + t, 64) for t in range(4)]
    assert c[0] == wrapped(n * 4000000000 - 5, 32, signed=False)
    assert d.tolist() == [wrapped((n << 3) - n * 3 + t, 32) for t in range(4)]


@pytest.mark.parametrize("checks", ["all", "none"])
def test_unsigned_values_of_threads_wrap(checks):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "uint32"), B: Tx.Buffer((64,), "uint32"), C: Tx.Buffer((64,), "uint8")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = A[tx] * Tx.uint32(2654435761) + Tx.uint32(tx) - Tx.uint32(100)
        C[tx] = Tx.cast(A[tx] >> Tx.uint32(3), "uint8")

    a = np.random.default_rng(4).integers(0, 2**32, 64, dtype="u4")
    b, c = np.zeros(64, "u4"), np.zeros(64, "u1")
    run(kernel, a, b, c, checks=checks)
    wide = a.astype("u8")
    np.testing.assert_array_equal(
        b, ((wide * 2654435761 + np.arange(64, dtype="u8") + 2**33 - 100) % 2**32).astype("u4")
    )
    np.testing.assert_array_equal(c, (a >> 3).astype("u1"))


def test_vectors_of_three_are_aligned_like_their_element():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((30,), "int32"), B: Tx.Buffer((30,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([10])
        B.vstore([tx * 3], A.vload([tx * 3], "int32x3"))

    a, b = np.arange(30, dtype="i4"), np.zeros(30, "i4")
    run(kernel, a, b)
    assert (a == b).all()


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_pointer_to_a_local_array(checks):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        v = Tx.alloc_local((4,), "int32")
        for i in range(4):
            v[i] = tx * 4 + i
        p = Tx.address_of(v[1])
        w = Tx.decl_buffer((2,), "int32", data=p, scope="local")
        B[tx] = w[0] + w[1]

    b = np.zeros(64, "i4")
    run(kernel, b, checks=checks)
    np.testing.assert_array_equal(b, np.arange(64) * 8 + 3)


@pytest.mark.parametrize("checks", ["all", "none"])
def test_three_dimensions(checks):
    @Tx.prim_func
    def kernel(B: Tx.Buffer((2, 3, 4, 4, 4), "int32")):
        Tx.device_entry()
        bx, by = Tx.cta_id([3, 2])
        x, y, z = Tx.thread_id([4, 4, 4])
        B[by, bx, z, y, x] = (by * 3 + bx) * 64 + z * 16 + y * 4 + x

    b = np.zeros((2, 3, 4, 4, 4), "i4")
    run(kernel, b, checks=checks)
    np.testing.assert_array_equal(b.ravel(), np.arange(384))


@pytest.mark.parametrize("checks", ["all", "none"])
def test_vectorised_loops(checks):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float16")):
        Tx.device_entry()
        tx = Tx.thread_id([16])
        for v in Tx.vectorized(4):
            B[tx * 4 + v] = Tx.cast(Tx.max(A[tx * 4 + v], Tx.float32(0.5)) * Tx.float32(2), "float16")

    a, b = np.random.default_rng(0).random(64, "f4"), np.zeros(64, "f2")
    run(kernel, a, b, checks=checks)
    np.testing.assert_array_equal(b, (np.maximum(a, 0.5) * 2).astype("f2"))


@pytest.mark.parametrize("checks", ["all", "none"])
def test_leaving_a_loop_that_all_turn_together(checks):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8, 64), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        where: Tx.int32 = -1
        for i in range(8):
            if A[i, tx] == 3:
                where = i
                break
        B[tx] = where

    a, b = np.random.default_rng(0).integers(0, 6, (8, 64), "i4"), np.zeros(64, "i4")
    run(kernel, a, b, checks=checks)
    assert b.tolist() == [next((i for i in range(8) if a[i, t] == 3), -1) for t in range(64)]


@pytest.mark.parametrize("checks", ["all", "none"])
def test_an_argument_with_strides(checks):
    @Tx.prim_func
    def kernel(a: Tx.handle, B: Tx.Buffer((8, 8), "float32")):
        A = Tx.match_buffer(a, (8, 8), "float32", strides=(16, 1))
        Tx.device_entry()
        y = Tx.thread_id([8])
        for x in range(8):
            B[y, x] = A[y, x]

    source, b = np.random.default_rng(0).random((8, 16), "f4"), np.zeros((8, 8), "f4")
    run(kernel, source[:, :8], b, checks=checks)
    np.testing.assert_array_equal(b, source[:, :8])


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_condition_that_guards_its_second_half(checks):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "int32"), B: Tx.Buffer((16,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([16])
        if tx < 8 and A[tx] > 2:
            B[tx] = 1
        if tx >= 8 or A[tx] > 2:
            B[tx] = B[tx] + 2

    a, b = np.arange(8, dtype="i4"), np.zeros(16, "i4")
    run(kernel, a, b, checks=checks)
    assert b.tolist() == [0, 0, 0, *[3] * 5, *[2] * 8]


@pytest.mark.parametrize("n", [0, 5, 31, 32, 40, 64, -1, 2**31 - 1])
def test_shifts_mean_the_same_whether_or_not_all_threads_shift_alike(n):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2, 4), "int32"), n: Tx.int32):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        own: Tx.int32 = n + tx * 0
        A[0, tx] = (Tx.int32(5) << n) + (Tx.int32(-8) >> n)
        A[1, tx] = (Tx.int32(5) << own) + (Tx.int32(-8) >> own)

    made = np.zeros((2, 4), np.int32)
    run(kernel, made, n)
    same, own = made
    assert same.tolist() == own.tolist()
    inside = 0 <= n < 32
    assert same[0] == wrapped(((5 << n) if inside else 0) + ((-8 >> n) if inside else -1), 32)
