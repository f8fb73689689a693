"""Meanings of products of a warpgroup, whose matrices lie in shared memory as descriptors say.

A product is computed when it is issued: that registers and shared memory must be left alone until `wgmma.wait_group` is not
checked. Each warp computes its own 16 rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .described import UNIT, Place
from .fragments import WARP, elements, gathered, registers, scattered, whole_warps
from .mma import sizes, types
from .run import Op

__all__ = ["mma_async"]


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
    place = Place.of_wgmma(op, op.full(descriptor).astype(np.uint64).astype(np.int64), bool(transposed), kind)
    lane = np.tile(np.arange(WARP), op.count // WARP)
    parts = []
    for start in range(0, 2 * rows, WARP):
        address = place.address((start + lane) % (2 * rows), first)
        parts.append(op.ctx.load(address, UNIT).reshape(-1, WARP, 4))
    return place.matrices(np.concatenate(parts, axis=1)[:, : 2 * rows])


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
