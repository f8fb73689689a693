"""Meanings of the instructions. Arithmetic is done in float32 and converted when it is stored, as the engines do."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext, SimRegion

from ..hardware import PSUM
from ..opcodes import BITS, OPCODES
from .functions import ALU, FUNCTIONS, outside
from .registers import accumulated
from .tiles import bits, number, operand, pattern_index, raw, reduced, scalar, store, store_plain, written_part

__all__ = [
    "activation", "activation_reduce", "dma_copy", "dma_transpose", "identity", "iota", "load", "matmul", "max8", "memset",
    "nc_find_index8", "nc_match_replace8", "nc_transpose", "range_select", "reciprocal", "scalar_tensor_scalar",
    "scalar_tensor_tensor", "select_pattern", "select_reduce", "store_", "tensor_copy", "tensor_copy_predicated",
    "tensor_tensor_scan", "tensorreduce", "tensorscalar", "tensorscalar_reduce", "tensortensor",
]  # fmt: skip

FP32_MIN = np.finfo(np.float32).min


def _converted(region: SimRegion, values: Any) -> Any:
    return values if region.dtype.name == str(values.dtype) else values.astype(np.float32)


# ---- data movement --------------------------------------------------------------------------------------------------


def load(ctx: SimContext, res: SimRegion, data: SimRegion) -> None:
    """Device memory to a tile: index by index, in the order of the box."""
    store(res, _converted(res, data.read()))


def store_(ctx: SimContext, res: SimRegion, data: SimRegion) -> None:
    """A tile to device memory."""
    store_plain(res, _converted(res, raw(data)))


def dma_copy(ctx: SimContext, dst: SimRegion, src: SimRegion) -> None:
    """Inside one memory."""
    store_plain(dst, _converted(dst, src.read()))


def dma_transpose(ctx: SimContext, dst: SimRegion, src: SimRegion) -> None:
    """The first and the last dimension exchanged; of three, the middle one stays, of four both."""
    store_plain(dst, np.swapaxes(src.read().squeeze(), 0, -1))


def tensor_copy(ctx: SimContext, res: SimRegion, data: SimRegion, engine: str = "unknown") -> None:
    """A tile to a tile; the scalar engine goes through float32."""
    store(res, raw(data).astype(np.float32) if engine == "scalar" else _converted(res, raw(data)))


def tensor_copy_predicated(
    ctx: SimContext, dst: SimRegion, src: SimRegion, predicate: SimRegion, reverse_pred: bool = False
) -> None:
    """Only where the predicate is set."""
    written_part(dst, raw(src), (raw(predicate) != 0) != bool(reverse_pred))


def memset(ctx: SimContext, result: SimRegion, value: Any, engine: str = "unknown") -> None:
    """Every element."""
    store(result, np.full(int(np.prod(result.shape)), number(value)))


def iota(ctx: SimContext, dst: SimRegion, offset: Any, multiplier: Any, *pattern: Any) -> None:
    """Positions in int32."""
    store(dst, pattern_index(dst, offset, multiplier, pattern).astype(np.int32))


def identity(ctx: SimContext, result: SimRegion, size: Any) -> None:
    """Ones on the diagonal."""
    store(result, np.eye(int(number(size)), dtype=np.float32))


# ---- the tensor engine ----------------------------------------------------------------------------------------------


def matmul(ctx: SimContext, res: SimRegion, lhs: SimRegion, rhs: SimRegion, accum: Any, **options: Any) -> None:
    """lhs.T @ rhs; with `accum` the first product since the allocation replaces, later ones are added."""
    left, right = operand(lhs), operand(rhs)
    if options.get("perf_mode") == "double_row":  # (partitions, 2, n): both are contracted
        left, right = (side.reshape(2 * side.shape[0], -1) for side in (left, right))
    product = left.T @ right
    if bool(number(accum)):
        written = raw_written(res)
        if written.all():
            product = operand(res) + product
        elif written.any():
            ctx.finding("accumulation", "part of this PSUM tile holds products, part of it nothing")
    store(res, product)


def raw_written(region: SimRegion) -> Any:
    """Which elements of a PSUM tile hold something, partitions first."""
    values = np.moveaxis(region.written(), 1, 0)
    return values.reshape(values.shape[0], -1)


def nc_transpose(ctx: SimContext, dst: SimRegion, data: SimRegion, engine: str = "unknown") -> None:
    """Rows become columns; on NeuronCore-v2 by a product, which spreads what is not finite."""
    values = raw(data)
    by_product = ctx.attributes.get("generation") == "v2" and dst.scope == PSUM and engine != "vector"
    if by_product and not np.isfinite(values.astype(np.float32)).all():
        ctx.finding(
            "transpose", "the tensor engine of NeuronCore-v2 transposes by a product: NaN and infinities spread"
        )
    store(dst, values.T)


# ---- the scalar engine ----------------------------------------------------------------------------------------------


def _activated(ctx: SimContext, opcode: str, data: SimRegion, bias: Any, scale: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        values = operand(data) * scalar(scale) + scalar(bias)
        domain = OPCODES[opcode].domain
        if outside(opcode, domain, values):
            assert domain is not None
            ctx.finding(
                "domain",
                f"{opcode} is computed outside {domain[0]:g} to {domain[1]:g}, where the scalar engine gives garbage",
            )
        return np.asarray(FUNCTIONS[opcode](values), np.float32)


def activation(ctx: SimContext, result: SimRegion, data: SimRegion, opcode: str, bias: Any, scale: Any) -> None:
    """opcode(data * scale + bias)."""
    store(result, _activated(ctx, opcode, data, bias, scale))


def activation_reduce(
    ctx: SimContext, reduce_res: SimRegion, act_res: SimRegion, data: SimRegion, opcode: str, reduce_opcode: str, bias: Any,
    scale: Any, reduce_cmd: str = "reset_reduce",
) -> None:  # fmt: skip
    """An activation and the sum of its results."""
    values = _activated(ctx, opcode, data, bias, scale)
    store(act_res, values)
    store(reduce_res, accumulated(ctx, "scalar", reduce_cmd, reduce_opcode, reduced(reduce_opcode, values, (1,))))


# ---- the vector engine ----------------------------------------------------------------------------------------------


def reciprocal(ctx: SimContext, result: SimRegion, data: SimRegion) -> None:
    """1 / data."""
    with np.errstate(divide="ignore"):
        store(result, np.float32(1) / operand(data))


def tensorreduce(ctx: SimContext, result: SimRegion, data: SimRegion, opcode: str, negate: Any, *axes: Any) -> None:
    """Over dimensions of the box."""
    dims = [int(number(axis)) for axis in axes]
    values = data.read() if opcode in BITS else data.read().astype(np.float32)
    values = reduced(opcode, values, dims)
    values = np.moveaxis(values, 1, 0) if data.scope == PSUM and values.ndim > 1 and 0 not in dims else values
    store(result, -values if bool(number(negate)) else values)


def _exact(*tiles: SimRegion) -> bool:
    """Whether the GpSimd engine does this on 32-bit integers, without rounding to float32."""
    return all(tile.dtype.is_integer and tile.dtype.bits == 32 and tile.scope != PSUM for tile in tiles)


def tensortensor(
    ctx: SimContext, result: SimRegion, operand0: SimRegion, operand1: SimRegion, opcode: str, engine: str = "unknown"
) -> None:
    """operand0 opcode operand1; exact where everything is a 32-bit integer in SBUF."""
    if opcode in BITS:
        store(result, bits(opcode, raw(operand0), raw(operand1)))
    elif _exact(result, operand0, operand1) and engine != "vector":
        store(result, ALU[opcode](raw(operand0).astype(np.int64), raw(operand1).astype(np.int64)))
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            store(result, ALU[opcode](operand(operand0), operand(operand1)))


def _step(values: Any, opcode: str, other: Any, reverse: Any) -> Any:
    first, second = (other, values) if bool(number(reverse)) else (values, other)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.asarray(ALU[opcode](first, second), np.float32)


def _bit_step(values: Any, opcode: str, other: Any, reverse: Any) -> Any:
    mask = np.asarray(int(number(other))).astype(values.dtype)
    first, second = (mask, values) if bool(number(reverse)) else (values, mask)
    return bits(opcode, *np.broadcast_arrays(first, second))


def tensorscalar(
    ctx: SimContext,
    result: SimRegion,
    operand0: SimRegion,
    operand1: Any,
    opcode: str,
    reverse: Any,
    engine: str = "unknown",
) -> None:
    """operand0 opcode operand1."""
    if opcode in BITS:
        store(result, _bit_step(raw(operand0), opcode, operand1, reverse))
    else:
        store(result, _step(operand(operand0), opcode, scalar(operand1), reverse))


def tensorscalar_reduce(
    ctx: SimContext, reduce_res: SimRegion, result: SimRegion, operand0: SimRegion, operand1: Any, opcode: str, reduce_opcode: str,
    reverse: Any, reduce_cmd: str = "reset_reduce",
) -> None:  # fmt: skip
    """A tensorscalar and its reduction."""
    values = _step(operand(operand0), opcode, scalar(operand1), reverse)
    store(result, values)
    store(reduce_res, accumulated(ctx, "vector", reduce_cmd, reduce_opcode, reduced(reduce_opcode, values, (1,))))


def scalar_tensor_tensor(
    ctx: SimContext, result: SimRegion, data: SimRegion, operand0: Any, operand1: SimRegion, opcode0: str, opcode1: str,
    reverse0: Any, reverse1: Any,
) -> None:  # fmt: skip
    """(data opcode0 operand0) opcode1 operand1, a tile."""
    first = _step(operand(data), opcode0, scalar(operand0), reverse0)
    store(result, _step(first, opcode1, operand(operand1), reverse1))


def scalar_tensor_scalar(
    ctx: SimContext, result: SimRegion, data: SimRegion, operand0: Any, operand1: Any, opcode0: str, opcode1: str, reverse0: Any,
    reverse1: Any, engine: str = "unknown",
) -> None:  # fmt: skip
    """(data opcode0 operand0) opcode1 operand1, a scalar."""
    if opcode0 in BITS:
        store(result, _bit_step(_bit_step(raw(data), opcode0, operand0, reverse0), opcode1, operand1, reverse1))
    else:
        store(
            result,
            _step(_step(operand(data), opcode0, scalar(operand0), reverse0), opcode1, scalar(operand1), reverse1),
        )


def tensor_tensor_scan(
    ctx: SimContext, dst: SimRegion, data0: SimRegion, data1: SimRegion, initial: Any, op0: str, op1: str,
    reverse0: bool = False, reverse1: bool = False,
) -> None:  # fmt: skip
    """Column after column."""
    first, second = operand(data0), operand(data1)
    state = np.broadcast_to(np.asarray(scalar(initial), np.float32).reshape(-1, 1), (first.shape[0], 1))[:, 0]
    columns = []
    for column in range(first.shape[1]):
        state = _step(_step(first[:, column], op0, state, reverse0), op1, second[:, column], reverse1)
        columns.append(state)
    store(dst, np.stack(columns, axis=1))


def select_reduce(
    ctx: SimContext, dst: SimRegion, predicate: SimRegion, on_true: SimRegion, on_false: Any, reduce_res: SimRegion | None = None,
    *, reduce_cmd: str = "idle", reduce_op: str = "max", reverse_pred: bool = False,
) -> None:  # fmt: skip
    """By a tile of truth."""
    chosen = (raw(predicate) != 0) != bool(reverse_pred)
    _selected(ctx, dst, np.where(chosen, operand(on_true), scalar(on_false)), reduce_res, reduce_cmd, reduce_op)


def range_select(
    ctx: SimContext, dst: SimRegion, on_true: SimRegion, comp_op0: str, comp_op1: str, bound0: SimRegion, bound1: SimRegion,
    reduce_res: SimRegion | None = None, *, reduce_cmd: str = "reset_reduce", reduce_op: str = "max", range_start: int = 0,
) -> None:  # fmt: skip
    """By two bounds for the index."""
    values = operand(on_true)
    place = (np.arange(values.shape[1]) + int(range_start)).astype(np.float32)[None, :]
    chosen = (ALU[comp_op0](place, scalar(bound0)) != 0) & (ALU[comp_op1](place, scalar(bound1)) != 0)
    _selected(ctx, dst, np.where(chosen, values, FP32_MIN), reduce_res, reduce_cmd, reduce_op)


def _selected(
    ctx: SimContext, dst: SimRegion, values: Any, reduce_res: SimRegion | None, command: str, op: str
) -> None:
    """Store a selection and its maximum."""
    with np.errstate(over="ignore"):
        store(dst, values.astype(np.float32))
    if reduce_res is not None:
        store(reduce_res, accumulated(ctx, "vector", command, op, reduced(op, values, (1,))))


def max8(ctx: SimContext, dst: SimRegion, src: SimRegion) -> None:
    """Sorted, the first eight."""
    store(dst, -np.sort(-operand(src), axis=1)[:, :8])


def _positions(data: Any, values: Any) -> tuple[Any, Any]:
    """Where each value stands first, and whether it does."""
    hit = data[:, None, :] == values[:, :, None]
    return hit.argmax(axis=2), hit.any(axis=2)


def nc_find_index8(ctx: SimContext, dst: SimRegion, data: SimRegion, vals: SimRegion) -> None:
    """Positions, or all ones."""
    place, found = _positions(operand(data), operand(vals))
    store(dst, np.where(found, place, 2**dst.dtype.bits - 1).astype(np.int64))


def nc_match_replace8(
    ctx: SimContext, dst: SimRegion, data: SimRegion, vals: SimRegion, imm: Any, dst_idx: SimRegion | None = None
) -> None:
    """One value after the other, so that equal ones replace neighbours."""
    values, wanted = operand(data).copy(), operand(vals)
    places = np.zeros(wanted.shape, np.int64)
    rows = np.arange(values.shape[0])
    for item in range(8):
        place, found = _positions(values, wanted[:, item : item + 1])
        if not found.all():
            ctx.finding("match", "a value that is to be replaced is not in its partition: what happens is undefined")
        places[:, item] = place[:, 0]
        hit = found[:, 0]
        values[rows[hit], place[hit, 0]] = np.float32(number(imm))
    store(dst, values)
    if dst_idx is not None:
        store(dst_idx, places)


# ---- the GpSimd engine ----------------------------------------------------------------------------------------------


def select_pattern(
    ctx: SimContext, result: SimRegion, true_value: SimRegion, false_value: Any, comparison: str, offset: Any, multiplier: Any,
    *pattern: Any,
) -> None:  # fmt: skip
    """true_value where offset + p * multiplier + sum(index * step) compares with zero."""
    chosen = ALU[comparison](pattern_index(result, offset, multiplier, pattern), 0) != 0
    store(result, np.where(chosen, operand(true_value), np.float32(number(false_value))))
