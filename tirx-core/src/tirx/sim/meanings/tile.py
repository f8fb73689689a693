"""What tile operations mean, on NumPy arrays: the oracle that every variant is held against.

Each function takes the operands and plain keywords of its operation by name and answers the new value of what is written,
in the shape and type of the array that was given for it. Types that NumPy has no arithmetic for are computed in float32 and
rounded once; sums and products of matrices in float64 and rounded once, since no order of addition is promised; integers wrap.
"""

# ruff: noqa: N803 - operands have the names that the language gives them

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...tile.shapes import aligned
from ..numeric import cast_array
from . import math

__all__ = [
    "add", "binary_chain", "binary_reduce", "cast", "copy", "exp", "exp2", "fdiv", "fill", "fma", "gemm", "gemm_async", "log2",
    "maximum", "minimum", "mul", "reciprocal", "reduce_max", "reduce_min", "reduce_negate", "reduce_sum", "select", "silu",
    "sqrt", "sub", "unary_reduce", "zero",
]  # fmt: skip

Axes = Sequence[int]
_NATIVE = "iufb"


# ---- moving ---------------------------------------------------------------------------------------------------------------


def zero(dst: Any, src: Any = None) -> Any:
    """All zeros."""
    return np.zeros_like(dst)


def fill(dst: Any, value: Any) -> Any:
    """`value` everywhere."""
    return np.array(_along(value, dst))


def copy(dst: Any, src: Any) -> Any:
    """The elements of `src`, in the shape of `dst`."""
    return np.array(src).reshape(np.shape(dst))


def cast(dst: Any, src: Any) -> Any:
    """The numbers of `src` in the type of `dst`."""
    return cast_array(_spread(np.asarray(src), np.shape(dst)), np.asarray(dst).dtype)


# ---- elementwise ----------------------------------------------------------------------------------------------------------


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "fdiv": np.divide, "maximum": np.fmax, "minimum": np.fmin,
}  # fmt: skip


def _binary(name: str, x: Any, y: Any) -> Any:
    """One of the binary operations on two arrays of one type."""
    rule = _BINARY[name]
    with np.errstate(all="ignore"):
        if x.dtype.kind in _NATIVE:
            return rule(x, y).astype(x.dtype)
        return cast_array(rule(x.astype(np.float32), y.astype(np.float32)), x.dtype)


def _of_two(name: str, doc: str) -> Callable[..., Any]:
    def meaning(dst: Any, src1: Any, src2: Any) -> Any:
        return _binary(name, _along(src1, dst), _along(src2, dst))

    meaning.__doc__ = doc
    return meaning


add = _of_two("add", "src1 + src2")
sub = _of_two("sub", "src1 - src2")
mul = _of_two("mul", "src1 * src2")
fdiv = _of_two("fdiv", "src1 / src2")
maximum = _of_two("maximum", "the larger; of a number and NaN the number")
minimum = _of_two("minimum", "the smaller; of a number and NaN the number")


def fma(dst: Any, src: Any, scale: Any, bias: Any) -> Any:
    """Src * scale + bias, rounded once."""
    with np.errstate(all="ignore"):
        return math.fma(None, *(_along(item, dst) for item in (src, scale, bias)))


_UNARY: dict[str, Callable[[Any], Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "exp2": np.exp2, "log2": np.log2, "reciprocal": lambda x: 1 / x,
    "silu": lambda x: x / (1 + np.exp(-x)),
}  # fmt: skip


def _unary(name: str, dst: Any, src: Any, bias: Any = None, scale: Any = None) -> Any:
    """A function of `src * scale + bias`, computed in float32 at least and rounded once."""
    kind = np.asarray(dst).dtype
    wide = np.float64 if kind == np.float64 or name in ("reciprocal", "silu") else np.float32
    x = _along(src, dst).astype(wide)
    with np.errstate(all="ignore"):
        if scale is not None:
            x = x * _along(scale, dst).astype(wide)
        if bias is not None:
            x = x + _along(bias, dst).astype(wide)
        return cast_array(_UNARY[name](x), kind)


def _of_one(name: str) -> Callable[..., Any]:
    def meaning(dst: Any, src: Any, bias: Any = None, scale: Any = None) -> Any:
        return _unary(name, dst, src, bias, scale)

    meaning.__doc__ = f"{name} of src * scale + bias"
    return meaning


sqrt, exp, exp2, log2 = map(_of_one, ("sqrt", "exp", "exp2", "log2"))


def reciprocal(dst: Any, src: Any) -> Any:
    """1 / src"""
    return _unary("reciprocal", dst, src)


def silu(dst: Any, src: Any) -> Any:
    """Src times its sigmoid."""
    return _unary("silu", dst, src)


def select(dst: Any, true_value: Any, false_value: Any, pred: Callable[..., Any]) -> Any:
    """`true_value` where `pred` of the indices holds."""
    holds = np.broadcast_to(np.asarray(pred(*np.indices(np.shape(dst), dtype=np.int32)), bool), np.shape(dst))
    return np.where(holds, _along(true_value, dst), _along(false_value, dst))


# ---- reductions -----------------------------------------------------------------------------------------------------------


def _reduced(op: str, x: Any, axes: Axes) -> Any:
    """`x` reduced, in the type in which it is rounded last."""
    with np.errstate(all="ignore"):
        if op == "sum":
            wide = x.dtype if x.dtype.kind in "iub" else np.float64
            return np.sum(x, axis=tuple(axes), dtype=wide)
        rule = np.fmax if op == "max" else np.fmin
        return rule.reduce(x if x.dtype.kind in _NATIVE else x.astype(np.float32), axis=tuple(axes))


def _folded(op: str, x: Any, y: Any) -> Any:
    with np.errstate(all="ignore"):
        return {"sum": np.add, "max": np.fmax, "min": np.fmin}[op](x, y)


def _widened(src: Any, dst: Any) -> Any:
    """Integers in the type that they are summed in, which is that of the destination."""
    x = np.asarray(src)
    return cast_array(x, dst.dtype) if x.dtype.kind in "iub" and dst.dtype.kind in "iu" else x


def _reduce(op: str, dst: Any, src: Any, axes: Axes, accum: bool) -> Any:
    old = np.asarray(dst)
    made = _reduced(op, _widened(src, old), axes).reshape(old.shape)
    return cast_array(_folded(op, old.astype(made.dtype), made) if accum else made, old.dtype)


def _reduction(op: str) -> Callable[..., Any]:
    def meaning(dst: Any, src: Any, axes: Axes, accum: bool = False) -> Any:
        return _reduce(op, dst, src, axes, accum)

    meaning.__doc__ = f"{op} of src along axes"
    return meaning


reduce_sum, reduce_max, reduce_min = map(_reduction, ("sum", "max", "min"))


def reduce_negate(output: Any, input: Any, reduce_op: str, reduce_axes: Axes, accum: bool = False) -> Any:
    """The negative of a reduction; `output` holds the negative of what was reduced into it before."""
    old = np.asarray(output)
    found = _reduced(reduce_op, _widened(input, old), reduce_axes).reshape(old.shape)
    with np.errstate(all="ignore"):
        return cast_array(-(_folded(reduce_op, -old.astype(found.dtype), found) if accum else found), old.dtype)


# ---- matrices -------------------------------------------------------------------------------------------------------------


def gemm(
    D: Any, A: Any, B: Any, C: Any, transpose_A: bool = False, transpose_B: bool = False, alpha: Any = 1, beta: Any = 0
) -> Any:  # fmt: skip
    """Alpha * A @ B + beta * C; where beta is 0, C is not looked at."""
    kind = np.asarray(D).dtype
    wide = np.int64 if kind.kind in "iu" else np.float64
    a, b = _matrix(A).astype(wide), _matrix(B).astype(wide)
    with np.errstate(all="ignore"):
        made = np.matmul(a.T if transpose_A else a, b.T if transpose_B else b) * np.asarray(alpha).astype(wide)
        if beta != 0:
            made = made + np.asarray(beta).astype(wide) * np.asarray(C).astype(wide).reshape(made.shape)
        return cast_array(made, kind).reshape(np.shape(D))


def gemm_async(
    C: Any, A: Any, B: Any, SFA: Any = None, SFB: Any = None, transA: bool = False, transB: bool = False, accum: Any = False
) -> Any:  # fmt: skip
    """A @ B.T, each K of a block times its scale factor; added to C with `accum`."""
    kind = np.asarray(C).dtype
    wide = np.int64 if kind.kind in "iu" else np.float64
    a, b = _matrix(A).astype(wide), _matrix(B).astype(wide)
    a, b = _scaled(a.T if transA else a, SFA), _scaled(b.T if transB else b, SFB)
    with np.errstate(all="ignore"):
        made = np.matmul(a, b.T)
        if accum:
            made = made + np.asarray(C).astype(wide).reshape(made.shape)
        return cast_array(made, kind).reshape(np.shape(C))


def _scaled(matrix: Any, factors: Any) -> Any:
    """Each row times its scale factors, one for each block of columns."""
    if factors is None:
        return matrix
    table = _matrix(factors).astype(matrix.dtype)
    return matrix * np.repeat(table, matrix.shape[1] // table.shape[1], axis=1)


def _matrix(value: Any) -> Any:
    """A region as a matrix: without its extents of 1, or its last two dimensions."""
    array = np.asarray(value)
    left = [size for size in array.shape if size != 1]
    return array.reshape(left if len(left) == 2 else array.shape[-2:])


# ---- several at once ------------------------------------------------------------------------------------------------------


def binary_reduce(
    binary_output: Any, reduce_output: Any, binary_input1: Any, binary_input2: Any, binary_op: str, reduce_op: str, reduce_axes: Axes
) -> tuple[Any, Any]:  # fmt: skip
    """The binary operation, and its result reduced."""
    whole = _binary(binary_op, _along(binary_input1, binary_output), _along(binary_input2, binary_output))
    return whole, _reduce(reduce_op, reduce_output, whole, reduce_axes, False)


def unary_reduce(
    unary_output: Any, reduce_output: Any, unary_input: Any, unary_op: str, reduce_op: str, bias: Any = None, scale: Any = None,
    reduce_axes: Axes = (-1,),
) -> tuple[Any, Any]:  # fmt: skip
    """The function of `unary_input * scale + bias`, and its result reduced."""
    whole = _unary(unary_op, unary_output, unary_input, bias, scale)
    return whole, _reduce(reduce_op, reduce_output, whole, reduce_axes, False)


def binary_chain(
    output: Any, data: Any, operand0: Any, operand1: Any, op0: str, op1: str, reverse1: bool = False
) -> Any:
    """(data op0 operand0) op1 operand1, the second turned round with `reverse1`."""
    first, other = _binary(op0, _along(data, output), _along(operand0, output)), _along(operand1, output)
    return _binary(op1, other, first) if reverse1 else _binary(op1, first, other)


# ---- shapes ---------------------------------------------------------------------------------------------------------------


def _along(value: Any, dst: Any) -> Any:
    """An operand as an array of the shape and type of `dst`."""
    whole = np.asarray(dst)
    array = np.asarray(value)
    return _spread(array if array.dtype == whole.dtype else cast_array(array, whole.dtype), whole.shape)


def _spread(array: Any, shape: tuple[int, ...]) -> Any:
    places = aligned(array.shape, shape)
    if places is None:
        raise ValueError(f"shape {array.shape} does not stretch to {shape}")
    sizes = [1] * len(shape)
    for size, place in zip(array.shape, places, strict=True):
        if place is not None:
            sizes[place] = size
    return np.broadcast_to(array.reshape(sizes), shape)
