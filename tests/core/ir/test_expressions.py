"""Operators: promotion, folding, and errors that say what to write."""

from __future__ import annotations

import operator

import pytest

from tirx import ir
from tirx.intrinsic.core.arithmetic import ceildiv
from tirx.support.errors import ScriptError

i32, i64, u32, f16, f32 = (ir.Var(name, ir.DType(name)) for name in ("int32", "int64", "uint32", "float16", "float32"))


@pytest.mark.parametrize(
    ("expr", "dtype"),
    [
        (i32 + 1, "int32"),
        (i32 + i64, "int64"),
        (i32 + u32, "int32"),
        (u32 + 1, "uint32"),
        (f16 + f32, "float32"),
        (i32 + f16, "float16"),
        (f16 * 2, "float16"),
        (i32 * 2.5, "float32"),
        (i32 < 3, "bool"),
        (u32 << 3, "uint32"),
        (u32 >> i64, "uint32"),
        (-i32, "int32"),
        (f32 / 3, "float32"),
        (i32.astype("float16"), "float16"),
    ],
)
def test_promotion(expr: ir.Expr, dtype: str) -> None:
    assert expr.dtype == dtype


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (ir.const(7) // -2, -4),
        (ir.const(7) % -2, -1),
        (ir.binary(ir.Div, 7, -2), -3),
        (ir.binary(ir.Mod, 7, -2), 1),
        (ir.const(1, "uint32") - 2, 2**32 - 1),
        (ir.const(1) << 31, -(2**31)),
        (ir.const(3) & 6, 2),
        (ir.const(3) < 4, 1),
        (-ir.const(3), -3),
    ],
)
def test_integer_constants_fold(expr: ir.Expr, value: int) -> None:
    assert isinstance(expr, ir.IntImm)
    assert expr.value == value


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda: i32 / 2, "`/` on integers is ambiguous", "write `//`"),
        (lambda: f32 // 2, "`//` needs integers, not float32", "Tx.floor"),
        (lambda: f32 % 2, "`%` needs integers", "Tx.fmod"),
        (lambda: i32**2, r"`\*\*` is not defined", "Tx.pow"),
        (lambda: i32 @ i32, "`@` is not defined", "tile operation"),
        (lambda: bool(i32 < 2), "no truth value", "Tx.if_then_else"),
        (lambda: range(i32), "not a Python integer", "Tx.serial"),
        (lambda: int(f32), "not a Python integer", "Tx.int32"),
        (lambda: float(i32), "not a Python float", "Tx.float32"),
        (lambda: round(f32), "cannot round", "Tx.round"),
        (lambda: list(i32), "cannot be iterated", "index"),
        (lambda: len(i32), "no length", ".shape"),
        (lambda: i32 + 2**40, "1099511627776 does not fit int32", "Tx.int64"),
        (lambda: i32 + "a", "text and a kernel value do not mix", "when the kernel runs"),
        (lambda: operator.add(i32, [1]), r"list \[1\] is not a kernel value", "kernel values are"),
        (lambda: ir.const(1) // 0, "division by the constant zero", ""),
        (lambda: ir.const(1) << 32, "shift of an int32 by 32", "0 to 31"),
        (lambda: ir.const(2**31 - 1) + 1, "2147483648 does not fit int32", "Tx.int64"),
        (lambda: ir.const(1.5, "int32"), "1.5 is not a value of int32", "cast"),
        (
            lambda: ir.Var("p", ir.PointerType("float32")) + 1,
            "a pointer and a value of type int32 do not mix",
            "ptr_to",
        ),
        (lambda: ~f32, "`~` needs integers, not float32", "not condition"),
        (lambda: f32 << 1, "`<<` needs integers", "reinterpret"),
        (lambda: ir.Buffer("x", (8,), "float32")[0:4] + 1.0, "a region of `x` is many elements", "x[i]"),
        (lambda: -ir.Buffer("x", (8,), "float32")[0:4], "a region of `x` is many elements", "vload"),
        (lambda: ir.Buffer("x", (8,), "float32") == 0, "the buffer `x` is compared with a value", "x[i]"),
        (lambda: i32 == None, "None is not a kernel value", "is None"),  # noqa: E711
    ],
)
def test_refusals(make: object, message: str, hint: str) -> None:
    with pytest.raises(ScriptError, match=message) as caught:
        make()
    assert hint in (caught.value.hint or "")


def test_dtypes_are_interned_and_named() -> None:
    assert ir.DType("f16") is ir.DType("float16")
    assert ir.DType("float16x4").element is ir.DType("float16")
    assert ir.DType("float8_e4m3fnx16").total_bits == 128
    assert ir.PointerType("float32") is ir.PointerType("float32", "global")
    with pytest.raises(ValueError, match="unknown dtype 'flaot32'; did you mean `float32`"):
        ir.DType("flaot32")


def test_a_rewrite_that_changes_nothing_returns_the_same_object() -> None:
    expr = i32 * 4 + i64
    assert ir.rewrite(expr, {ir.Var: lambda var: None}) is expr
    assert ir.substitute(expr, {u32: i32}) is expr


def test_structural_equality_ignores_names_of_bound_variables() -> None:
    def loop(name: str) -> ir.Stmt:
        var = ir.Var(name, ir.INT32)
        return ir.For(var, ir.const(0), ir.const(4), ir.const(1), "serial", ir.Evaluate(var + 1))

    assert ir.structural_equal(loop("a"), loop("b"))
    assert ir.structural_hash(loop("a")) == ir.structural_hash(loop("b"))
    assert not ir.structural_equal(ir.Evaluate(i32), ir.Evaluate(ir.Var("other", ir.INT32)))


@pytest.mark.parametrize(
    ("source", "target", "lossless"),
    [
        ("float16", "float32", True),
        ("bfloat16", "float32", True),
        ("float16", "bfloat16", False),
        ("float32", "float16", False),
        ("int32", "int64", True),
        ("uint32", "int32", True),
        ("int32", "uint64", False),
        ("uint16", "int32", True),
        ("int32", "float32", False),
        ("int16", "float32", True),
        ("int32", "float64", True),
        ("bool", "int8", True),
        ("float8_e4m3fn", "float16", True),
        ("float8_e5m2", "float16", True),
    ],
)
def test_only_lossless_conversions_are_implicit(source: str, target: str, lossless: bool) -> None:
    from tirx.ir.convert import is_lossless

    assert is_lossless(ir.DType(source), ir.DType(target)) is lossless


def test_loads_of_different_free_buffers_differ_and_of_bound_ones_do_not() -> None:
    a, b = ir.Buffer("a", (4,)), ir.Buffer("b", (4,))
    zero = (ir.const(0),)
    assert not ir.structural_equal(ir.BufferLoad(a, zero), ir.BufferLoad(b, zero))
    assert ir.structural_equal(ir.BufferLoad(a, zero), ir.BufferLoad(a, zero))
    assert ir.structural_equal(ir.BufferLoad(a, zero), ir.BufferLoad(b, zero), map_free=True)

    def block(buffer: ir.Buffer) -> ir.Stmt:
        return ir.Seq((ir.Alloc(buffer), ir.Evaluate(ir.BufferLoad(buffer, zero))))

    assert ir.structural_equal(block(a), block(b))


@pytest.mark.parametrize(("a", "b", "value"), [(7, 2, 4), (-7, 2, -3), (0, 5, 0), (8, 4, 2), (2**31 - 1, 2, 2**30)])
def test_ceildiv_of_constants_is_rounded_up(a: int, b: int, value: int) -> None:
    assert ceildiv(a, b) == value
    assert ir.structural_equal(ceildiv(ir.const(a), ir.const(b)), ir.const(value))


@pytest.mark.parametrize("divisor", [0, -1, ir.const(0), ir.const(-3)])
def test_ceildiv_divides_by_positive_numbers(divisor: object) -> None:
    for dividend in (7, i32):
        with pytest.raises(ScriptError, match="divides by positive numbers only"):
            ceildiv(dividend, divisor)


def test_ceildiv_of_a_variable_stays_readable() -> None:
    assert ir.structural_equal(ceildiv(i32, 256), (i32 + 255) // 256)
