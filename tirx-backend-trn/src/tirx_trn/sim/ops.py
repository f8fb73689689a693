"""Meanings of the instructions. Arithmetic is done in float32 and converted when it is stored, as the engines do."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext, SimRegion

from ..layout import PSUM
from .tiles import ALU, number, operand, partitions_first, raw, reduced, scalar, store

__all__ = [
    "activation", "activation_reduce", "identity", "load", "matmul", "memset", "reciprocal", "scalar_tensor_scalar",
    "scalar_tensor_tensor", "select_pattern", "store_", "tensor_copy", "tensorreduce", "tensorscalar", "tensorscalar_reduce",
    "tensortensor",
]  # fmt: skip

FUNCTIONS = {"exp": np.exp, "sqrt": np.sqrt}
COMPARE = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater_equal": np.greater_equal,
    "greater": np.greater,
    "less_equal": np.less_equal,
    "less": np.less,
}
# Where the scalar engine's functions are defined (v2 architecture guide); outside they give garbage.
DOMAINS = {"sqrt": (2.0**-116, 2.0**118)}


def _converted(region: SimRegion, values: Any) -> Any:
    return values if region.dtype.name == str(values.dtype) else values.astype(np.float32)


def load(ctx: SimContext, res: SimRegion, data: SimRegion) -> None:
    """Device memory to a tile: index by index, in the order of the box."""
    store(res, _converted(res, data.read()))


def store_(ctx: SimContext, res: SimRegion, data: SimRegion) -> None:
    """A tile to device memory."""
    store(res, _converted(res, raw(data)))


def tensor_copy(ctx: SimContext, res: SimRegion, data: SimRegion) -> None:
    """A tile to a tile."""
    store(res, _converted(res, raw(data)))


def matmul(ctx: SimContext, res: SimRegion, lhs: SimRegion, rhs: SimRegion, accum: Any) -> None:
    """lhs.T @ rhs; with `accum` the first product since the allocation replaces, later ones are added."""
    product = operand(lhs).T @ operand(rhs)
    if bool(number(accum)):
        written = partitions_first(res, res.written()).reshape(product.shape)
        if written.all():
            product = operand(res) + product
        elif written.any():
            ctx.finding("accumulation", "part of this PSUM tile holds products, part of it nothing")
    store(res, product)


def _activated(ctx: SimContext, opcode: str, data: SimRegion, bias: Any, scale: Any) -> Any:
    values = operand(data) * scalar(scale) + scalar(bias)
    low, high = DOMAINS.get(opcode, (-np.inf, np.inf))
    if not ((values >= low) & (values <= high)).all():
        ctx.finding(
            "domain", f"{opcode} is computed outside {low:g} to {high:g}, where the scalar engine gives garbage"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return FUNCTIONS[opcode](values)


def activation(ctx: SimContext, result: SimRegion, data: SimRegion, opcode: str, bias: Any, scale: Any) -> None:
    """opcode(data * scale + bias)."""
    store(result, _activated(ctx, opcode, data, bias, scale))


def activation_reduce(
    ctx: SimContext,
    reduce_res: SimRegion,
    act_res: SimRegion,
    data: SimRegion,
    opcode: str,
    reduce_opcode: str,
    bias: Any,
    scale: Any,
) -> None:
    """An activation and the sum of its results."""
    values = _activated(ctx, opcode, data, bias, scale)
    store(act_res, values)
    store(reduce_res, reduced(reduce_opcode, values, (1,)))


def reciprocal(ctx: SimContext, result: SimRegion, data: SimRegion) -> None:
    """1 / data."""
    with np.errstate(divide="ignore"):
        store(result, np.float32(1) / operand(data))


def tensorreduce(ctx: SimContext, result: SimRegion, data: SimRegion, opcode: str, negate: Any, *axes: Any) -> None:
    """Over dimensions of the box."""
    values = reduced(opcode, data.read().astype(np.float32), [int(number(axis)) for axis in axes])
    values = (
        np.moveaxis(values, 1, 0) if data.scope == PSUM and values.ndim > 1 and not _reduces_banks(axes) else values
    )
    store(result, -values if bool(number(negate)) else values)


def _reduces_banks(axes: Any) -> bool:
    return any(int(number(axis)) == 0 for axis in axes)


def tensortensor(ctx: SimContext, result: SimRegion, operand0: SimRegion, operand1: SimRegion, opcode: str) -> None:
    """operand0 opcode operand1; exact where everything is a 32-bit integer in SBUF."""
    tiles = (result, operand0, operand1)
    if all(tile.dtype.is_integer and tile.dtype.bits == 32 and tile.scope != PSUM for tile in tiles):
        store(result, ALU[opcode](raw(operand0).astype(np.int64), raw(operand1).astype(np.int64)))
    else:
        store(result, ALU[opcode](operand(operand0), operand(operand1)))


def _step(values: Any, opcode: str, other: Any, reverse: Any) -> Any:
    first, second = (other, values) if bool(number(reverse)) else (values, other)
    return ALU[opcode](first, second).astype(np.float32)


def tensorscalar(
    ctx: SimContext, result: SimRegion, operand0: SimRegion, operand1: Any, opcode: str, reverse: Any
) -> None:
    """operand0 opcode operand1."""
    store(result, _step(operand(operand0), opcode, scalar(operand1), reverse))


def tensorscalar_reduce(
    ctx: SimContext, reduce_res: SimRegion, result: SimRegion, operand0: SimRegion, operand1: Any, opcode: str, reduce_opcode: str,
    reverse: Any,
) -> None:  # fmt: skip
    """A tensorscalar and its reduction."""
    values = _step(operand(operand0), opcode, scalar(operand1), reverse)
    store(result, values)
    store(reduce_res, reduced(reduce_opcode, values, (1,)))


def scalar_tensor_tensor(
    ctx: SimContext, result: SimRegion, data: SimRegion, operand0: Any, operand1: SimRegion, opcode0: str, opcode1: str,
    reverse0: Any, reverse1: Any,
) -> None:  # fmt: skip
    """(data opcode0 operand0) opcode1 operand1, a tile."""
    store(
        result, _step(_step(operand(data), opcode0, scalar(operand0), reverse0), opcode1, operand(operand1), reverse1)
    )


def scalar_tensor_scalar(
    ctx: SimContext, result: SimRegion, data: SimRegion, operand0: Any, operand1: Any, opcode0: str, opcode1: str, reverse0: Any,
    reverse1: Any,
) -> None:  # fmt: skip
    """(data opcode0 operand0) opcode1 operand1, a scalar."""
    store(result, _step(_step(operand(data), opcode0, scalar(operand0), reverse0), opcode1, scalar(operand1), reverse1))


def memset(ctx: SimContext, result: SimRegion, value: Any) -> None:
    """Every element."""
    store(result, np.full(int(np.prod(result.shape)), number(value)))


def identity(ctx: SimContext, result: SimRegion, size: Any) -> None:
    """Ones on the diagonal."""
    store(result, np.eye(int(number(size)), dtype=np.float32))


def select_pattern(
    ctx: SimContext, result: SimRegion, true_value: SimRegion, false_value: Any, comparison: str, offset: Any, multiplier: Any,
    *steps: Any,
) -> None:  # fmt: skip
    """true_value where offset + p * multiplier + sum(index * step) compares with zero."""
    partitions, *free = result.shape
    place = np.zeros(free, np.int64)
    for axis, (step, count) in enumerate(zip(steps, free, strict=True)):
        place += int(number(step)) * np.arange(count).reshape([-1 if dim == axis else 1 for dim in range(len(free))])
    rows = np.arange(partitions)[:, None] * int(number(multiplier))
    chosen = COMPARE[comparison](int(number(offset)) + rows + place.reshape(1, -1), 0)
    store(result, np.where(chosen, operand(true_value), np.float32(number(false_value))))
