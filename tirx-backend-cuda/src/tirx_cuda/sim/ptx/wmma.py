"""Meanings of `wmma`, whose fragments have no order that programs may know.

Here element number i of a matrix is element i of the fragment, lane after lane; where a fragment has room for more, it repeats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType

from .fragments import WARP, elements, registers, whole_warps
from .mma import accumulators, product, sizes, split, types
from .run import Op

__all__ = ["load", "mma", "store"]

_BYTES = {"f16": 2, "bf16": 2, "u8": 1, "s8": 1, "f64": 8}
_REGISTERS = {"f32": np.float32, "f64": np.float64}
_ELEMENTS = {"f16": np.float16, "s32": np.int32, "f64": np.float64}
_IN_WORD = {"u4": 8, "s4": 8, "b1": 32}  # elements that share a word in memory


def _matrix(op: Op) -> tuple[str, tuple[int, int], bool]:
    """Type, rows and columns of what moves, and whether columns lie together."""
    words = op.form.mnemonic.split(".")
    m, n, k = sizes(op)
    shape = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[words[2]]
    return words[-1], shape, "col" in words


def _places(op: Op, address: Any, stride: Any) -> tuple[Any, DType, int]:
    """Where each stored unit of each warp lies, its type, and how many a lane moves."""
    kind, (rows, columns), down = _matrix(op)
    shared = _IN_WORD.get(kind, 1)
    size = 4 if shared > 1 else _BYTES.get(kind, 4)
    outer, inner = (columns, rows) if down else (rows, columns)
    each = outer * inner // shared // WARP
    pitch = op.full(stride[0]).astype(np.int64) if stride else np.full(op.count, inner, np.int64)
    unit = np.arange(WARP * each).reshape(WARP, each)
    line, at = np.divmod(unit, inner // shared if shared > 1 else columns)
    if down and shared == 1:  # numbered by rows all the same
        line, at = at, line
    lanes = np.tile(np.arange(WARP), op.count // WARP)
    start = op.full(np.asarray(address).astype(np.int64))
    place = start[:, None] + (line[lanes] * pitch[:, None] // shared + at[lanes]) * size
    return place.reshape(-1), DType(f"uint{8 * size}"), each


def load(op: Op, address: Any, *stride: Any) -> Any:
    """A matrix as a fragment."""
    outputs = [part for part in op.form.parts if part.rw == "w"]
    held = _REGISTERS.get(_matrix(op)[0] if op.form.mnemonic.startswith("wmma.load.c") else "", np.uint32)
    held = np.float64 if op.form.mnemonic.endswith("f64") else held
    if not whole_warps(op):
        return tuple(np.zeros(op.count, held) for _ in outputs)
    place, dtype, each = _places(op, address, stride)
    data = np.ascontiguousarray(op.ctx.repeated(each).load(place, dtype).reshape(op.count // WARP, -1))
    words = data.view(np.uint64 if dtype.bits == 64 else np.uint32)
    repeated = np.ascontiguousarray(np.tile(words, (1, WARP * len(outputs) // words.shape[1])))
    flat = repeated.view(held).reshape(op.count, len(outputs))
    return tuple(np.ascontiguousarray(flat[:, i]) for i in range(len(outputs)))


def store(op: Op, address: Any, *values: Any) -> None:
    """A fragment as a matrix."""
    if not whole_warps(op):
        return
    held = sum(part.name[0] == "r" for part in op.form.parts)
    place, dtype, each = _places(op, address, values[held:])
    words = np.ascontiguousarray(registers(op, values[:held])).reshape(op.count // WARP, -1)
    op.ctx.repeated(each).store(place, dtype, words.view(f"u{dtype.bytes}").reshape(-1))


def mma(op: Op, *values: Any) -> Any:
    """D = a * b + c."""
    outputs = sum(part.rw == "w" for part in op.form.parts)
    if not whole_warps(op):
        return tuple(np.zeros(op.count, np.asarray(values[-1]).dtype) for _ in range(outputs))
    m, n, k = sizes(op)
    kind_d, kind_a, kind_b, kind_c = _kinds(op)
    a, b, c = (registers(op, group) for group in split(op, values))
    left = _whole(elements(a, kind_a), (m, k))
    right = _whole(elements(b, kind_b), (k, n), by_columns=kind_b in _IN_WORD)
    made = product(op, left, right, _whole(accumulators(c, kind_c), (m, n)), kind_d)
    with np.errstate(all="ignore"):
        words = made.reshape(len(made), -1).astype(_ELEMENTS.get(kind_d, np.float32))
    flat = np.ascontiguousarray(words).view(_REGISTERS.get(kind_d, np.uint32)).reshape(op.count, outputs)
    return tuple(np.ascontiguousarray(flat[:, i]) for i in range(outputs))


def _kinds(op: Op) -> list[str]:
    """Types of d, a, b, c; halves are not named as those of a and b."""
    found = types(op)
    return found if len(found) == 4 else [found[0], "f16", "f16", found[1]]


def _whole(parts: Any, shape: tuple[int, int], by_columns: bool = False) -> Any:
    flat = parts.reshape(len(parts), -1)[:, : shape[0] * shape[1]]
    return flat.reshape(-1, shape[1], shape[0]).swapaxes(1, 2) if by_columns else flat.reshape(-1, *shape)
