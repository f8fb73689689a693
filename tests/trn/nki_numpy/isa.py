"""`nki.isa`: one function per instruction. Source: the NKI 0.6 reference page of each.

Arithmetic is done in float32 and converted when it is written to `dst`.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import (
    arithmetic,
    chip,
    compare,
    function,
    pointwise,
    reduction,
    refuse,
    vector_or_number,
)
from tests.trn.nki_numpy.state import MOVING_MAX, machine
from tests.trn.nki_numpy.tensor import BANK, Tensor

engine = Enum("engine", "unknown tensor vector scalar gpsimd dma sync")
oob_mode = Enum("oob_mode", "error skip")
dge_mode = Enum("dge_mode", "unknown swdge hwdge none")
matmul_perf_mode = Enum("matmul_perf_mode", "none double_row")
REDUCTIONS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


def dma_copy(
    dst: Any,
    src: Any,
    oob_mode: Any = oob_mode.error,
    dge_mode: Any = dge_mode.unknown,
    engine: Any = engine.unknown,
    name: Any = None,
) -> None:
    """HBM and SBUF only, equal element counts; conversions go through float32."""
    for tensor in (dst, src):
        if not isinstance(tensor, Tensor) or tensor.memory == "psum":
            refuse("dma_copy moves between HBM and SBUF")
    if dst.memory == "input":
        refuse("a kernel leaves its inputs alone and returns new tensors")
    if dst.data.size != src.data.size:
        refuse(f"dma_copy of {src.data.size} elements to {dst.data.size}")
    values = src.read()
    dst.write(values if src.dtype is dst.dtype else values.astype(np.float32))


def tensor_copy(dst: Any, src: Any, engine: Any = engine.unknown, name: Any = None) -> None:
    """Same partitions, same elements per partition; exact for equal types."""
    chip(dst, src)
    pointwise(dst, src)
    values = src.read()
    dst.write(values if src.dtype is dst.dtype else values.astype(np.float32))


def nc_matmul(
    dst: Any,
    stationary: Any,
    moving: Any,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: Any = (),
    tile_size: Any = (),
    perf_mode: Any = matmul_perf_mode.none,
    name: Any = None,
) -> None:
    """dst (+)= stationary.T @ moving, operands in SBUF, sums in PSUM."""
    chip(dst, stationary, moving)
    if (dst.memory, stationary.memory, moving.memory) != ("psum", "sbuf", "sbuf"):
        refuse("nc_matmul reads SBUF and writes PSUM")
    _check_matmul(dst, stationary, moving)
    product = stationary.read_flat().T @ moving.read_flat()
    _accumulate(dst, product.reshape(dst.shape), accumulate)


def _check_matmul(dst: Tensor, stationary: Tensor, moving: Tensor) -> None:
    if stationary.shape[0] != moving.shape[0]:
        refuse("stationary and moving are contracted along equal partitions")
    if stationary.free > 128:
        refuse(f"stationary has {stationary.free} elements per partition, at most 128")
    if moving.free > MOVING_MAX[machine.generation]:
        refuse(f"moving has {moving.free} elements per partition, at most {MOVING_MAX[machine.generation]}")
    if (dst.shape[0], dst.free) != (stationary.free, moving.free):
        refuse(f"dst is {dst.shape[0]} x {dst.free}, the product {stationary.free} x {moving.free}")
    if dst.dtype is not nl.float32:
        refuse("dst of nc_matmul is float32")
    if not (stationary.dtype.is_float and moving.dtype.is_float):
        refuse("nc_matmul multiplies floats")
    if (stationary.dtype is nl.float32) != (moving.dtype is nl.float32):
        refuse("float32 is multiplied only with float32")
    if machine.generation != "v4" and dst.free * 4 > BANK:
        refuse("a matmul writes inside one PSUM bank")


def _accumulate(dst: Tensor, product: np.ndarray, accumulate: bool | None) -> None:
    """None: the first product into a place replaces, later ones are added. Adding to anything but a product is undefined."""
    if accumulate is True and not dst.sums.all():
        refuse("accumulate=True onto PSUM that holds no product")
    foreign = dst.written & ~dst.sums
    if accumulate is not False and foreign.any() and machine.generation != "v4":
        refuse("accumulation onto PSUM that was set or copied is undefined")
    if accumulate is False:
        dst.write(product, sums=True)
        return
    before = np.where(dst.sums, dst.data, np.float32(0))
    dst.write((before + product).astype(np.float32), sums=True)


def activation(
    dst: Any,
    op: Any,
    data: Any,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = None,
    name: Any = None,
) -> None:
    """op(data * scale + bias)."""
    if reduce_op is not None or reduce_res is not None or reduce_cmd is not None:
        refuse("the reduction registers of activation are not part of this subset")
    chip(dst, data)
    pointwise(dst, data)
    dst.write(_activated(op, data, bias, scale))


def _activated(op: Any, data: Tensor, bias: Any, scale: Any) -> np.ndarray:
    apply = function(op)
    if bias is not None and not isinstance(bias, Tensor) and machine.generation == "v2":
        refuse("NeuronCore-v2 takes a bias from a tile only")
    shift = np.float32(0) if bias is None else vector_or_number(bias, data, "bias")
    return np.asarray(apply(data.read_flat() * vector_or_number(scale, data, "scale") + shift))


def activation_reduce(
    dst: Any, op: Any, data: Any, reduce_op: Any, reduce_res: Any, bias: Any = None, scale: Any = 1.0, name: Any = None
) -> None:
    """An activation, and the sum of its results along the free dimensions."""
    chip(dst, data, reduce_res)
    pointwise(dst, data)
    if reduce_op is not nl.add:
        refuse("the scalar engine reduces with add only")
    values = _activated(op, data, bias, scale)
    dst.write(values)
    _write_reduced(reduce_res, values.sum(axis=1, dtype=np.float32), data)


def _write_reduced(reduce_res: Tensor, values: np.ndarray, data: Tensor) -> None:
    if (reduce_res.shape[0], reduce_res.free) != (data.shape[0], 1):
        refuse("reduce_res has one element per partition")
    reduce_res.write(values)


def reciprocal(dst: Any, data: Any, name: Any = None) -> None:
    """1 / data in float32."""
    chip(dst, data)
    pointwise(dst, data)
    with np.errstate(divide="ignore"):
        dst.write(np.float32(1) / data.read_flat())


def tensor_reduce(
    dst: Any, op: Any, data: Any, axis: Any, negate: bool = False, keepdims: bool = False, name: Any = None
) -> None:
    """Over trailing free axes, never the partitions."""
    chip(dst, data)
    axes = reduction(axis, data)
    reduced = arithmetic(op)
    if reduced.name not in REDUCTIONS:
        refuse(f"tensor_reduce has no {reduced.name}")
    values = REDUCTIONS[reduced.name].reduce(data.read().astype(np.float32), axis=axes, dtype=np.float32)
    if dst.shape[0] != data.shape[0] or dst.data.size != values.size:
        refuse(f"tensor_reduce gives {values.shape}, dst has {dst.shape}")
    dst.write(-values if negate else values)


def tensor_tensor(dst: Any, data1: Any, data2: Any, op: Any, engine: Any = engine.unknown, name: Any = None) -> None:
    """Element by element, nothing is broadcast; all-int32 work is exact."""
    chip(dst, data1, data2)
    pointwise(dst, data1, data2)
    if data1.memory == data2.memory == "psum":
        refuse("tensor_tensor has at most one operand in PSUM")
    apply = arithmetic(op)
    exact = all(tensor.dtype in (nl.int32, nl.uint32) and tensor.memory == "sbuf" for tensor in (dst, data1, data2))
    if exact:
        values = [tensor.read().astype(np.int64).reshape(tensor.shape[0], -1) for tensor in (data1, data2)]
        dst.write(apply(*values))
    else:
        dst.write(apply(data1.read_flat(), data2.read_flat()))


def _step(values: np.ndarray, op: Any, operand: np.ndarray, reverse: bool) -> np.ndarray:
    """(values op operand), or (operand op values)."""
    apply = arithmetic(op)
    return np.asarray(apply(operand, values) if reverse else apply(values, operand), np.float32)


def tensor_scalar(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    engine: Any = engine.unknown,
    name: Any = None,
) -> None:
    """(data op0 operand0) op1 operand1; operands are numbers or one float32 per partition."""
    chip(dst, data)
    pointwise(dst, data)
    values = _step(data.read_flat(), op0, vector_or_number(operand0, data, "operand0"), reverse0)
    if op1 is not None:
        values = _step(values, op1, vector_or_number(operand1, data, "operand1"), reverse1)
    dst.write(values)


def tensor_scalar_reduce(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reduce_op: Any,
    reduce_res: Any,
    reverse0: bool = False,
    name: Any = None,
) -> None:
    """data op0 operand0, and its reduction along all free dimensions."""
    chip(dst, data, reduce_res)
    pointwise(dst, data)
    if reverse0:
        refuse("reverse0 is not supported by tensor_scalar_reduce")
    if arithmetic(reduce_op).name not in REDUCTIONS:
        refuse(f"tensor_scalar_reduce cannot reduce with {reduce_op.name}")
    values = _step(data.read_flat(), op0, vector_or_number(operand0, data, "operand0"), False)
    dst.write(values)
    _write_reduced(reduce_res, REDUCTIONS[reduce_op.name].reduce(values, axis=1, dtype=np.float32), data)


def scalar_tensor_tensor(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    name: Any = None,
) -> None:
    """(data op0 operand0) op1 operand1 with a scalar operand0 and a tile operand1."""
    chip(dst, data, operand1)
    pointwise(dst, data, operand1)
    if data.memory == operand1.memory == "psum":
        refuse("scalar_tensor_tensor has at most one of data and operand1 in PSUM")
    values = _step(data.read_flat(), op0, vector_or_number(operand0, data, "operand0"), reverse0)
    dst.write(_step(values, op1, operand1.read_flat(), reverse1))


def memset(dst: Any, value: Any, engine: Any = engine.unknown, name: Any = None) -> None:
    """Every element; the value is of the kind of the element type."""
    chip(dst)
    if not isinstance(value, int | float) or (isinstance(value, float) and not dst.dtype.is_float):
        refuse(f"memset of {dst.dtype.name} to {value!r}")
    dst.write(np.full(dst.shape, value))


def affine_select(
    dst: Any,
    pattern: Any,
    channel_multiplier: int,
    on_true_tile: Any,
    on_false_value: float,
    cmp_op: Any = nl.equal,
    offset: int = 0,
    name: Any = None,
) -> None:
    """on_true_tile where cmp_op(offset + partition * channel_multiplier + sum(index * step), 0), else a number."""
    chip(dst, on_true_tile)
    pointwise(dst, on_true_tile)
    if dst.memory != "sbuf" or on_true_tile.memory != "sbuf":
        refuse("affine_select works in SBUF")
    if not 1 <= len(pattern) <= 4 or int(np.prod([count for _, count in pattern])) != dst.free:
        refuse("the pattern of affine_select covers the elements of a partition in up to 4 dimensions")
    place = np.zeros([count for _, count in pattern], np.int64)
    for axis, (step, count) in enumerate(pattern):
        place += step * np.arange(count).reshape([-1 if dim == axis else 1 for dim in range(len(pattern))])
    channels = np.arange(dst.shape[0])[:, None] * channel_multiplier
    chosen = compare(cmp_op)(offset + channels + place.reshape(1, -1), 0)
    dst.write(np.where(chosen, on_true_tile.read_flat(), np.float32(on_false_value)))
