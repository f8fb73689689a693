"""Arithmetic of every type, alone and in vectors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tirx import script as Tx

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COUNT = 256


def numpy_type(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def numbers(rng: Any, name: str) -> Any:
    """Values of the type, small ones and the extremes."""
    dtype = numpy_type(name)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        made = rng.integers(info.min, info.max, COUNT, dtype=dtype, endpoint=True)
        made[:64] = rng.integers(max(info.min, -9), 10, 64).astype(dtype)
        made[:4] = [info.min, info.max, 0, 1]
        return made
    made = (rng.standard_normal(COUNT) * 8).astype(dtype)
    made[:6] = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]).astype(dtype)
    return made


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": lambda a, b: Tx.max(a, b),
    "min": lambda a, b: Tx.min(a, b),
}
INTEGRAL = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "left": lambda a, b: a << (b & 7),
    "right": lambda a, b: a >> (b & 7),
    "floordiv": lambda a, b: a // (b | 1),
    "floormod": lambda a, b: a % (b | 1),
    "truncdiv": lambda a, b: Tx.truncdiv(a, b | 1),
    "truncmod": lambda a, b: Tx.truncmod(a, b | 1),
    "not": lambda a, b: ~a,
}


def kernel_of(operations: Any, dtype: str) -> Any:
    """A kernel that writes the result of each operation to two rows: element by element, and in vectors of four."""

    @Tx.prim_func
    def arithmetic(
        a: Tx.Buffer((COUNT,), dtype), b: Tx.Buffer((COUNT,), dtype), out: Tx.Buffer((len(operations), 2, COUNT), dtype)
    ):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([COUNT])
        for row, operation in enumerate(operations):
            out[row, 0, tx] = operation(a[tx], b[tx])
        if tx < COUNT // 4:
            for row, operation in enumerate(operations):
                for v in Tx.vectorized(4):
                    out[row, 1, tx * 4 + v] = operation(a[tx * 4 + v], b[tx * 4 + v])

    return arithmetic


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(agree, dtype):
    rng = np.random.default_rng(3)
    operations = [*OPERATIONS.values(), *INTEGRAL.values()]
    a, b = numbers(rng, dtype), numbers(rng, dtype)
    if numpy_type(dtype).kind == "i":
        b[b == -1] = 3  # the smallest number divided by -1 is not defined
    _, _, out = agree(kernel_of(operations, dtype), a, b, np.zeros((len(operations), 2, COUNT), numpy_type(dtype)))
    np.testing.assert_array_equal(out[:, 0], out[:, 1])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out[0, 0], a + b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats(agree, dtype):
    rng = np.random.default_rng(4)
    operations = [*OPERATIONS.values(), lambda a, b: a / b, lambda a, b: -a, lambda a, b: Tx.if_then_else(a < b, a, b)]
    a, b = numbers(rng, dtype), numbers(rng, dtype)[::-1].copy()
    _, _, out = agree(kernel_of(operations, dtype), a, b, np.zeros((len(operations), 2, COUNT), numpy_type(dtype)))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out[5, 1].astype(np.float64), (a / b).astype(np.float64))


COMPARISONS = [
    lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b, lambda a, b: a >= b, lambda a, b: a == b, lambda a, b: a != b,
    lambda a, b: Tx.And(a < b, a != b), lambda a, b: Tx.Or(a < b, a == b), lambda a, b: Tx.Not(a < b),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["int8", "uint32", "float16", "float64"])
def test_comparisons(agree, dtype):
    @Tx.prim_func
    def compared(
        a: Tx.Buffer((COUNT,), dtype), b: Tx.Buffer((COUNT,), dtype), out: Tx.Buffer((len(COMPARISONS), COUNT), "bool")
    ):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([COUNT])
        for row, operation in enumerate(COMPARISONS):
            out[row, tx] = operation(a[tx], b[tx])

    rng = np.random.default_rng(5)
    a, b = numbers(rng, dtype), numbers(rng, dtype)
    _, _, out = agree(compared, a, b, np.zeros((len(COMPARISONS), COUNT), bool))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out[0], a < b)


STORED = [*FLOATS, "float8_e4m3fn", "float8_e5m2"]
# Zeros and what is no number; ties, what is just too large, and the smallest numbers of the narrow formats.
HARD = [
    0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 65504, 65520, 464, 448, 465, 57344, 61440, 1e-8, 2**-24, 2**-25, 3 * 2**-26, 2**-9, 2**-10,
    3 * 2**-11, 1e30, 1 + 2**-11 + 2**-30,
]  # fmt: skip


@pytest.mark.parametrize("source", ["bool", "int8", "uint16", "int32", "uint64", *STORED])
def test_conversions(agree, source):
    """To every other type; what does not fit into an integer is not defined, and not tested."""

    def convert(x: Any, dtype: str) -> Any:
        return Tx.cast(x, dtype)

    @Tx.prim_func
    def converted(
        a: Tx.Buffer((COUNT,), source),
        small: Tx.Buffer((COUNT,), source),
        i8: Tx.Buffer((COUNT,), "int8"),
        u16: Tx.Buffer((COUNT,), "uint16"),
        i64: Tx.Buffer((COUNT,), "int64"),
        truth: Tx.Buffer((COUNT,), "bool"),
        f16: Tx.Buffer((COUNT,), "float16"),
        bf16: Tx.Buffer((COUNT,), "bfloat16"),
        f32: Tx.Buffer((COUNT,), "float32"),
        f64: Tx.Buffer((COUNT,), "float64"),
        e4m3: Tx.Buffer((COUNT,), "float8_e4m3fn"),
        e5m2: Tx.Buffer((COUNT,), "float8_e5m2"),
    ):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([COUNT])
        for place in (i8, u16, i64):
            place[tx] = convert(small[tx], place.dtype)
        for place in (truth, f16, bf16, f32, f64, e4m3, e5m2):
            place[tx] = convert(a[tx], place.dtype)

    rng = np.random.default_rng(6)
    small = rng.integers(0, 100, COUNT).astype(np.float64)
    floats = (rng.standard_normal(COUNT) * 300).astype(np.float64)
    floats[: len(HARD)] = HARD
    results = [np.zeros(COUNT, numpy_type(name)) for name in ("int8", "uint16", "int64", "bool", *STORED)]
    with np.errstate(all="ignore"):
        agree(
            converted,
            (floats if source in STORED else small).astype(numpy_type(source)),
            small.astype(numpy_type(source)),
            *results,
        )


EXACT = "fabs floor ceil trunc sqrt nearbyint round copysign isnan isinf isfinite fma popcount clz abs"
ONLY_FLOAT32 = ("popcount", "clz", "isnan", "isinf", "isfinite")  # as `applied` uses them
CLOSE = """
exp exp2 exp10 log log2 log10 log1p rsqrt sigmoid sin cos tan tanh sinh cosh asin acos atan atan2 asinh acosh atanh hypot pow erf fmod
ldexp nextafter
"""


def applied(name: str, a: Any, b: Any) -> Any:
    """A call of core's function, whatever it takes."""
    function = getattr(Tx, name)
    if name in ("popcount", "clz"):
        return Tx.cast(function(Tx.cast(a * 100.0, "int32")), "float32")
    if name in ("isnan", "isinf", "isfinite"):
        return Tx.cast(function(a), "float32")
    if name == "fma":
        return function(a, b, a)
    if name == "ldexp":
        return function(a, Tx.cast(b, "int32"))
    return function(a, b) if name in ("copysign", "atan2", "hypot", "pow", "fmod", "nextafter") else function(a)


def functions_of(names: list[str], dtype: str) -> Any:
    """A kernel that writes what each function answers to a row of its own."""

    @Tx.prim_func
    def functions(
        a: Tx.Buffer((COUNT,), dtype), b: Tx.Buffer((COUNT,), dtype), out: Tx.Buffer((len(names), COUNT), dtype)
    ):
        Tx.device_entry()
        Tx.cta_id([1])
        tx = Tx.thread_id([COUNT])
        for row, name in enumerate(names):
            out[row, tx] = applied(name, a[tx], b[tx])

    return functions


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(agree, dtype):
    """Exactly where a function is exact, else to a few steps of the last place."""
    rng = np.random.default_rng(7)
    a, b = (rng.uniform(0.1, 0.9, COUNT).astype(dtype) for _ in range(2))
    exact = [name for name in EXACT.split() if dtype == "float32" or name not in ONLY_FLOAT32]
    for names, steps in ((exact, 0), (CLOSE.split(), 16)):
        agree(functions_of(names, dtype), a, b, np.zeros((len(names), COUNT), dtype), ulp=steps)
