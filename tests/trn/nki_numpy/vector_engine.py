"""The vector engine (and GpSimd, where it does the same): arithmetic on tiles and scalars, reductions, scans."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import (
    arithmetic,
    bit_tiles,
    chip,
    column,
    command,
    engine,
    not_both_in_psum,
    pointwise,
    reduce_cmd,
    reduction,
    refuse,
    runs_on,
    vector_or_number,
)
from tests.trn.nki_numpy.state import machine
from tests.trn.nki_numpy.tensor import Tensor

Engine, Command = engine, reduce_cmd
REDUCTIONS = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
BIT_REDUCTIONS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}


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
    reduced = arithmetic(op, more=("bits",))
    if reduced.name in BIT_REDUCTIONS:
        bit_tiles(dst, data)
        if negate:
            refuse("bits are not negated")
        values = BIT_REDUCTIONS[reduced.name].reduce(data.read(), axis=axes)
    elif reduced.name in REDUCTIONS:
        values = REDUCTIONS[reduced.name].reduce(data.read().astype(np.float32), axis=axes, dtype=np.float32)
    else:
        refuse(f"tensor_reduce has no {reduced.name}")
    if dst.shape[0] != data.shape[0] or dst.data.size != values.size:
        refuse(f"tensor_reduce gives {values.shape}, dst has {dst.shape}")
    dst.write(-values if negate else values)


def tensor_tensor(dst: Any, data1: Any, data2: Any, op: Any, engine: Any = Engine.unknown, name: Any = None) -> None:
    """Element by element, nothing is broadcast; all-int32 work is exact on GpSimd."""
    chip(dst, data1, data2)
    pointwise(dst, data1, data2)
    not_both_in_psum(data1, data2, "tensor_tensor")
    chosen = runs_on(engine, ("vector", "gpsimd"), dst, data1, data2)
    apply = arithmetic(op, more=("bits", "power"))
    tiles = (dst, data1, data2)
    if apply.kind == "power" and any(tile.memory == "psum" for tile in tiles):
        refuse("power runs on GpSimd, which does not reach PSUM")
    if apply.kind == "bits":
        bit_tiles(*tiles)
        dst.write(_bits(apply, data1.read(), data2.read().reshape(data1.shape)))
        return
    whole = all(tile.dtype in (nl.int32, nl.uint32) and tile.memory == "sbuf" for tile in tiles)
    if whole and chosen != "vector":
        first, second = (tile.read().astype(np.int64).reshape(tile.shape[0], -1) for tile in (data1, data2))
        dst.write(np.asarray(apply(first, second), np.int64))
        return
    with np.errstate(all="ignore"):
        dst.write(np.asarray(apply(data1.read_flat(), data2.read_flat()), np.float32))


def _bits(op: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """On bit patterns; shifts by the width or more leave zeros, or the sign."""
    if "shift" not in op.name:
        return np.asarray(op(a, b))
    width = a.dtype.itemsize * 8
    flat = zip(a.reshape(-1).tolist(), np.broadcast_to(b, a.shape).reshape(-1).tolist(), strict=True)
    mask = 2**width - 1
    shifted = [(x << y) & mask if op.name == "left_shift" else (x >> y) & mask for x, y in flat]
    return np.array(shifted, np.uint64).astype(np.dtype(f"u{a.dtype.itemsize}")).view(a.dtype).reshape(a.shape)


def _step(values: np.ndarray, op: Any, operand: np.ndarray, reverse: bool) -> np.ndarray:
    """(values op operand), or (operand op values)."""
    apply = arithmetic(op, more=("power",))
    with np.errstate(all="ignore"):
        return np.asarray(apply(operand, values) if reverse else apply(values, operand), np.float32)


def _bit_step(values: np.ndarray, op: Any, operand: Any, reverse: bool) -> np.ndarray:
    if not isinstance(operand, int):
        refuse("bits are combined with an integer")
    other = np.full(values.shape, operand).astype(values.dtype)
    return _bits(op, other, values) if reverse else _bits(op, values, other)


def tensor_scalar(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    engine: Any = Engine.unknown,
    name: Any = None,
) -> None:
    """(data op0 operand0) op1 operand1; operands are numbers or one float32 per partition."""
    chip(dst, data)
    pointwise(dst, data)
    chosen = runs_on(engine, ("vector", "scalar", "gpsimd"), dst, data)
    if (op1 is None) != (operand1 is None):
        refuse("op1 and operand1 come together")
    steps = [(op0, operand0, reverse0)] + ([] if op1 is None else [(op1, operand1, reverse1)])
    kinds = {getattr(op, "kind", None) == "bits" for op, _, _ in steps}
    if len(kinds) > 1:
        refuse("op0 and op1 are both bitvec, or both arithmetic")
    if chosen == "scalar" and (
        [op.name for op, _, _ in steps] not in (["multiply", "add"], ["multiply"], ["add"]) or reverse0 or reverse1
    ):
        refuse("the scalar engine multiplies, adds, or does one after the other")
    if chosen == "gpsimd" and not {op.name for op, _, _ in steps} <= {"rsqrt", "power"}:
        refuse("of the operations with a scalar, the GpSimd engine does rsqrt and power")
    if True in kinds:
        bit_tiles(dst, data)
        values = data.read()
        for step in steps:
            values = _bit_step(values, *step)
    elif getattr(op0, "unary", False):
        values = _one_operand(op0, operand0, data, chosen)
    else:
        values = data.read_flat()
        for number, (op, operand, reverse) in enumerate(steps):
            values = _step(values, op, vector_or_number(operand, data, f"operand{number}"), reverse)
    dst.write(values)


def _one_operand(op: Any, operand: Any, data: Tensor, chosen: str) -> np.ndarray:
    if operand not in (None, 0):
        refuse(f"nl.{op.name} has one operand")
    if op.name == "rsqrt" and chosen != "gpsimd":
        refuse("rsqrt of tensor_scalar runs on GpSimd")
    return np.asarray(op(data.read_flat()), np.float32)


def tensor_scalar_reduce(
    dst: Any,
    data: Any,
    op0: Any,
    operand0: Any,
    reduce_op: Any,
    reduce_res: Any,
    reverse0: bool = False,
    reduce_cmd: Any = Command.reset_reduce,
    reduce_init: Any = None,
    reduce_res_negate: bool = False,
    name: Any = None,
) -> None:
    """data op0 operand0, and its reduction along all free dimensions."""
    chip(dst, data)
    pointwise(dst, data)
    column(reduce_res, data, "reduce_res")
    if max(len(dst.shape), len(data.shape)) > 4:
        refuse("tensor_scalar_reduce takes at most three free dimensions")
    if reverse0:
        refuse("reverse0 is not supported by tensor_scalar_reduce")
    if arithmetic(reduce_op).name not in REDUCTIONS:
        refuse(f"tensor_scalar_reduce cannot reduce with {reduce_op.name}")
    values = _step(data.read_flat(), op0, vector_or_number(operand0, data, "operand0"), False)
    dst.write(values)
    chosen = command(reduce_cmd, "reduce", "reset_reduce")
    total = REDUCTIONS[reduce_op.name].reduce(values, axis=1, dtype=np.float32)
    reduce_res.write(machine.accumulate("vector", chosen, reduce_op, total))


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
    not_both_in_psum(data, operand1, "scalar_tensor_tensor")
    arithmetic(op0)
    arithmetic(op1)
    values = _step(data.read_flat(), op0, vector_or_number(operand0, data, "operand0"), reverse0)
    dst.write(_step(values, op1, operand1.read_flat(), reverse1))


def tensor_tensor_scan(
    dst: Any,
    data0: Any,
    data1: Any,
    initial: Any,
    op0: Any,
    op1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    name: Any = None,
) -> None:
    """dst[i] = (data0[i] op0 dst[i - 1]) op1 data1[i], where dst[-1] is initial."""
    chip(dst, data0, data1)
    pointwise(dst, data0, data1)
    not_both_in_psum(data0, data1, "tensor_tensor_scan")
    arithmetic(op0)
    arithmetic(op1)
    a, b = data0.read_flat().copy(), data1.read_flat().copy()
    made = np.empty_like(a)
    before = np.zeros(a.shape[0], np.float32) + vector_or_number(initial, data0, "initial").reshape(-1)
    for place in range(a.shape[1]):
        before = made[:, place] = _step(_step(a[:, place], op0, before, reverse0), op1, b[:, place], reverse1)
    dst.write(made)
