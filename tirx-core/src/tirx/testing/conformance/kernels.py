"""Whole neutral kernels, as somebody would write them without knowing the machine; each with what NumPy says."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import script as Tx
from ...ir import PrimFunc
from ...support.span import add_author_file
from .sample import Sample

__all__ = ["NEUTRAL_SAMPLES"]

add_author_file(__file__)

SIZE = 1000  # no multiple of any group


def _scale(x: Any, y: Any) -> None:
    Tx.device_entry()
    at = Tx.bind(Tx.cta_id([16]) * 64 + Tx.thread_id([64]))
    with Tx.If(at < SIZE), Tx.Then():
        y[at] = x[at] * 2.5 + 1.0


def _stencil(x: Any, y: Any) -> None:
    """Neighbours by way of selected values, in integers."""
    Tx.device_entry()
    at = Tx.bind(Tx.cta_id([8]) * 128 + Tx.thread_id([128]))
    with Tx.If(at < SIZE), Tx.Then():
        left = Tx.if_then_else(at > 0, x[Tx.max(at - 1, 0)], 0)
        y[at] = x[at] * 3 - left + at // 7 + at % 5


def _polynomial(x: Any, y: Any) -> None:
    """A loop inside a loop, over what each thread strides along."""
    Tx.device_entry()
    tx = Tx.thread_id([64])
    with Tx.serial(Tx.ceildiv(SIZE, 64)) as turn:
        at = Tx.bind(turn * 64 + tx)
        with Tx.If(at < SIZE), Tx.Then():
            sum = Tx.alloc_local((1,), "float32")
            sum[0] = 0.0
            with Tx.serial(4) as power:
                sum[0] = sum[0] * x[at] + Tx.cast(power + 1, "float32")
            y[at] = sum[0]


def _row_sums(x: Any, y: Any) -> None:
    """A tree in shared memory, one barrier a step."""
    Tx.device_entry()
    row, tx = Tx.cta_id([8]), Tx.thread_id([128])
    part = Tx.alloc_shared((128,), "float32")
    part[tx] = x[row * 125 + Tx.min(tx, 124)] * Tx.if_then_else(tx < 125, 1.0, 0.0)
    Tx.tvm_storage_sync("shared")
    for step in (64, 32, 16, 8, 4, 2, 1):
        with Tx.If(tx < step), Tx.Then():
            part[tx] = part[tx] + part[tx + step]
        Tx.tvm_storage_sync("shared")
    with Tx.If(tx == 0), Tx.Then():
        y[row] = part[0]


def _histogram(x: Any, y: Any) -> None:
    Tx.device_entry()
    at = Tx.bind(Tx.cta_id([16]) * 64 + Tx.thread_id([64]))
    with Tx.If(at < SIZE), Tx.Then():
        Tx.evaluate(Tx.atomic_add(y[x[at] % 16], 1))


def _floats(size: int) -> Any:
    return lambda rng: (rng.standard_normal(SIZE).astype(np.float32), np.full(size, np.nan, np.float32))


def _integers(size: int) -> Any:
    return lambda rng: (rng.integers(0, 99, SIZE).astype(np.int32), np.zeros(size, np.int32))


def _kernel(body: Any, dtype: str, size: int = SIZE) -> Any:
    made: PrimFunc = Tx.trace(
        body, Tx.Buffer((SIZE,), dtype), Tx.Buffer((size,), dtype), name=f"conform{body.__name__}"
    )
    return lambda width: made


def _stencilled(x: Any, y: Any) -> Any:
    at = np.arange(SIZE)
    return {"y": x * 3 - np.concatenate([[0], x[:-1]]) + at // 7 + at % 5}


NEUTRAL_SAMPLES = (
    Sample(
        "scale",
        _kernel(_scale, "float32"),
        _floats(SIZE),
        lambda x, y: {"y": x * 2.5 + 1},
        needs=("float32",),
        tolerance=1e-6,
    ),
    Sample("stencil", _kernel(_stencil, "int32"), _integers(SIZE), _stencilled, needs=("int32",)),
    Sample(
        "polynomial",
        _kernel(_polynomial, "float32"),
        _floats(SIZE),
        lambda x, y: {"y": ((x + 2) * x + 3) * x + 4},
        needs=("float32",),
        tolerance=1e-5,
    ),
    Sample(
        "row_sums",
        _kernel(_row_sums, "float32", 8),
        _floats(8),
        lambda x, y: {"y": x.reshape(8, 125).sum(1)},
        needs=("float32", "barriers"),
        tolerance=1e-4,
    ),
    Sample(
        "histogram",
        _kernel(_histogram, "int32", 16),
        _integers(16),
        lambda x, y: {"y": np.bincount(x % 16, minlength=16)},
        needs=("int32", "atomics"),
    ),
)
"""Kernels for any machine with threads."""
