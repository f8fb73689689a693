"""Core's intrinsics: every row's meaning exists, and what the less obvious ones compute."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from tests.core.sim.running import simulate
from tirx import script as Tx
from tirx.intrinsic.core import ALL
from tirx.intrinsic.internal import INTERNAL
from tirx.sim.meanings import math as meanings
from tirx.sim.numeric import cast_array, trunc_div, trunc_mod
from tirx.support.late import load_object

F4 = np.float32


@pytest.mark.parametrize("row", [row for row in (*ALL, *INTERNAL) if row.meaning], ids=lambda row: row.name)
def test_the_meaning_exists(row):
    assert callable(load_object(row.meaning))


@pytest.mark.parametrize(
    "name",
    [
        *(
            "exp",
            "exp2",
            "exp10",
            "log",
            "log1p",
            "log2",
            "log10",
            "sqrt",
            "rsqrt",
            "sigmoid",
            "erf",
            "sin",
            "cos",
            "tan",
        ),
        *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "atanh"),
    ],
)
def test_functions_of_floats(name):
    reference = {
        "exp10": lambda x: 10.0**x, "rsqrt": lambda x: 1 / math.sqrt(x), "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
        "exp2": lambda x: 2.0**x,
    }.get(name) or getattr(math, name)  # fmt: skip
    values = np.linspace(0.05, 0.95, 13, dtype=F4)
    result = getattr(meanings, name)(None, values)
    assert result.dtype == F4
    np.testing.assert_allclose(result, [reference(float(x)) for x in values], rtol=3e-7)
    for kind in (np.float16, np.float64, ml_dtypes.bfloat16):
        assert getattr(meanings, name)(None, values.astype(kind)).dtype == kind


def test_acosh():
    np.testing.assert_allclose(meanings.acosh(None, np.array([1.5], F4)), [math.acosh(1.5)], rtol=1e-6)


def test_rounding():
    values = np.array([0.5, 1.5, 2.5, -0.5, -2.5, 0.49999997], F4)
    np.testing.assert_array_equal(meanings.round(None, values), [1, 2, 3, -1, -3, 0])
    np.testing.assert_array_equal(meanings.nearbyint(None, values), [0, 2, 2, 0, -2, 0])


@pytest.mark.parametrize("kind", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_fma_rounds_once(kind):
    from fractions import Fraction

    random = np.random.default_rng(3)
    x, y, z = ((random.standard_normal(400) * 2.0 ** random.integers(-3, 3, 400)).astype(kind) for _ in range(3))
    got = meanings.fma(None, x, y, z)
    for a, b, c, d in zip(x, y, z, got, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        error = abs(Fraction(float(d)) - exact)
        for neighbour in (np.nextafter(d, kind(np.inf)), np.nextafter(d, kind(-np.inf))):
            assert error <= abs(Fraction(float(neighbour)) - exact)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i4"])
def test_bits(kind):
    values = np.array([0, 1, 5, 127], kind)
    width = values.dtype.itemsize * 8
    assert meanings.popcount(None, values).tolist() == [0, 1, 2, 7]
    assert meanings.clz(None, values).tolist() == [width, width - 1, width - 3, width - 7]
    assert meanings.popcount(None, np.array([-1], "i4")).tolist() == [32]
    assert meanings.clz(None, np.array([-1], "i4")).tolist() == [0]


def test_floats_to_integers_truncate_and_saturate():
    values = np.array([1.9, -1.9, 3e9, -3e9, np.nan, np.inf], F4)
    top = 2**31 - 1
    assert cast_array(values, np.dtype("i4")).tolist() == [1, -1, top, -(2**31), 0, top]
    assert cast_array(values, np.dtype("u1")).tolist() == [1, 0, 255, 0, 0, 255]
    assert cast_array(np.array([1e19, 1.8e19, -1.0], "f8"), np.dtype("u8")).tolist() == [10**19, 18 * 10**18, 0]
    assert cast_array(np.array([1e19, -1e19], "f8"), np.dtype("i8")).tolist() == [2**63 - 1, -(2**63)]


def test_division_rounds_to_zero():
    a, b = np.array([7, -7, 7, -7], "i4"), np.array([2, 2, -2, -2], "i4")
    assert trunc_div(a, b).tolist() == [3, -3, -3, 3]
    assert trunc_mod(a, b).tolist() == [1, -1, 1, -1]
    assert [trunc_div(-7, 2), trunc_mod(-7, 2)] == [-3, -1]


def test_the_number_wins_over_nan():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2,), "float32"), B: Tx.Buffer((2, 2), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([2])
        B[0, tx] = Tx.min(A[tx], Tx.float32(1))
        B[1, tx] = Tx.max(A[tx], Tx.float32(1))

    b = np.zeros((2, 2), "f4")
    assert simulate(kernel, np.array([np.nan, 5], "f4"), b)
    np.testing.assert_array_equal(b, [[1, 1], [1, 5]])


def test_bits_seen_as_another_type():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((4,), "float32"), B: Tx.Buffer((4,), "uint32"), C: Tx.Buffer((4,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        B[tx] = Tx.reinterpret("uint32", A[tx])
        C[tx] = Tx.reinterpret("float32", B[tx])

    a, b, c = np.array([1, -2, 0.5, np.inf], "f4"), np.zeros(4, "u4"), np.zeros(4, "f4")
    assert simulate(kernel, a, b, c)
    np.testing.assert_array_equal(b, a.view("u4"))
    np.testing.assert_array_equal(c, a)


def test_dot_products_of_bytes():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((16,), "int8"), B: Tx.Buffer((16,), "int8"), C: Tx.Buffer((4,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([4])
        C[tx] = Tx.dp4a(A.vload([tx * 4], "int8x4"), B.vload([tx * 4], "int8x4"), tx)

    random = np.random.default_rng(5)
    a, b, c = random.integers(-128, 128, 16, "i1"), random.integers(-128, 128, 16, "i1"), np.zeros(4, "i4")
    assert simulate(kernel, a, b, c)
    wanted = (a.astype("i4") * b).reshape(4, 4).sum(1) + np.arange(4)
    np.testing.assert_array_equal(c, wanted)


@pytest.mark.parametrize(
    ("name", "start", "wanted"), [("atomic_min", 100, 3), ("atomic_max", -5, 66), ("atomic_exch", 0, 66)]
)
def test_atomics_in_thread_order(name, start, wanted):
    update = getattr(Tx, name)

    @Tx.prim_func
    def kernel(A: Tx.Buffer((1,), "int32"), B: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = update(A[0], tx + 3)

    a, b = np.array([start], "i4"), np.zeros(64, "i4")
    assert simulate(kernel, a, b)
    assert a[0] == wanted
    assert b[0] == start
    assert b[1] == 3


def test_a_sum_of_floats_is_added_in_thread_order():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((1,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        Tx.evaluate(Tx.atomic_add(B[0], A[tx]))

    a, b = np.random.default_rng(2).random(64, "f4"), np.zeros(1, "f4")
    assert simulate(kernel, a, b)
    total = F4(0)
    for value in a:
        total = F4(total + value)
    assert b[0] == total


def test_dynamic_shared_memory_in_two_types():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        pool = Tx.alloc_buffer((64 * 6,), "uint8", scope="shared.dyn")
        wide = Tx.decl_buffer((64,), "float32", data=pool.data, scope="shared.dyn")
        narrow = Tx.decl_buffer((64,), "float16", data=pool.data, elem_offset=128, scope="shared.dyn")
        wide[tx] = A[tx]
        narrow[tx] = Tx.cast(A[tx], "float16")
        Tx.tvm_storage_sync("shared")
        B[tx] = wide[63 - tx] - Tx.cast(narrow[63 - tx], "float32")

    a, b = np.random.default_rng(9).random(64, "f4"), np.zeros(64, "f4")
    report = simulate(kernel, a, b)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, (a - a.astype("f2").astype("f4"))[::-1])
