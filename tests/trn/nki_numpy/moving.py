"""Data movement: DMA queues, copies between tiles, constants, positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.rules import chip, engine, not_both_in_psum, pattern_index, pointwise, refuse, runs_on
from tests.trn.nki_numpy.state import machine
from tests.trn.nki_numpy.tensor import Tensor

Engine = engine


def _converted(values: np.ndarray, dst: Tensor, src: Tensor) -> np.ndarray:
    """Bits as they are for equal types, else through float32."""
    return values if src.dtype is dst.dtype else values.astype(np.float32)


def _dma(dst: Any, src: Any, name: str) -> None:
    for tensor in (dst, src):
        if not isinstance(tensor, Tensor) or tensor.memory == "psum":
            refuse(f"{name} moves between HBM and SBUF")
    if dst.memory == "input":
        refuse("a kernel leaves its inputs alone and returns new tensors")


def dma_copy(
    dst: Any,
    src: Any,
    priority: Any = None,
    oob_mode: Any = None,
    dge_mode: Any = None,
    engine: Any = Engine.unknown,
    name: Any = None,
) -> None:
    """HBM and SBUF only, equal element counts; conversions go through float32."""
    _dma(dst, src, "dma_copy")
    if dst.data.size != src.data.size:
        refuse(f"dma_copy of {src.data.size} elements to {dst.data.size}")
    dst.write(_converted(src.read(), dst, src))


def dma_transpose(
    dst: Any,
    src: Any,
    axes: Any = None,
    priority: Any = None,
    dge_mode: Any = None,
    oob_mode: Any = None,
    name: Any = None,
) -> None:
    """The permutation for the rank. The row that is written is a multiple of 32 bytes (a rule of the compiler, not its simulator)."""
    _dma(dst, src, "dma_transpose")
    order = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}.get(src.data.ndim)
    if order is None or axes not in (None, order) or dst.shape != tuple(src.shape[axis] for axis in order):
        refuse(f"dma_transpose of {src.shape} to {dst.shape} with axes {axes}")
    if dst.dtype is not src.dtype:
        refuse("dma_transpose does not convert")
    if dst.free * dst.dtype.numpy.itemsize % 32:
        refuse(f"dma_transpose writes rows of {dst.free * dst.dtype.numpy.itemsize} bytes, no multiple of 32")
    dst.write(src.read().transpose(order))


def tensor_copy(dst: Any, src: Any, engine: Any = Engine.unknown, name: Any = None) -> None:
    """Same partitions, same elements per partition; exact for equal types, but not on the scalar engine."""
    chip(dst, src)
    pointwise(dst, src)
    chosen = runs_on(engine, ("vector", "scalar", "gpsimd"), dst, src)
    if chosen == "scalar" and machine.generation == "v2":
        refuse("the scalar engine of NeuronCore-v2 has no tensor_copy")
    values = src.read()
    dst.write(values.astype(np.float32) if chosen == "scalar" else _converted(values, dst, src))


def tensor_copy_predicated(dst: Any, src: Any, predicate: Any, reverse_pred: bool = False, name: Any = None) -> None:
    """Elements of src where the predicate is set."""
    chip(dst, src, predicate)
    pointwise(dst, src, predicate)
    not_both_in_psum(src, predicate, "tensor_copy_predicated")
    if predicate.dtype not in (nl.uint8, nl.uint16, nl.uint32) or src.dtype is not dst.dtype:
        refuse("tensor_copy_predicated takes an unsigned predicate, and src and dst of one type")
    chosen = predicate.read().reshape(dst.shape) != 0
    dst.write_where(src.read(), ~chosen if reverse_pred else chosen)


def memset(dst: Any, value: Any, engine: Any = Engine.unknown, name: Any = None) -> None:
    """Every element; the value is of the kind of the element type."""
    chip(dst)
    runs_on(engine, ("vector", "gpsimd"), dst)
    if not isinstance(value, int | float) or (isinstance(value, float) and not dst.dtype.is_float):
        refuse(f"memset of {dst.dtype.name} to {value!r}")
    dst.write(np.full(dst.shape, value))


def iota(dst: Any, pattern: Any, offset: int = 0, channel_multiplier: int = 0, name: Any = None) -> None:
    """Positions, in int32."""
    chip(dst)
    if dst.memory != "sbuf":
        refuse("iota writes SBUF")
    dst.write(pattern_index(dst, pattern, offset, channel_multiplier).astype(np.int32))
