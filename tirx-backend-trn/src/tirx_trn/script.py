"""`Tx.nki`: the instructions of a NeuronCore on tiles of SBUF and PSUM.

Operands are buffers or slices of them. The first dimension of a tile is partitions (or what its layout says); an
instruction works on all partitions at once and walks the free elements of each. Rules are checked here, at the author's line.
The published names and orders of operands come first; NKI's own names and keywords are accepted as well.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tirx.intrinsic import call
from tirx.ir import Call, Expr
from tirx.support.suggest import did_you_mean

from .box import constant
from .build import build
from .keywords import instead_of, knows_its_keywords
from .names import (
    dma_copy,
    nc_matmul,
    pairs,
    shared_identity_matrix,
    takes_nki_keywords,
    takes_pattern,
    tensor_reduce,
    tensor_scalar,
    tensor_scalar_reduce,
    tensor_tensor,
)
from .op import INDEX
from .operands import Region, as_region, refuse
from .pairwise import by_scalar, pairwise
from .rules import PERMUTATIONS

__all__ = [
    "activation", "activation_reduce", "affine_select", "dma_copy", "dma_transpose", "identity", "index", "iota", "load", "matmul",
    "max8", "memset", "nc_find_index8", "nc_match_replace8", "nc_matmul", "nc_transpose", "range_select", "reciprocal",
    "scalar_tensor_scalar", "scalar_tensor_tensor", "select_pattern", "select_reduce", "shared_identity", "shared_identity_matrix", "store",
    "tensor_copy", "tensor_copy_predicated", "tensor_reduce", "tensor_scalar", "tensor_scalar_reduce", "tensor_tensor",
    "tensor_tensor_scan", "tensorreduce", "tensorscalar", "tensorscalar_reduce", "tensortensor",
]  # fmt: skip

Number = bool | int | float | Expr
Whole = int | Expr

shared_identity = shared_identity_matrix


# ---- data movement --------------------------------------------------------------------------------------------------


@takes_nki_keywords
def load(res: Region, data: Region) -> Call:
    """Copy a slice of device memory to a tile of SBUF, converted to its type."""
    return build("load", res, data)


@takes_nki_keywords
def store(res: Region, data: Region) -> Call:
    """Copy a tile of SBUF to a slice of device memory, converted to its type."""
    return build("store", res, data)


@takes_nki_keywords
def dma_transpose(dst: Region, src: Region, axes: tuple[int, ...] | None = None) -> Call:
    """`dst = src.T` through a DMA queue; slower than `nc_transpose`, but leaves the engines alone.

    Dimensions of more than one element are exchanged by `axes` (1, 0), (2, 1, 0) or (3, 1, 2, 0): their number says which.
    """
    if axes is not None and tuple(axes) not in PERMUTATIONS.values():
        known = ", ".join(map(str, PERMUTATIONS.values()))
        refuse(f"`axes` of nki.dma_transpose is {tuple(axes)}", f"it is one of {known}")
    made = build("dma_transpose", dst, src)
    wanted = PERMUTATIONS[sum(constant(extent) != 1 for extent in as_region(src, "dma_transpose", "src").extents)]
    if axes is not None and tuple(axes) != wanted:
        refuse(f"`axes` of nki.dma_transpose is {tuple(axes)}; for this slice of `src` it is {wanted}")
    return made


@takes_nki_keywords
def tensor_copy(res: Region, data: Region, *, engine: str = "unknown") -> Call:
    """Copy a tile to another, in SBUF or PSUM, converted to its type."""
    return build("tensor_copy", res, data, engine=engine)


def tensor_copy_predicated(dst: Region, src: Region, predicate: Region, reverse_pred: bool = False) -> Call:
    """Copy the elements of `src` where `predicate` is not zero (zero: with `reverse_pred`); `dst` keeps the others."""
    return build("tensor_copy_predicated", dst, src, predicate, reverse_pred=reverse_pred)


@takes_nki_keywords
def memset(result: Region, value: Number, *, engine: str = "unknown") -> Call:
    """Every element of a tile becomes the number `value`, which must be one of its type."""
    return build("memset", result, value, engine=engine)


def iota(dst: Region, pattern: Any = None, offset: Number = 0, channel_multiplier: Whole = 0, *more: Any) -> Call:
    """`dst = offset + partition * channel_multiplier + sum(index * step)`, in int32 and converted to the type of `dst`.

    `pattern` lists [step, count] for the elements of a partition, outermost first.
    """
    if more or not isinstance(pattern, tuple | list):  # the row's own order, as a printed program has it
        return build("iota", dst, pattern, offset, channel_multiplier, *more)
    return build("iota", dst, offset, channel_multiplier, *pairs("iota", pattern))


@takes_nki_keywords
def identity(result: Region, size: Whole) -> Call:
    """`result` (`size` partitions, `size` elements each) becomes the identity matrix."""
    return build("identity", result, size)


# ---- the tensor engine ----------------------------------------------------------------------------------------------


@takes_nki_keywords
def matmul(
    res: Region,
    lhs: Region,
    rhs: Region,
    accum: Number = True,
    *,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    tile_position: tuple[int, ...] = (),
    tile_size: tuple[int, ...] = (),
    perf_mode: str = "none",
) -> Call:
    """`res = lhs.T @ rhs` in float32.

    With `accum` the product is added to those of earlier matmuls into `res`; the first one after `res` was allocated replaces.
    `tile_position` and `tile_size` give a small product a part of the 128 x 128 array; with `perf_mode="double_row"` float8 tiles of
    (partitions, 2, elements) are contracted along their partitions and the 2.
    """
    options: dict[str, Any] = {"is_stationary_onezero": is_stationary_onezero, "is_moving_onezero": is_moving_onezero}
    options.update(tile_position=tile_position, tile_size=tile_size, perf_mode=perf_mode)
    return build("matmul", res, lhs, rhs, accum, **options)


def nc_transpose(dst: Region, data: Region, engine: str = "unknown") -> Call:
    """`dst = data.T`: up to 128 x 128 from SBUF to PSUM on the tensor engine, up to 32 x 32 on the vector engine."""
    return build("nc_transpose", dst, data, engine=engine)


# ---- the scalar engine ----------------------------------------------------------------------------------------------


@takes_nki_keywords
def activation(
    result: Region,
    data: Region,
    opcode: str,
    bias: Region | Number | None = 0.0,
    scale: Region | Number = 1.0,
    *,
    reduce_op: str | None = None,
    reduce_res: Region | None = None,
    reduce_cmd: str = "reset_reduce",
) -> Call:
    """`result = opcode(data * scale + bias)`; bias and scale are numbers or one float32 per partition.

    With `reduce_op` and `reduce_res` it is an `activation_reduce`.
    """
    shift = 0.0 if bias is None else bias
    if (reduce_op is None) != (reduce_res is None):
        refuse("nki.activation takes `reduce_op` and `reduce_res` together")
    if reduce_op is None or reduce_res is None:
        return build("activation", result, data, opcode, shift, scale)
    return build("activation_reduce", reduce_res, result, data, opcode, reduce_op, shift, scale, reduce_cmd=reduce_cmd)


@takes_nki_keywords
def activation_reduce(
    reduce_res: Region,
    act_res: Region,
    data: Region,
    opcode: str,
    reduce_opcode: str,
    bias: Region | Number | None = 0.0,
    scale: Region | Number = 1.0,
    *,
    reduce_cmd: str = "reset_reduce",
) -> Call:
    """`act_res = opcode(data * scale + bias)`, and `reduce_res` its sum per partition; `"reduce"` adds to the sum before it."""
    shift = 0.0 if bias is None else bias
    operands = (reduce_res, act_res, data, opcode, reduce_opcode, shift, scale)
    return build("activation_reduce", *operands, reduce_cmd=reduce_cmd)


# ---- the vector engine ----------------------------------------------------------------------------------------------


@takes_nki_keywords
def reciprocal(result: Region, data: Region) -> Call:
    """`result = 1 / data`."""
    return build("reciprocal", result, data)


def tensorreduce(result: Region, data: Region, opcode: str, negate: Number, *axes: Whole) -> Call:
    """Reduce dimensions `axes` of `data` (all of them trailing and free); negated when `negate`."""
    return build("tensorreduce", result, data, opcode, negate, *axes)


@takes_nki_keywords
def tensortensor(result: Region, operand0: Region, operand1: Region, opcode: str, *, engine: str = "unknown") -> Call:
    """`result = operand0 opcode operand1`, element by element; at most one operand is in PSUM.

    An operand with one element per partition makes a `tensorscalar` of it. `"div"` is a reciprocal and a product.
    """
    return pairwise(result, operand0, operand1, opcode, engine, "tensortensor")


def tensorscalar(
    result: Region,
    operand0: Region,
    operand1: Region | Number,
    opcode: str,
    reverse: Number = False,
    *,
    engine: str = "unknown",
) -> Call:
    """`result = operand0 opcode operand1`; operand1 is a number or one float32 per partition.

    A (1, 1) tile is spread over the partitions. `"div"` is a product with a reciprocal, `"mod"` of integers by a power of two a mask.
    """
    return by_scalar(result, operand0, operand1, opcode, reverse, engine, "tensorscalar")


def scalar_tensor_scalar(
    result: Region,
    data: Region,
    operand0: Region | Number,
    operand1: Region | Number,
    opcode0: str,
    opcode1: str,
    reverse0: Number = False,
    reverse1: Number = False,
    *,
    engine: str = "unknown",
) -> Call:
    """`result = (data opcode0 operand0) opcode1 operand1` with two scalars."""
    steps = (operand0, operand1, opcode0, opcode1, reverse0, reverse1)
    return build("scalar_tensor_scalar", result, data, *steps, engine=engine)


@takes_nki_keywords
def scalar_tensor_tensor(
    result: Region,
    data: Region,
    operand0: Region | Number,
    operand1: Region,
    opcode0: str,
    opcode1: str,
    reverse0: Number = False,
    reverse1: Number = False,
) -> Call:
    """`result = (data opcode0 operand0) opcode1 operand1` with a scalar operand0 and a tile operand1."""
    return build("scalar_tensor_tensor", result, data, operand0, operand1, opcode0, opcode1, reverse0, reverse1)


def tensorscalar_reduce(
    reduce_res: Region,
    tensorscalar_res: Region,
    operand0: Region,
    operand1: Region | Number,
    opcode: str,
    reduce_opcode: str,
    reverse: Number = False,
    *,
    reduce_cmd: str = "reset_reduce",
) -> Call:
    """`tensorscalar_res = operand0 opcode operand1`, and `reduce_res` its reduction per partition."""
    operands = (reduce_res, tensorscalar_res, operand0, operand1, opcode, reduce_opcode, reverse)
    return build("tensorscalar_reduce", *operands, reduce_cmd=reduce_cmd)


def tensor_tensor_scan(
    dst: Region,
    data0: Region,
    data1: Region,
    initial: Region | Number,
    op0: str,
    op1: str,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Call:
    """`dst[i] = (data0[i] op0 dst[i - 1]) op1 data1[i]` along each partition, where `dst[-1]` is `initial`."""
    return build("tensor_tensor_scan", dst, data0, data1, initial, op0, op1, reverse0=reverse0, reverse1=reverse1)


def select_reduce(
    dst: Region,
    predicate: Region,
    on_true: Region,
    on_false: Region | Number,
    reduce_res: Region | None = None,
    reduce_cmd: str = "idle",
    reduce_op: str = "max",
    reverse_pred: bool = False,
) -> Call:
    """`on_true` where `predicate` is not zero, else the scalar `on_false`; `reduce_res` becomes the maximum per partition."""
    options: dict[str, Any] = {"reduce_cmd": reduce_cmd, "reduce_op": reduce_op, "reverse_pred": reverse_pred}
    return build("select_reduce", dst, predicate, on_true, on_false, reduce_res, **options)


def range_select(
    dst: Region,
    on_true_tile: Region,
    comp_op0: str,
    comp_op1: str,
    bound0: Region,
    bound1: Region,
    reduce_res: Region | None = None,
    reduce_cmd: str = "reset_reduce",
    reduce_op: str = "max",
    range_start: Whole = 0,
) -> Call:
    """`on_true_tile` where `range_start` plus the element's index compares with both bounds, else the smallest float32."""
    options: dict[str, Any] = {"reduce_cmd": reduce_cmd, "reduce_op": reduce_op, "range_start": range_start}
    return build("range_select", dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_res, **options)


def max8(dst: Region, src: Region) -> Call:
    """The eight largest elements of each partition, largest first."""
    return build("max8", dst, src)


def nc_find_index8(dst: Region, data: Region, vals: Region) -> Call:
    """Where each of eight values stands first in its partition of `data`; all ones where it does not."""
    return build("nc_find_index8", dst, data, vals)


def nc_match_replace8(dst: Region, data: Region, vals: Region, imm: Number, dst_idx: Region | None = None) -> Call:
    """`data` with the first of each of eight values replaced by `imm`, one after the other; `dst_idx` says where they stood."""
    return build("nc_match_replace8", dst, data, vals, imm, dst_idx)


# ---- the GpSimd engine ----------------------------------------------------------------------------------------------


@takes_pattern
@takes_nki_keywords
def affine_select(result: Region, pred: Expr, true_value: Region, false_value: Number) -> Call:
    """`true_value` where `pred` holds, else the number `false_value`.

    `pred` compares sums of constants, loop variables and `index(d)`: `Tx.nki.index(0) >= Tx.nki.index(1)`. NKI's keywords (`dst,
    pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op, offset`) say the same by steps and counts.
    """
    return build("affine_select", result, pred, true_value, false_value)


def select_pattern(
    result: Any,
    true_value: Any,
    false_value: Any,
    comparison: str,
    offset: Number,
    channel_multiplier: Whole,
    *pattern: Whole,
) -> Call:
    """An affine_select by numbers: `offset + partition * channel_multiplier + sum(index * step)` compared with zero.

    `pattern` is step, count, step, count, ... of the elements of a partition, outermost first.
    """
    return build("select_pattern", result, true_value, false_value, comparison, offset, channel_multiplier, *pattern)


def index(dim: int) -> Call:
    """The index along dimension `dim` of the tile that the surrounding affine_select writes."""
    return call(INDEX, dim)


# Each says what to write in place of a keyword that it does not have.
globals().update({name: knows_its_keywords(globals()[name]) for name in __all__})


class _Instructions:
    """What `Tx.nki` has, for suggestions."""

    def __dir__(self) -> list[str]:
        return __all__


def __getattr__(name: str) -> NoReturn:
    """A name that is no instruction."""
    hint = instead_of(name) or did_you_mean(name, __all__) or f"its instructions are {', '.join(__all__)}"
    raise AttributeError(f"Tx.nki has no `{name}`; {hint}", name=name, obj=_Instructions())
