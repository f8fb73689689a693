"""Single operations over edge values: what the language says they give, computed here with Python's integers and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tirx import script as Tx
from tirx.ir import DType, PrimFunc
from tirx.ir.numpy_types import numpy_dtype

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COUNT = 256


class Operation(NamedTuple):
    """An operation of two operands, and what it gives for NumPy arrays (for integers: for two Python numbers)."""

    name: str
    build: Callable[[Any, Any], Any]
    wanted: Callable[..., Any]
    result: str = ""  # dtype, where it is not that of the operands


def trunc_div(a: int, b: int) -> int:
    """Rounded to zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def safe(a: int, b: int, bits: int) -> bool:
    """Whether a / b exists."""
    return b != 0 and not (b == -1 and a == -(1 << (bits - 1)))


def integer_operations(dtype: str) -> list[Operation]:
    """Divisors that do not exist are replaced by 3, shifts stay below the width."""
    kind = DType(dtype)
    bits, three = kind.bits, Tx.cast(3, dtype)
    low = -(1 << (bits - 1)) if kind.is_int else 0

    def divisor(a: Any, b: Any) -> Any:
        bad = b == 0
        if kind.is_int:
            bad = Tx.Or(bad, Tx.And(b == -1, a == Tx.min_value(dtype)))
        return Tx.Select(bad, three, b)

    def divided(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
        return lambda a, b: function(a, b if safe(a, b, bits) else 3)

    def amount(b: Any) -> Any:
        return b & Tx.cast(bits - 1, dtype)

    def mask(a: int) -> int:
        return a & ((1 << bits) - 1)

    found = [
        Operation("add", lambda a, b: a + b, lambda a, b: a + b),
        Operation("sub", lambda a, b: a - b, lambda a, b: a - b),
        Operation("mul", lambda a, b: a * b, lambda a, b: a * b),
        Operation("and", lambda a, b: a & b, lambda a, b: a & b),
        Operation("or", lambda a, b: a | b, lambda a, b: a | b),
        Operation("xor", lambda a, b: a ^ b, lambda a, b: a ^ b),
        Operation("not", lambda a, b: ~a, lambda a, b: ~a),
        Operation("neg", lambda a, b: -a, lambda a, b: -a),
        Operation("min", Tx.min, min),
        Operation("max", Tx.max, max),
        Operation("floordiv", lambda a, b: a // divisor(a, b), divided(lambda a, b: a // b)),
        Operation("floormod", lambda a, b: a % divisor(a, b), divided(lambda a, b: a % b)),
        Operation("truncdiv", lambda a, b: Tx.truncdiv(a, divisor(a, b)), divided(trunc_div)),
        Operation("truncmod", lambda a, b: Tx.truncmod(a, divisor(a, b)), divided(lambda a, b: a - b * trunc_div(a, b))),
        Operation("floordiv8", lambda a, b: a // Tx.cast(8, dtype), lambda a, b: a // 8),
        Operation("floormod8", lambda a, b: a % Tx.cast(8, dtype), lambda a, b: a % 8),
        Operation("floordiv7", lambda a, b: a // Tx.cast(7, dtype), lambda a, b: a // 7),
        Operation("floormod7", lambda a, b: a % Tx.cast(7, dtype), lambda a, b: a % 7),
        Operation("truncdiv7", lambda a, b: Tx.truncdiv(a, Tx.cast(7, dtype)), lambda a, b: trunc_div(a, 7)),
        Operation("truncmod8", lambda a, b: Tx.truncmod(a, Tx.cast(8, dtype)), lambda a, b: a - 8 * trunc_div(a, 8)),
        Operation("shl", lambda a, b: a << amount(b), lambda a, b: a << (b & (bits - 1))),
        Operation("shr", lambda a, b: a >> amount(b), lambda a, b: a >> (b & (bits - 1))),
        Operation("sum_shr", lambda a, b: (a + b) >> Tx.cast(1, dtype), lambda a, b: wrapped(a + b, dtype) >> 1),
        Operation("sum_div", lambda a, b: Tx.truncdiv(a + b, three), lambda a, b: trunc_div(wrapped(a + b, dtype), 3)),
        Operation("mul_less", lambda a, b: a * b < a, lambda a, b: wrapped(a * b, dtype) < a, "bool"),
        Operation("not_equal_neg", lambda a, b: ~a == -b, lambda a, b: wrapped(~a, dtype) == wrapped(-b, dtype), "bool"),
        Operation("select", lambda a, b: Tx.Select(a < b, a, b - a), lambda a, b: a if a < b else b - a),
        Operation("choice", lambda a, b: Tx.if_then_else(a >= b, a, b), max),
        Operation("popcount", lambda a, b: Tx.popcount(a), lambda a, b: mask(a).bit_count()),
        Operation("clz", lambda a, b: Tx.clz(a), lambda a, b: bits - mask(a).bit_length(), "int32"),
        Operation("narrow", lambda a, b: Tx.cast(a + b, "int8"), lambda a, b: wrapped(a + b, dtype), "int8"),
        Operation("wide", lambda a, b: Tx.cast(a - b, "int64"), lambda a, b: wrapped(a - b, dtype), "int64"),
        Operation("wide_unsigned", lambda a, b: Tx.cast(a * b, "uint64"), lambda a, b: wrapped(a * b, dtype), "uint64"),
        Operation("to_float", lambda a, b: Tx.cast(a + b, "float64"), lambda a, b: wrapped(a + b, dtype), "float64"),
        Operation("to_float32", lambda a, b: Tx.cast(a, "float32"), lambda a, b: exact_float32(a), "float32"),
        Operation("to_float16", lambda a, b: Tx.cast(a, "float16"), lambda a, b: a, "float16"),
        Operation("to_bfloat16", lambda a, b: Tx.cast(a, "bfloat16"), lambda a, b: a, "bfloat16"),
        Operation("to_e4m3", lambda a, b: Tx.cast(a, "float8_e4m3fn"), lambda a, b: min(max(a, -448), 448), "float8_e4m3fn"),
        Operation("to_bool", lambda a, b: Tx.cast(a + b, "bool"), lambda a, b: wrapped(a + b, dtype) != 0, "bool"),
        Operation("truth", lambda a, b: Tx.And(a < b, Tx.Or(a > three, Tx.Not(b != a))), lambda a, b: a < b and (a > 3 or a == b), "bool"),
    ]  # fmt: skip
    if kind.is_int:
        found.append(Operation("abs", lambda a, b: Tx.abs(a), lambda a, b: abs(a)))
    for name, build, wanted in (
        ("lt", lambda a, b: a < b, lambda a, b: a < b), ("le", lambda a, b: a <= b, lambda a, b: a <= b),
        ("eq", lambda a, b: a == b, lambda a, b: a == b), ("gt", lambda a, b: a > b, lambda a, b: a > b),
    ):  # fmt: skip
        found.append(Operation(name, build, wanted, "bool"))
    assert low <= 0
    return found


def wrapped(value: int, dtype: str) -> int:
    """An integer as `dtype` keeps it."""
    kind = DType(dtype)
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.is_int and value >> (kind.bits - 1) else value


def exact_float32(value: int) -> float:
    """Rounded once."""
    return float(np.float32(np.longdouble(value)))


# ---- floats -----------------------------------------------------------------------------------------------------------


def rounded_away(x: Any) -> Any:
    """C's `round`."""
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x), whole)


def larger(a: Any, b: Any) -> Any:
    """The operand that is a number; of zeros, any."""
    return np.fmax(a, b)


def float_operations(dtype: str) -> list[Operation]:
    """Computed in double (float64: by NumPy) and rounded once."""
    half = Tx.cast(0.5, dtype)
    return [
        Operation("add", lambda a, b: a + b, lambda a, b: a + b),
        Operation("sub", lambda a, b: a - b, lambda a, b: a - b),
        Operation("mul", lambda a, b: a * b, lambda a, b: a * b),
        Operation("div", lambda a, b: a / b, lambda a, b: a / b),
        Operation("half", lambda a, b: a * half, lambda a, b: a * 0.5),
        Operation("neg", lambda a, b: -a, lambda a, b: -a),
        Operation("min", Tx.min, lambda a, b: np.fmin(a, b) + 0.0),
        Operation("max", Tx.max, lambda a, b: np.fmax(a, b) + 0.0),
        Operation("fabs", lambda a, b: Tx.fabs(a), lambda a, b: np.abs(a)),
        Operation("floor", lambda a, b: Tx.floor(a), lambda a, b: np.floor(a)),
        Operation("ceil", lambda a, b: Tx.ceil(a), lambda a, b: np.ceil(a)),
        Operation("trunc", lambda a, b: Tx.trunc(a), lambda a, b: np.trunc(a)),
        Operation("round", lambda a, b: Tx.round(a), lambda a, b: rounded_away(a)),
        Operation("nearbyint", lambda a, b: Tx.nearbyint(a), lambda a, b: np.rint(a)),
        Operation("sqrt", lambda a, b: Tx.sqrt(a), lambda a, b: np.sqrt(a)),
        Operation("copysign", lambda a, b: Tx.copysign(a, b), lambda a, b: np.copysign(a, b)),
        Operation("select", lambda a, b: Tx.Select(a < b, a, b), lambda a, b: np.where(a < b, a, b)),
        Operation("isnan", lambda a, b: Tx.isnan(a), lambda a, b: np.isnan(a), "bool"),
        Operation("isinf", lambda a, b: Tx.isinf(a), lambda a, b: np.isinf(a), "bool"),
        Operation("isfinite", lambda a, b: Tx.isfinite(a), lambda a, b: np.isfinite(a), "bool"),
        Operation("lt", lambda a, b: a < b, lambda a, b: a < b, "bool"),
        Operation("le", lambda a, b: a <= b, lambda a, b: a <= b, "bool"),
        Operation("eq", lambda a, b: a == b, lambda a, b: a == b, "bool"),
        Operation("ne", lambda a, b: a != b, lambda a, b: a != b, "bool"),
        Operation("not_lt", lambda a, b: Tx.Not(a < b), lambda a, b: ~(a < b), "bool"),
        Operation("sum_lt", lambda a, b: a + a < b, lambda a, b: once(a + a, dtype) < b, "bool"),
        Operation("to_float16", lambda a, b: Tx.cast(a, "float16"), lambda a, b: a, "float16"),
        Operation("to_bfloat16", lambda a, b: Tx.cast(a, "bfloat16"), lambda a, b: a, "bfloat16"),
        Operation("to_float32", lambda a, b: Tx.cast(a, "float32"), lambda a, b: a, "float32"),
        Operation("to_float64", lambda a, b: Tx.cast(a, "float64"), lambda a, b: a, "float64"),
        Operation("to_e4m3", lambda a, b: Tx.cast(a, "float8_e4m3fn"), lambda a, b: np.clip(a, -448, 448), "float8_e4m3fn"),
        Operation("to_e5m2", lambda a, b: Tx.cast(a, "float8_e5m2"), lambda a, b: np.clip(a, -57344, 57344), "float8_e5m2"),
        Operation("to_bool", lambda a, b: Tx.cast(a, "bool"), lambda a, b: a != 0, "bool"),
        Operation("clamped", lambda a, b: Tx.cast(Tx.min(Tx.max(a, Tx.cast(-100, dtype)), Tx.cast(100, dtype)), "int8"),
                  lambda a, b: np.trunc(np.fmin(np.fmax(a, -100), 100)), "int8"),
    ]  # fmt: skip


def once(value: Any, dtype: str) -> Any:
    """A float64 array as `dtype` keeps it, rounded once and ties to even; the answer is float64."""
    value = np.asarray(value, np.float64)
    if dtype == "float64":
        return value
    if dtype in ("float16", "float32"):
        with np.errstate(over="ignore"):
            return value.astype(numpy_dtype(DType(dtype))).astype(np.float64)
    kind = DType(dtype)
    info = ml_dtypes.finfo(numpy_dtype(kind))
    lowest, largest = int(info.minexp), float(info.max)
    _, exponent = np.frexp(np.where(np.isfinite(value), value, 0.0))
    unit = np.maximum(exponent - 1, lowest).astype(np.int64) - kind.mantissa
    near = np.ldexp(np.rint(np.ldexp(np.where(np.isfinite(value), value, 0.0), -unit)), unit)
    near = np.where(np.abs(near) > largest, np.copysign(np.inf, near), near)
    return np.where(np.isfinite(value), near, value)


# ---- kernels ----------------------------------------------------------------------------------------------------------


def operations(dtype: str) -> list[Operation]:
    """The operations of a dtype."""
    return integer_operations(dtype) if DType(dtype).is_integer else float_operations(dtype)


def kernel_of(dtype: str, lanes: int = 1) -> PrimFunc:
    """One thread for each pair (`lanes` of them), one output for each operation."""
    with Tx.prim_func() as frame:
        Tx.func_name("kernel")
        A = Tx.arg("A", Tx.Buffer((COUNT,), dtype))
        B = Tx.arg("B", Tx.Buffer((COUNT,), dtype))
        table = operations(dtype)
        outs = [Tx.arg(f"O_{item.name}", Tx.Buffer((COUNT,), item.result or dtype)) for item in table]
        Tx.device_entry()
        tx = Tx.thread_id([COUNT // lanes])
        for item, out in zip(table, outs, strict=True):
            if lanes == 1:
                Tx.buffer_store(out, item.build(A[tx], B[tx]), [tx])
                continue
            with Tx.vectorized(0, lanes) as v:
                at = tx * lanes + v
                Tx.buffer_store(out, item.build(A[at], B[at]), [at])
    return frame.get()


def edge_values(dtype: str) -> tuple[Any, Any]:
    """All pairs of sixteen values at the edges of a dtype."""
    kind = DType(dtype)
    if kind.is_integer:
        top, low = kind.max_int, kind.min_int
        some = [0, 1, 2, 3, 5, 7, 8, 100, top, top - 1, low, low + 1, top // 2, top // 3]
        some += [-1, -7] if kind.is_int else [top // 2 + 1, 200]
        if kind.bits >= 32:
            some[7] = (1 << 24) + (1 << 16) + 1  # rounds to another bfloat16 than it does by way of float32
    else:
        info = ml_dtypes.finfo(numpy_dtype(kind))
        some = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -1.5,
            2.5,
            1 / 3,
            -100.25,
            77.0,
            float(info.max),
            float(info.smallest_subnormal),
        ]
        some += [float(info.smallest_normal) * 1.5, float("inf"), float("-inf"), float("nan")]
        if dtype == "float64":
            some[8:10] = [1 + 2.0**-8 + 2.0**-40, -1 - 2.0**-11 - 2.0**-40]  # the same, of bfloat16 and float16
    values = np.array(some, dtype=object if kind.is_integer else np.float64).astype(numpy_dtype(kind))
    return np.repeat(values, 16), np.tile(values, 16)


def wanted(item: Operation, dtype: str, a: Any, b: Any) -> Any:
    """What an operation gives, as an array of its result's dtype."""
    result = DType(item.result or dtype)
    if DType(dtype).is_integer:
        plain = [item.wanted(int(x), int(y)) for x, y in zip(a, b, strict=True)]
        if result.is_integer and not result.is_bool:
            plain = [wrapped(int(value), result.name) for value in plain]
        if result.is_float:  # what is lost on the way to 64 bits is far below half a unit of the small ones
            return once(np.array(plain, dtype=object).astype(np.float64), result.name).astype(numpy_dtype(result))
        return np.array(plain, dtype=object).astype(numpy_dtype(result))
    with np.errstate(all="ignore"):
        made = item.wanted(a.astype(np.float64), b.astype(np.float64))
        if not result.is_float:
            return np.asarray(made).astype(numpy_dtype(result))
        return once(once(made, dtype), result.name).astype(numpy_dtype(result))
