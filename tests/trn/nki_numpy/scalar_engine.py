"""The scalar engine: functions of scaled and shifted tiles, with sums on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import chip, column, command, function, pointwise, reduce_cmd, refuse, vector_or_number
from tests.trn.nki_numpy.state import machine
from tests.trn.nki_numpy.tensor import Tensor

Command = reduce_cmd


def activation(
    dst: Any,
    op: Any,
    data: Any,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: Any = None,
    reduce_cmd: Any = Command.idle,
    name: Any = None,
) -> None:
    """op(data * scale + bias), and its sum in the engine's registers."""
    chip(dst, data)
    pointwise(dst, data)
    values = _activated(op, data, bias, scale)
    dst.write(values)
    chosen = command(reduce_cmd, "idle", "reduce", "reset_reduce")
    if chosen == "idle" and (reduce_op is not None or reduce_res is not None):
        refuse("a reduction with reduce_cmd idle is lost")
    if chosen != "idle":
        _reduce(values, data, reduce_op, reduce_res, chosen)


def _activated(op: Any, data: Tensor, bias: Any, scale: Any) -> np.ndarray:
    apply = function(op)
    if bias is not None and not isinstance(bias, Tensor) and machine.generation == "v2":
        refuse("NeuronCore-v2 takes a bias from a tile only")
    shift = np.float32(0) if bias is None else vector_or_number(bias, data, "bias")
    with np.errstate(all="ignore"):
        return apply.activate(data.read_flat() * vector_or_number(scale, data, "scale") + shift)


def _reduce(values: np.ndarray, data: Tensor, op: Any, reduce_res: Any, chosen: str) -> None:
    if op is not nl.add:
        refuse("the scalar engine reduces with add only")
    _write_reduced(reduce_res, machine.accumulate("scalar", chosen, op, values.sum(axis=1, dtype=np.float32)), data)


def _write_reduced(reduce_res: Tensor, values: np.ndarray, data: Tensor) -> None:
    column(reduce_res, data, "reduce_res")
    reduce_res.write(values)


def activation_reduce(
    dst: Any, op: Any, data: Any, reduce_op: Any, reduce_res: Any, bias: Any = None, scale: Any = 1.0, name: Any = None
) -> None:
    """An activation, and the sum of its results along the free dimensions."""
    chip(dst, data, reduce_res)
    pointwise(dst, data)
    values = _activated(op, data, bias, scale)
    dst.write(values)
    _reduce(values, data, reduce_op, reduce_res, "reset_reduce")
