"""What the thirty operations mean, on NumPy arrays."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tirx.sim.meanings import tile
from tirx.testing import tile_meaning
from tirx.tile.ops import ALL

FLOATS = ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2"]
FINFO: Any = ml_dtypes.finfo  # ml_dtypes says nothing of its type
RNG = np.random.default_rng(7)


def kind(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def some(shape: tuple[int, ...], dtype: str = "float32", low: float = -2, high: float = 2) -> Any:
    """Random values that 8-bit floats can tell apart."""
    return RNG.uniform(low, high, shape).astype(kind(dtype))


def wide(value: Any) -> Any:
    return np.asarray(value, np.float64)


def test_every_operation_has_a_meaning() -> None:
    for row in ALL:
        assert callable(tile_meaning(row.name)), row.name
    with pytest.raises(ValueError, match=re.escape("there is no tile operation 'nothing'")):
        tile_meaning("nothing")


# ---- moving ---------------------------------------------------------------------------------------------------------------


def test_zero_and_fill() -> None:
    dst = some((2, 3), "float16")
    assert np.array_equal(tile.zero(dst), np.zeros((2, 3)))
    for name in ("fill", "memset"):
        made = tile_meaning(name)(dst=dst, value=1.5)
        assert made.dtype == np.float16
        assert np.array_equal(made, np.full((2, 3), 1.5))


def test_copies_keep_bits_and_take_the_shape() -> None:
    src = np.array([[1.0, -0.0, np.nan, np.inf]], np.float16)
    for name in ("copy", "copy_async", "permute_layout"):
        made = tile_meaning(name)(dst=np.zeros((4, 1), np.float16), src=src)
        assert made.shape == (4, 1)
        assert made.tobytes() == src.tobytes()


def test_cast_rounds_to_even_truncates_and_saturates() -> None:
    def cast(values: list[float], source: str, target: str) -> list[float]:
        found = tile.cast(dst=np.zeros(len(values), kind(target)), src=np.array(values, kind(source)))
        assert found.dtype == kind(target)
        return [float(item) for item in found]

    assert cast([1.5, -1.5, 3e9, float("nan")], "float32", "int32") == [1, -1, 2**31 - 1, 0]
    assert cast([2049, 2051], "float32", "float16") == [2048, 2052]
    assert cast([1000.0, -1000.0], "float32", "float8_e4m3fn") == [448, -448]
    assert cast([1.00390625, 1.01171875], "float32", "bfloat16") == [1.0, 1.015625]
    assert cast([300, -1], "int32", "uint8") == [44, 255]


# ---- elementwise ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("fdiv", np.divide), ("maximum", np.fmax), ("minimum", np.fmin),
    ],
)  # fmt: skip
def test_binary_operations_round_once(name: str, rule: Any, dtype: str) -> None:
    x, y = some((4, 5), dtype), some((4, 5), dtype, 1, 2)
    made = tile_meaning(name)(dst=np.zeros((4, 5), kind(dtype)), src1=x, src2=y)
    assert made.dtype == kind(dtype)
    assert np.array_equal(made, rule(wide(x), wide(y)).astype(kind(dtype)))


def test_integers_wrap() -> None:
    dst = np.zeros(2, np.int8)
    assert list(tile.add(dst=dst, src1=np.array([127, -128], np.int8), src2=np.array([1, -1], np.int8))) == [-128, 127]
    assert list(tile.mul(dst=dst, src1=np.array([100, -100], np.int8), src2=3)) == [44, -44]
    made = tile.reduce_sum(dst=np.zeros(1, np.uint8), src=np.full(300, 1, np.uint8), axes=(0,))
    assert list(made) == [44]


def test_of_a_number_and_nan_the_number_is_larger_and_smaller() -> None:
    x, y = np.array([np.nan, 1, np.nan], np.float16), np.array([2, np.nan, np.nan], np.float16)
    for rule in (tile.maximum, tile.minimum):
        assert np.array_equal(rule(dst=x, src1=x, src2=y), np.array([2, 1, np.nan], np.float16), equal_nan=True)
    for reduce in (tile.reduce_max, tile.reduce_min):
        assert list(reduce(dst=np.zeros(1, np.float16), src=x, axes=(0,))) == [1]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((3,), "i"), ((1, 3), "i"), ((2, 1), "o"), ((1, 1), "1"), ((1,), "1"), ((2, 3), "both"), ((2, 1, 3), "both"), ((1, 1, 3), "i")],
)  # fmt: skip
def test_sources_stretch(shape: tuple[int, ...], expected: str) -> None:
    src = some(shape)
    view = {"i": "(1, 3)", "o": "(2, 1)", "1": "(1, 1)", "both": "(2, 3)"}[expected]
    made = tile.add(dst=np.zeros((2, 3), np.float32), src1=src, src2=0.0)
    assert np.array_equal(made, np.broadcast_to(src.reshape(eval(view)), (2, 3)))


def test_a_column_lies_along_a_row_when_both_are_vectors() -> None:
    src = some((4, 1))
    assert np.array_equal(tile.add(dst=np.zeros((1, 4), np.float32), src1=src, src2=0.0), src.T)


def test_sources_widen_before_they_are_added() -> None:
    x = np.full(1, 2048, np.float16)
    assert list(tile.add(dst=np.zeros(1, np.float32), src1=x, src2=np.ones(1, np.float16))) == [2049]


def test_fma_rounds_once() -> None:
    x = np.float32(1 + 2**-12)
    made = tile.fma(dst=np.zeros(1, np.float32), src=np.full(1, x), scale=x, bias=np.full(1, -1, np.float32))
    assert made[0] == np.float32(float(x) * float(x) - 1) != x * x - np.float32(1)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("name", "rule"), [("sqrt", np.sqrt), ("exp", np.exp), ("exp2", np.exp2), ("log2", np.log2)])
def test_functions_of_scaled_values(name: str, rule: Any, dtype: str) -> None:
    x, bias = some((4, 8), dtype, 0.5, 2), some((4, 1), dtype, 0.5, 1)
    dst = np.zeros((4, 8), kind(dtype))
    ulp = float(FINFO(kind(dtype)).eps)
    meaning = tile_meaning(name)
    np.testing.assert_allclose(wide(meaning(dst=dst, src=x)), rule(wide(x)), rtol=4 * ulp, atol=4 * ulp)
    found = meaning(dst=dst, src=x, bias=bias, scale=2.0)
    assert found.dtype == kind(dtype)
    np.testing.assert_allclose(wide(found), rule(wide(x) * 2 + wide(bias)), rtol=8 * ulp, atol=8 * ulp)


def test_reciprocal_and_silu() -> None:
    x = np.array([-30, -1, 0.5, 4], np.float32)
    np.testing.assert_allclose(tile.reciprocal(dst=x, src=x), 1 / wide(x), rtol=1e-7)
    np.testing.assert_allclose(tile.silu(dst=x, src=x), wide(x) / (1 + np.exp(-wide(x))), rtol=1e-7)
    assert np.isinf(tile.reciprocal(dst=x[:1], src=np.zeros(1, np.float32))[0])


def test_select_asks_for_each_position() -> None:
    src = some((3, 4))
    made = tile.select(dst=np.zeros((3, 4), np.float32), true_value=src, false_value=-1.0, pred=lambda i, j: i >= j)
    assert np.array_equal(made, np.where(np.tril(np.ones((3, 4), bool)), src, -1))
    assert np.array_equal(
        tile.select(dst=src, true_value=1.0, false_value=src, pred=lambda i, j: True), np.ones((3, 4))
    )


# ---- reductions -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "rule"), [("sum", np.sum), ("max", np.max), ("min", np.min)])
@pytest.mark.parametrize(("axes", "shape"), [((1,), (4,)), ((0,), (1, 6)), ((0, 1), (1,)), ((1,), (4, 1))])
def test_reductions(name: str, rule: Any, axes: tuple[int, ...], shape: tuple[int, ...], dtype: str) -> None:
    src, old = some((4, 6), dtype), some(shape, dtype)
    meaning = tile_meaning(name)
    exact = rule(wide(src), axis=axes).reshape(shape)
    assert np.array_equal(meaning(dst=old, src=src, axes=axes, accum=False), exact.astype(kind(dtype)))
    both = rule(np.stack([wide(old), exact]), axis=0)
    assert np.array_equal(meaning(dst=old, src=src, axes=axes, accum=True), both.astype(kind(dtype)))


def test_long_sums_of_narrow_floats_are_rounded_at_the_end() -> None:
    src = np.full((1, 4096), 1, np.float16)
    assert tile.reduce_sum(dst=np.zeros(1, np.float16), src=src, axes=(1,))[0] == 4096


@pytest.mark.parametrize("op", ["sum", "max", "min"])
def test_negated_reductions_fold_into_what_they_made(op: str) -> None:
    first, second = some((2, 5)), some((2, 5))
    empty = np.zeros(2, np.float32)
    once = tile.reduce_negate(output=empty, input=first, reduce_op=op, reduce_axes=(1,))
    np.testing.assert_array_equal(once, -tile_meaning(op)(dst=empty, src=first, axes=(1,), accum=False))
    twice = tile.reduce_negate(output=once, input=second, reduce_op=op, reduce_axes=(1,), accum=True)
    whole = tile.reduce_negate(output=empty, input=np.hstack([first, second]), reduce_op=op, reduce_axes=(1,))
    np.testing.assert_allclose(twice, whole, rtol=1e-6)


# ---- matrices -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn_a", [False, True])
@pytest.mark.parametrize("turn_b", [False, True])
def test_gemm(turn_a: bool, turn_b: bool) -> None:
    a, b, c = some((3, 4), "float16"), some((4, 5), "float16"), some((3, 5))
    made = tile.gemm(
        D=np.zeros((3, 5), np.float32), A=a.T if turn_a else a, B=b.T if turn_b else b, C=c,
        transpose_A=turn_a, transpose_B=turn_b, alpha=2.0, beta=0.5,
    )  # fmt: skip
    np.testing.assert_allclose(made, 2 * (wide(a) @ wide(b)) + 0.5 * wide(c), rtol=1e-6)


def test_gemm_does_not_look_at_c_without_beta() -> None:
    nothing = np.full((2, 2), np.nan, np.float32)
    made = tile.gemm(D=nothing, A=np.eye(2, dtype=np.float16), B=np.eye(2, dtype=np.float16), C=nothing)
    assert np.array_equal(made, np.eye(2))


def test_gemm_of_bytes_wraps_where_its_sum_does() -> None:
    a, b = np.full((1, 2), 127, np.int8), np.full((2, 1), 127, np.int8)
    assert tile.gemm(D=np.zeros((1, 1), np.int32), A=a, B=b, C=np.zeros((1, 1), np.int32))[0, 0] == 2 * 127 * 127


@pytest.mark.parametrize("accum", [False, True])
def test_gemm_async_takes_b_by_rows(accum: bool) -> None:
    a, b, c = some((3, 4), "float16"), some((5, 4), "float16"), some((3, 5))
    made = tile.gemm_async(C=c, A=a[None], B=b, accum=accum)
    np.testing.assert_allclose(made, wide(a) @ wide(b).T + (wide(c) if accum else 0), rtol=1e-5, atol=1e-6)
    turned = tile.gemm_async(C=c, A=a.T, B=b.T, transA=True, transB=True, accum=accum)
    assert np.array_equal(made, turned)


def test_scale_factors_count_for_blocks_of_k() -> None:
    a, b = some((2, 8), "float8_e4m3fn"), some((3, 8), "float8_e4m3fn")
    sfa, sfb = ((2.0 ** RNG.integers(-2, 3, (rows, 2))).astype(kind("float8_e8m0fnu")) for rows in (2, 3))
    made = tile.gemm_async(C=np.zeros((2, 3), np.float32), A=a, B=b, SFA=sfa, SFB=sfb)
    expected = sum(
        (wide(a[:, s]) * wide(sfa[:, i : i + 1])) @ (wide(b[:, s]) * wide(sfb[:, i : i + 1])).T
        for i, s in enumerate((slice(0, 4), slice(4, 8)))
    )
    np.testing.assert_allclose(made, expected, rtol=1e-6)


# ---- several at once ------------------------------------------------------------------------------------------------------


def test_fused_operations_are_the_single_ones_in_turn() -> None:
    x, y, out, small = some((4, 6)), some((4, 6)), np.zeros((4, 6), np.float32), np.zeros(4, np.float32)
    whole, part = tile.binary_reduce(
        binary_output=out, reduce_output=small, binary_input1=x, binary_input2=y, binary_op="sub", reduce_op="max", reduce_axes=(1,)
    )  # fmt: skip
    assert np.array_equal(whole, x - y)
    assert np.array_equal(part, (x - y).max(1))
    whole, part = tile.unary_reduce(
        unary_output=out, reduce_output=small, unary_input=x, unary_op="exp", reduce_op="sum", scale=0.5, bias=1.0, reduce_axes=(1,)
    )  # fmt: skip
    assert np.array_equal(whole, tile.exp(dst=out, src=x, bias=1.0, scale=0.5))
    np.testing.assert_allclose(part, wide(whole).sum(1), rtol=1e-6)
    made = tile.binary_chain(output=out, data=x, operand0=2.0, operand1=y, op0="mul", op1="sub")
    assert np.array_equal(made, x * 2 - y)
    assert np.array_equal(
        tile.binary_chain(output=out, data=x, operand0=2.0, operand1=y, op0="mul", op1="sub", reverse1=True), y - x * 2
    )


@settings(max_examples=40)
@given(st.sampled_from(FLOATS), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_results_have_the_shape_and_type_of_what_is_written(dtype: str, shape: list[int], data: Any) -> None:
    dst = some(tuple(shape), dtype)
    for name in ("exp", "reciprocal", "sqrt", "silu"):
        made = tile_meaning(name)(dst=dst, src=some(tuple(shape), dtype, 0.5, 2))
        assert (made.shape, made.dtype) == (dst.shape, dst.dtype)
    axis = data.draw(st.integers(0, len(shape) - 1))
    kept = tuple(1 if number == axis else size for number, size in enumerate(shape))
    made = tile.reduce_max(dst=np.zeros(kept, dst.dtype), src=dst, axes=(axis,))
    assert np.array_equal(made, wide(dst).max(axis, keepdims=True).astype(dst.dtype))
