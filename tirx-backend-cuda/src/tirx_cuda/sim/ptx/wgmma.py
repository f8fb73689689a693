"""Meanings of products of a warpgroup, whose matrices lie in shared memory as descriptors say.

A product is computed when it is issued: that registers and shared memory must be left alone until `wgmma.wait_group` is not
checked. Each warp computes its own 16 rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.ir import DType
from tirx.sim.memory import SHARED_RANK_BITS

from .fragments import WARP, elements, gathered, registers, scattered, whole_warps
from .mma import sizes, types
from .run import Op

__all__ = ["mma_async"]

_UNIT = DType("uint32x4")  # matrices are read in units of 16 bytes; a row has two of them
_SWIZZLED = (0, 7, 3, 1)  # how many units change places: for modes 0 (none), 1 (128 bytes), 2 (64), 3 (32)


def mma_async(op: Op, *values: Any) -> Any:
    """D = a * b + d."""
    sums = [part for part in op.form.parts if part.rw == "rw"]
    if not whole_warps(op):
        return values[: len(sums)]
    names = [part.name for part in op.form.parts if part.rw != "w"]
    given = dict(zip(names[len(sums) :], values[len(sums) :], strict=True))
    _, n, k = sizes(op)
    kind_d, kind_a, kind_b = types(op)[:3]
    left = _left(op, given, kind_a, k) * _number(given, "imm-scale-a", 1)
    right = _matrix(op, given["b-desc"], kind_b, 0, n, _number(given, "imm-trans-b", 0)) * _number(
        given, "imm-scale-b", 1
    )
    start = _start(op, values[: len(sums)], kind_d, n)
    keep = op.full(given["scale-d"]).astype(bool).reshape(-1, WARP)[:, :1, None]
    with np.errstate(all="ignore"):
        made = np.matmul(left, right.swapaxes(1, 2)).astype(np.int64 if kind_d == "s32" else np.float32)
        made = np.where(keep, made + start, made)
        if op.has("satfinite"):
            made = np.clip(made, -(2**31), 2**31 - 1)
    return _returned(made, kind_d, len(sums))


def _number(given: dict[str, Any], name: str, default: int) -> int:
    return int(given.get(name, default))


# ---- operands in shared memory --------------------------------------------------------------------------------------


def _left(op: Op, given: dict[str, Any], kind: str, k: int) -> Any:
    """The rows of matrix A that each warp multiplies: (warps, 16, k)."""
    if "a-desc" in given:
        first = 16 * (np.asarray(op.ctx.id("warp", "cta")) % 4)
        return _matrix(op, given["a-desc"], kind, first, 16, _number(given, "imm-trans-a", 0))
    words = registers(op, [value for name, value in given.items() if name[0] == "a"])
    return gathered(elements(words, kind), "a", (16, k))


def _matrix(op: Op, descriptor: Any, kind: str, first: Any, rows: int, transposed: int) -> Any:
    """`rows` rows (of A, or columns of B) from row `first` on: (warps, rows, k)."""
    described = op.full(descriptor).astype(np.uint64).astype(np.int64)
    if ((described >> 49) & 7).any():
        op.ctx.unmodelled("a base offset in a matrix descriptor")
    lane = np.tile(np.arange(WARP), op.count // WARP)
    parts = []
    for start in range(0, 2 * rows, WARP):
        unit = (start + lane) % (2 * rows)
        parts.append(op.ctx.load(_address(op, described, unit, first, transposed), _UNIT).reshape(-1, WARP, 4))
    units = np.ascontiguousarray(np.concatenate(parts, axis=1)[:, : 2 * rows])
    made = elements(units, kind).reshape(len(units), 2 * rows, -1)
    if not transposed:
        return made.reshape(len(units), rows, -1)
    return made.reshape(len(units), rows // 8, 16, 8).swapaxes(2, 3).reshape(len(units), rows, 16)


def _address(op: Op, described: Any, unit: Any, first: Any, transposed: int) -> Any:
    """Where a unit lies. PTX ISA, "Strides" and "Swizzling modes" of matrices in shared memory."""
    leading, stride = ((described >> 16) & 0x3FFF) << 4, ((described >> 32) & 0x3FFF) << 4
    swizzled = np.array(_SWIZZLED)[(described >> 62) & 3]
    width = swizzled + 1  # units in a row of the pattern
    if transposed:  # units run along m or n: eight rows of k make an atom
        inner, outer = unit % 16, unit // 16 + first // 8
        plain = inner % 8 * 16 + inner // 8 * leading + outer * stride
        offset = inner % 8 * width * 16 + inner // 8 * stride + outer % width * 16 + outer // width * leading
    else:
        inner, outer = unit % 2, unit // 2 + first
        plain = outer % 8 * 16 + outer // 8 * stride + inner * leading
        offset = outer % 8 * width * 16 + outer // 8 * stride + inner * 16
    place = ((described & 0x3FFF) << 4) + np.where(swizzled == 0, plain, offset)
    place = place ^ (((place >> 7) & swizzled) << 4)
    return place | ((np.asarray(op.ctx.id("cta", "cluster")).astype(np.int64) + 1) << SHARED_RANK_BITS)


# ---- sums in registers ----------------------------------------------------------------------------------------------


def _start(op: Op, values: Any, kind: str, n: int) -> Any:
    """(warps, 16, n)."""
    words = registers(op, values)
    held = {"f32": np.float32, "s32": np.int32}.get(kind)
    parts = elements(words, kind) if held is None else np.ascontiguousarray(words).view(held)[..., None]
    warps, _, count, per_word = parts.shape
    blocks = parts.reshape(warps, WARP, n // 8, count * 8 // n, per_word).swapaxes(1, 2)
    made = gathered(blocks.reshape(-1, WARP, count * 8 // n, per_word), "c", (16, 8))
    return made.reshape(warps, n // 8, 16, 8).swapaxes(1, 2).reshape(warps, 16, n)


def _returned(matrices: Any, kind: str, count: int) -> tuple[Any, ...]:
    warps, _, n = matrices.shape
    blocks = matrices.reshape(warps, 16, n // 8, 8).swapaxes(1, 2).reshape(-1, 16, 8)
    each = count * 8 // n
    parts = scattered(blocks, "d", each, 2 if kind == "f16" else 1)
    if kind == "f16":
        with np.errstate(all="ignore"):
            words = np.ascontiguousarray(parts.astype(np.float16)).view(np.uint32)[..., 0]
    else:
        words = parts[..., 0].astype(np.int32).view(np.uint32) if kind == "s32" else parts[..., 0]
    flat = words.reshape(warps, n // 8, WARP, each).swapaxes(1, 2).reshape(-1, count)
    return tuple(flat[:, position] for position in range(count))
