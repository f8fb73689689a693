"""Meanings of matrix multiplication by a warp: one NumPy product for all warps.

Products are exact and sums are in float32 (float64 for doubles): hardware adds in an order and precision of its own (`model`).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .floating import fma_double
from .fragments import WARP, elements, gathered, registers, scattered, whole_warps
from .run import Op

__all__ = ["accumulators", "dense", "product", "returned", "sizes", "split", "types"]

_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def types(op: Op) -> list[str]:
    """Types of d, a, b, c as the mnemonic lists them."""
    words = op.form.mnemonic.split(".")
    at = next(i for i, word in enumerate(words) if word in ("f16", "f32", "f64", "s32"))
    return words[at : at + 4]


def sizes(op: Op) -> tuple[int, int, int]:
    """m, n and k."""
    found = _SHAPE.search(op.form.mnemonic)
    assert found is not None
    return int(found[1]), int(found[2]), int(found[3])


def split(op: Op, values: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """The registers of a, b and c."""
    lists: dict[str, list[Any]] = {"a": [], "b": [], "c": []}
    read = [part for part in op.form.parts if part.rw == "r"]
    for part, value in zip(read, values, strict=True):
        lists[part.name[0]].append(value)
    return lists["a"], lists["b"], lists["c"]


def dense(op: Op, *values: Any) -> Any:
    """D = a * b + c."""
    outputs = [part for part in op.form.parts if part.rw == "w"]
    if not whole_warps(op):
        zero = values[-1].dtype.type(0) if hasattr(values[-1], "dtype") else 0
        return tuple(np.full(op.count, zero) for _ in outputs)
    m, n, k = sizes(op)
    if (m, n, k) == (8, 8, 4) and "f64" not in types(op):
        return _quads(op, values)
    kind_d, kind_a, kind_b, kind_c = types(op)
    a, b, c = (registers(op, group) for group in split(op, values))
    left = gathered(elements(a, kind_a), "a", (m, k))
    right = gathered(elements(b, kind_b), "b", (k, n))
    start = gathered(accumulators(c, kind_c), "c", (m, n))
    return returned(product(op, left, right, start, kind_d), kind_d, len(outputs))


def accumulators(words: Any, kind: str) -> Any:
    """The elements of c."""
    if kind == "f32":
        return np.ascontiguousarray(words).view(np.float32)[..., None]
    if kind == "s32":
        return np.ascontiguousarray(words).view(np.int32)[..., None]
    return elements(words, kind)


def product(op: Op, left: Any, right: Any, start: Any, kind: str) -> Any:
    """The matrix product plus `start`, in the type that sums have; for float64 each step is rounded, as the mnemonic says."""
    with np.errstate(all="ignore"):
        if kind == "s32":
            return _integers(op, left, right, start)
        if kind == "f64":
            for k in range(left.shape[-1]):
                start = fma_double(op, left[..., k : k + 1], right[..., k : k + 1, :], start)
            return start
        return np.matmul(left, right) + start


def _integers(op: Op, left: Any, right: Any, start: Any) -> Any:
    bits = op.get("bop")
    if bits == "xor":  # differing bits: those of one that the other lacks, both ways
        product = np.matmul(left, 1 - right) + np.matmul(1 - left, right)
    else:
        product = np.matmul(left, right)
    total = product.astype(np.int64) + start
    if op.has("satfinite"):
        total = np.clip(total, -(2**31), 2**31 - 1)
    return total.astype(np.int32)


def returned(matrices: Any, kind: str, count: int) -> tuple[Any, ...]:
    """The registers of d, one array for each."""
    per_word = 2 if kind == "f16" else 1
    parts = scattered(matrices, "d", count, per_word)
    if kind == "f16":
        with np.errstate(all="ignore"):
            words = np.ascontiguousarray(parts.astype(np.float16)).view(np.uint32)[..., 0]
    else:
        words = parts[..., 0]
    flat = words.reshape(-1, count)
    return tuple(flat[:, position] for position in range(count))


# ---- m8n8k4: four products at once, each by two groups of four lanes ------------------------------------------------


def _quads(op: Op, values: Any) -> Any:
    layouts = op.get("alayout"), op.get("blayout")
    kind_d, kind_a, kind_b, kind_c = types(op)
    a, b, c = split(op, values)
    lane = np.arange(WARP)
    high = lane >= 16
    left = _quad(elements(registers(op, a), kind_a), *_half_places(lane, high, layouts[0] == "row", 0), (8, 4))
    right = _quad(elements(registers(op, b), kind_b), *_half_places(lane, high, layouts[1] == "col", 1), (4, 8))
    start = _quad(accumulators(registers(op, c), kind_c), *_sum_places(lane, high, kind_c), (8, 8))
    made = np.matmul(left, right) + start
    rows, columns = _sum_places(lane, high, kind_d)
    group = (lane % 16) // 4
    parts = made[:, group[:, None], rows, columns]
    if kind_d == "f16":
        words = np.ascontiguousarray(parts.astype(np.float16)).view(np.uint32)
    else:
        words = parts
    flat = words.reshape(-1, words.shape[-1])
    return tuple(flat[:, position] for position in range(flat.shape[1]))


def _half_places(lane: Any, high: Any, direct: bool, side: int) -> tuple[Any, Any]:
    """Rows and columns of the four halves of a lane. `direct`: the lane runs along the outer dimension (m or n)."""
    element = np.arange(4)[None, :]
    outer = (lane % 4 + 4 * high)[:, None] + 0 * element if direct else element + 4 * high[:, None]
    inner = element + 0 * lane[:, None] if direct else (lane % 4)[:, None] + 0 * element
    return (outer, inner) if side == 0 else (inner, outer)


def _sum_places(lane: Any, high: Any, kind: str) -> tuple[Any, Any]:
    element = np.arange(8)[None, :]
    if kind == "f16":
        return (lane % 4 + 4 * high)[:, None] + 0 * element, element + 0 * lane[:, None]
    rows = (lane & 1)[:, None] + (element & 2) + 4 * high[:, None]
    return rows, (element & 4) + (lane & 2)[:, None] + (element & 1)


def _quad(parts: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> Any:
    """Elements of each lane as four matrices for each warp."""
    flat = parts.reshape(len(parts), WARP, -1)
    made = np.zeros((len(parts), 4, *shape), flat.dtype)
    group = (np.arange(WARP) % 16) // 4
    made[:, group[:, None], rows, columns] = flat
    return made
