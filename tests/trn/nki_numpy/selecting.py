"""Selection by position, by predicate and by value."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import (
    chip,
    column,
    command,
    compare,
    not_both_in_psum,
    pattern_index,
    pointwise,
    reduce_cmd,
    refuse,
    vector_or_number,
)
from tests.trn.nki_numpy.state import machine
from tests.trn.nki_numpy.tensor import Tensor

Command = reduce_cmd
FP32_MIN = -3.4028234663852886e38


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
    if not isinstance(on_false_value, int | float):
        refuse("on_false_value is a number")
    chosen = compare(cmp_op)(pattern_index(dst, pattern, offset, channel_multiplier), 0)
    dst.write(np.where(chosen, on_true_tile.read_flat(), np.float32(on_false_value)))


def _finish(dst: Tensor, values: np.ndarray, reduce_res: Any, reduce_op: Any, chosen: str) -> None:
    """Write a selection and its maximum."""
    with np.errstate(over="ignore"):
        dst.write(values.astype(np.float32))
    if reduce_res is None:
        return
    column(reduce_res, dst, "reduce_res")
    if reduce_op is not nl.maximum or not reduce_res.dtype.is_float:
        refuse("selections reduce with maximum, to floats")
    reduce_res.write(machine.accumulate("vector", chosen, nl.maximum, values.max(axis=1).astype(np.float32)))


def select_reduce(
    dst: Any,
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_res: Any = None,
    reduce_cmd: Any = Command.idle,
    reduce_op: Any = nl.maximum,
    reverse_pred: bool = False,
    name: Any = None,
) -> None:
    """on_true where the predicate is set, else one value per partition."""
    chip(dst, predicate, on_true)
    pointwise(dst, predicate, on_true)
    not_both_in_psum(predicate, on_true, "select_reduce")
    if predicate.dtype not in (nl.int8, nl.uint8, nl.int16, nl.uint16) or on_true.dtype in (nl.int32, nl.uint32):
        refuse("select_reduce takes an integer predicate of 8 or 16 bits, and no 32-bit integers")
    chosen = command(reduce_cmd, "idle", "reduce", "reset_reduce")
    if (reduce_res is None) != (chosen == "idle"):
        refuse("reduce_res and reduce_cmd come together")
    mask = predicate.read().reshape(predicate.shape[0], -1) != 0
    values = np.where(mask ^ reverse_pred, on_true.read_flat(), vector_or_number(on_false, on_true, "on_false"))
    _finish(dst, values, reduce_res, reduce_op, chosen)


def range_select(
    dst: Any,
    on_true_tile: Any,
    comp_op0: Any,
    comp_op1: Any,
    bound0: Any,
    bound1: Any,
    reduce_cmd: Any = Command.reset_reduce,
    reduce_res: Any = None,
    reduce_op: Any = nl.maximum,
    range_start: int = 0,
    on_false_value: Any = FP32_MIN,
    name: Any = None,
) -> None:
    """on_true_tile where range_start + index compares with both bounds; elsewhere the smallest float32."""
    if machine.generation == "v2":
        refuse("range_select came with NeuronCore-v3")
    chip(dst, on_true_tile, bound0, bound1)
    pointwise(dst, on_true_tile)
    if on_false_value != FP32_MIN:
        refuse("range_select fills in the smallest float32 only")
    if not on_true_tile.dtype.is_float:
        refuse("range_select selects floats")
    place = np.arange(on_true_tile.free)[None, :] + float(range_start)
    low, high = (vector_or_number(bound, on_true_tile, "a bound") for bound in (bound0, bound1))
    inside = compare(comp_op0)(place, low) & compare(comp_op1)(place, high)
    values = np.where(inside, on_true_tile.read_flat(), np.float32(FP32_MIN))
    _finish(dst, values, reduce_res, reduce_op, command(reduce_cmd, "reduce", "reset_reduce"))


def _eight(tile: Any, data: Tensor, name: str) -> None:
    chip(tile)
    if (tile.shape[0], tile.free) != (data.shape[0], 8):
        refuse(f"{name} has eight elements per partition")


def max8(dst: Any, src: Any, name: Any = None) -> None:
    """The eight largest, largest first."""
    chip(dst, src)
    _eight(dst, src, "dst")
    if not 8 <= src.free <= 16384:
        refuse(f"max8 of {src.free} elements per partition")
    dst.write(np.array([sorted(row, reverse=True)[:8] for row in src.read_flat().tolist()], np.float32))


def nc_find_index8(dst: Any, data: Any, vals: Any, name: Any = None) -> None:
    """Where each value stands first; all ones where it does not."""
    chip(dst, data)
    _eight(vals, data, "vals")
    _eight(dst, data, "dst")
    if dst.dtype not in (nl.uint16, nl.uint32) or not 8 <= data.free <= 16384:
        refuse("nc_find_index8 writes uint16 or uint32, for 8 to 16384 elements per partition")
    absent = 2 ** (8 * dst.dtype.numpy.itemsize) - 1
    rows = zip(data.read_flat().tolist(), vals.read_flat().tolist(), strict=True)
    dst.write(np.array([[row.index(v) if v in row else absent for v in wanted] for row, wanted in rows]))


def nc_match_replace8(dst: Any, data: Any, vals: Any, imm: float, dst_idx: Any = None, name: Any = None) -> None:
    """The first of each value replaced, one after the other."""
    chip(dst, data)
    pointwise(dst, data)
    _eight(vals, data, "vals")
    rows, places = data.read_flat().copy().tolist(), []
    for row, wanted in zip(rows, vals.read_flat().tolist(), strict=True):
        places.append([])
        for value in wanted:
            if value not in row:
                refuse("a value to replace is not in its partition, which is undefined")
            places[-1].append(row.index(value))
            row[row.index(value)] = imm
    dst.write(np.array(rows, np.float32))
    if dst_idx is not None:
        _eight(dst_idx, data, "dst_idx")
        dst_idx.write(np.array(places))
