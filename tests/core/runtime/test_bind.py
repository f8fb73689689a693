"""Arguments are checked before a launch; each refusal names the argument, what was expected and what came."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tirx import ir
from tirx.runtime.bind import bind_arguments
from tirx.support.errors import ArgumentError

n = ir.Var("n", ir.INT32)
A = ir.Buffer("A", (n, 64))
B = ir.Buffer("B", (n, 64))
alpha = ir.Var("alpha", ir.FLOAT32)
count = ir.Var("count", ir.DType("uint8"))
STORE = ir.BufferStore(B, ir.const(0.0), (ir.const(0), ir.const(0)))
SCALE = ir.PrimFunc("scale", [A, B, alpha, count], STORE)


def good() -> list[Any]:
    return [np.zeros((4, 64), np.float32), np.zeros((4, 64), np.float32), 2.5, 7]


def changed(position: int, value: Any) -> list[Any]:
    values = good()
    values[position] = value
    return values


def readonly() -> Any:
    array = np.zeros((4, 64), np.float32)
    array.flags.writeable = False
    return array


def misaligned() -> Any:
    return np.zeros(4 * 64 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(4, 64)


def test_good_arguments_bind_and_tell_the_symbolic_dimension() -> None:
    bound = bind_arguments(SCALE, good())
    assert bound.symbols[id(n)] == 4
    assert bound.values[2:] == [2.5, 7]
    assert bound.device == "cpu"


def test_names_work_and_numpy_scalars_count_as_numbers() -> None:
    a, b, _, _ = good()
    assert bind_arguments(SCALE, [a], {"B": b, "count": np.uint8(3), "alpha": np.float64(1)}).values[3] == 3


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (good()[:3], r"scale(A, B, alpha, count) takes 4 arguments, and is called with 3"),
        (changed(0, 3.0), "argument `A` of scale: expected an array of float32 (n, 64), got float"),
        (changed(0, np.zeros((4, 64))), "argument `A` of scale: expected dtype float32, got float64"),
        (changed(0, np.zeros((4, 64), np.complex64)), "expected dtype float32, got complex64"),
        (changed(0, np.zeros(256, np.float32)), "expected 2 dimensions (n, 64), got shape (256,)"),
        (changed(0, np.zeros((4, 32), np.float32)), "expected shape (n, 64), got (4, 32) (dimension 1 is 32)"),
        (changed(1, np.zeros((5, 64), np.float32)), "dimension `n` of scale is 4 by A.shape[0] and 5 by B.shape[0]"),
        (changed(0, np.zeros((64, 4), np.float32).T), "expected a contiguous (row-major) array, got strides (1, 4)"),
        (changed(0, np.zeros((4, 128), np.float32)[:, ::2]), "expected a contiguous (row-major) array"),
        (changed(0, misaligned()), "expected data aligned to 4 bytes"),
        (changed(1, readonly()), "argument `B` of scale: expected an array that can be written, got a read-only one"),
        (changed(2, "two"), "argument `alpha` of scale: expected a number of type float32, got str 'two'"),
        (changed(2, 1e39), "argument `alpha` of scale: expected float32, got 1e+39, which overflows it"),
        (changed(3, 256), "argument `count` of scale: expected uint8 (0 to 255), got 256"),
        (changed(3, -1), "argument `count` of scale: expected uint8 (0 to 255), got -1"),
        (changed(3, 1.5), "argument `count` of scale: expected a number of type uint8, got float 1.5"),
    ],
)
def test_refusals(args: list[Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        bind_arguments(SCALE, args)
    assert message in str(caught.value)


def test_empty_arrays_are_refused() -> None:
    empty = np.zeros((0, 64), np.float32)
    with pytest.raises(ArgumentError, match="expected at least one element, got shape"):
        bind_arguments(SCALE, [empty, empty, 1.0, 1])


def test_names_that_do_not_exist_or_come_twice() -> None:
    a, b, x, c = good()
    with pytest.raises(ArgumentError, match="has no argument `C`"):
        bind_arguments(SCALE, [a, b, x], {"C": c})
    with pytest.raises(ArgumentError, match="gets `A` twice"):
        bind_arguments(SCALE, [a, b, x], {"A": a})


def test_non_finite_scalars_pass_as_they_are() -> None:
    values = bind_arguments(SCALE, changed(2, float("inf"))).values
    assert values[2] == float("inf")
    assert np.isnan(bind_arguments(SCALE, changed(2, float("nan"))).values[2])


def test_a_read_only_input_is_fine() -> None:
    bind_arguments(SCALE, changed(0, readonly()))


def test_bfloat16_arrays() -> None:
    func = ir.PrimFunc("f", [ir.Buffer("X", (8,), "bfloat16")], ir.Evaluate(ir.const(0)))
    bind_arguments(func, [np.zeros(8, ml_dtypes.bfloat16)])
    with pytest.raises(ArgumentError, match="expected dtype bfloat16, got float16"):
        bind_arguments(func, [np.zeros(8, np.float16)])


def test_explicit_strides_and_dimensions_that_are_expressions() -> None:
    func = ir.PrimFunc(
        "f", [ir.Buffer("X", (n,)), ir.Buffer("Y", (n * 2, 4), strides=(8, 1))], ir.Evaluate(ir.const(0))
    )
    wide = np.zeros((6, 8), np.float32)
    bind_arguments(func, [np.zeros(3, np.float32), wide[:, :4]])
    with pytest.raises(ArgumentError, match=r"expected strides \(8, 1\)"):
        bind_arguments(func, [np.zeros(3, np.float32), np.zeros((6, 4), np.float32)])
    with pytest.raises(ArgumentError, match="= 4, got 6"):
        bind_arguments(func, [np.zeros(2, np.float32), wide[:, :4]])


def test_alignment_that_the_kernel_asks_for() -> None:
    func = ir.PrimFunc("f", [ir.Buffer("X", (4,), align=64)], ir.Evaluate(ir.const(0)))
    base = np.zeros(64, np.float32)
    start = (-base.ctypes.data % 64) // 4
    bind_arguments(func, [base[start : start + 4]])
    with pytest.raises(ArgumentError, match="aligned to 64 bytes"):
        bind_arguments(func, [base[start + 1 : start + 5]])
