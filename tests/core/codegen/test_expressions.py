"""Expressions: minimal parentheses, constants that read back, C's meanings."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.codegen.dialect import printer, text
from tirx.codegen.literal import float_text, rounded
from tirx.intrinsic.core import math
from tirx.ir import (
    LT,
    Add,
    And,
    BitwiseAnd,
    Broadcast,
    Buffer,
    BufferLoad,
    Cast,
    Div,
    DType,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Let,
    LShift,
    Max,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    Ramp,
    Select,
    Shuffle,
    Sub,
    Var,
    const,
)  # fmt: skip

A, B, C = (Var(name, DType("int32")) for name in "abc")
X, Y = (Var(name, DType("float32")) for name in "xy")
S = Var("s", DType("int8"))
V = Var("v", DType("float32x4"))
BUFFER = Buffer("M", (64,), "float32", layout=None)

CASES: dict[str, Expr] = {
    "a + b + c": Add(A, Add(B, C)),
    "a - (b - c)": Sub(A, Sub(B, C)),
    "a - b - c": Sub(Sub(A, B), C),
    "x + (y + x)": Add(X, Add(Y, X)),
    "(a + b) * c": Mul(Add(A, B), C),
    "a * b + c": Add(Mul(A, B), C),
    "x / (y / x)": Div(X, Div(Y, X)),
    "(a << 2) + b": Add(LShift(A, const(2)), B),
    "a << (b + c)": LShift(A, Add(B, C)),
    "(a & b) < c": LT(BitwiseAnd(A, B), C),
    "a < b && b < c": And(LT(A, B), LT(B, C)),
    "(a < b && b < c) || c < a": Or(And(LT(A, B), LT(B, C)), LT(C, A)),
    "!(a < b)": Not(LT(A, B)),
    "-(-a)": Neg(Neg(A)),
    "-(a + b)": Neg(Add(A, B)),
    "(float)(a + b)": Cast(DType("float32"), Add(A, B)),
    "(float)a * x": Mul(Cast(DType("float32"), A), X),
    "a < b ? a : b < c ? b : c": Select(LT(A, B), A, Select(LT(B, C), B, C)),
    "(a < b ? a : b) + c": Add(Select(LT(A, B), A, B), C),
    "(signed char)(s + s) < s": LT(Add(S, S), S),
    "max(a, b + 1)": Max(A, Add(B, const(1))),
    "fmod(x, y)": Mod(X, Y),
    "a % b": Mod(A, B),
    "a >> 3": FloorDiv(A, const(8)),
    "a & 7": FloorMod(A, const(8)),
    "floordiv(a, b)": FloorDiv(A, B),
    "floormod(a, 7)": FloorMod(A, const(7)),
    "expf(x + y)": math.exp(X + Y),
    "(a & 1) + b": Add(math.popcount(A), B),
    "M[a + 1]": BufferLoad(BUFFER, (A + 1,)),
    "*(float4*)&M[a]": BufferLoad(BUFFER, (Ramp(A, const(1), 4),)),
    "(float4){M[a], M[a + 2], M[a + 4], M[a + 6]}": BufferLoad(BUFFER, (Ramp(A, const(2), 4),)),
    "M[a + 3]": Shuffle((BufferLoad(BUFFER, (Ramp(A, const(1), 4),)),), (3,)),
    "v.y": Shuffle((V,), (1,)),
    "(float2){v.w, v.x}": Shuffle((V,), (3, 0)),
    "v + v": Add(V, V),
    "v * x": Mul(V, Broadcast(X, 4)),
    "exp(v)": math.exp(V),
    "(a + b) * (a + b)": Let(C, Add(A, B), Mul(C, C)),
}  # fmt: skip


@pytest.mark.parametrize("expected", CASES)
def test_expression(expected: str) -> None:
    assert text(CASES[expected]) == expected


NUMBERS: dict[str, Expr] = {
    "5": const(5),
    "-5": const(-5),
    "a - -5": Sub(A, const(-5)),
    "(-2147483647 - 1)": IntImm(-(2**31), DType("int32")),
    "5000000000L": IntImm(5000000000, DType("int64")),
    "0xffffffffu": IntImm(2**32 - 1, DType("uint32")),
    "true": const(True),
    "0.1f": const(0.1),
    "1.0f": const(1.0),
    "100.0f": const(100.0),
    "1e30f": const(1e30),
    "-INFINITY": FloatImm(float("-inf"), DType("float32")),
    "NAN": FloatImm(float("nan"), DType("float32")),
    "0.1": FloatImm(0.1, DType("float64")),
    "1e-320": FloatImm(1e-320, DType("float64")),
    "INFINITY": FloatImm(1e39, DType("float32")),  # beyond float32
}


@pytest.mark.parametrize("expected", NUMBERS)
def test_number(expected: str) -> None:
    assert text(NUMBERS[expected]) == expected


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_float32_text_reads_back(value: float) -> None:
    assert struct.pack("f", float(float_text(value, DType("float32")))) == struct.pack("f", value)


@given(st.floats(width=16, allow_nan=False, allow_infinity=False))
def test_float16_text_reads_back(value: float) -> None:
    assert rounded(float(float_text(value, DType("float16"))), DType("float16")) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float64_text_reads_back(value: float) -> None:
    assert float(float_text(value, DType("float64"))) == value


def test_a_deep_sum_needs_no_deep_recursion() -> None:
    total: Expr = A
    for _ in range(5000):
        total = Add(total, B)
    assert text(total).count("+") == 5000


def test_division_of_what_is_not_negative_is_c_division() -> None:
    found = printer()
    found.analyzer.bind(A, 0, 1000)
    assert found.text(FloorDiv(A, const(7)) + FloorMod(A, const(9))) == "a / 7 + a % 9"


def test_only_used_definitions_come_into_the_prelude() -> None:
    found = printer()
    found.text(Mul(V, Broadcast(X, 4)))
    found.text(math.exp(X))
    assert found.prelude.sections() == [
        "#include <math.h>",
        "static inline float4 operator*(float4 a, float b) {\n  return (float4){a.x * b, a.y * b, a.z * b, a.w * b};\n}",
    ]
