"""Matrices of which half the elements are zero: what metadata says, and products with them by a warp.

Two indices of two bits (four bits together) say for each chunk of a row where its stored elements belong. PTX ISA, "Sparse matrix
storage" and "Matrix fragments for multiply-accumulate operation with sparse matrix A"; of four neighbouring threads one, two or all
hold the metadata of a row and of the row eight below.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .fragments import WARP, elements, gathered, registers, whole_warps
from .mma import accumulators, product, returned, sizes, types
from .run import Op

__all__ = ["MEANINGFUL", "PAIRED", "Chunk", "chunk_of", "expanded", "of_warps", "product_of_warp"]


class Chunk(NamedTuple):
    """`width` neighbouring elements of a row, of which those at `places` (of the first and second index) are stored."""

    width: int
    places: Any


_SINGLE = Chunk(2, lambda first, second: [first >> 1])  # an element counts as two halves
_PLAIN = Chunk(4, lambda first, second: [first, second])
PAIRED = Chunk(8, lambda first, second: [2 * first, 2 * first + 1, 2 * second, 2 * second + 1])
MEANINGFUL = {
    "tf32": frozenset([0b1110, 0b0100]),
    "ordered": frozenset([0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110]),
    "tcgen05": frozenset([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110]),
    "any": frozenset(range(16)) - {0b0000, 0b0101, 0b1010, 0b1111},
}


def chunk_of(kind: str) -> Chunk:
    """The chunks of a row of elements of a type."""
    return _SINGLE if kind == "tf32" else PAIRED if kind in ("u4", "s4") else _PLAIN


def expanded(op: Op, stored: Any, nibbles: Any, chunk: Chunk, meaningful: frozenset[int]) -> Any:
    """Rows with their zeros: (..., k) from (..., k / 2) and the metadata of each chunk, (..., chunks)."""
    strange = ~np.isin(nibbles, list(meaningful))
    if strange.any():
        text = f"metadata {int(nibbles[strange][0]):#06b} of {op.form.mnemonic} means nothing"
        op.ctx.finding("undefined_operand", text)
    first = chunk.width * np.arange(nibbles.shape[-1])
    places = np.stack(chunk.places(nibbles & 3, nibbles >> 2), axis=-1) + first[:, None]
    made = np.zeros((*stored.shape[:-1], chunk.width * nibbles.shape[-1]), stored.dtype)
    np.put_along_axis(made, places.reshape(*places.shape[:-2], -1), stored, axis=-1)
    return made


def of_warps(words: Any, selector: int, wide: bool, chunks: int) -> Any:
    """The metadata of 16 rows of each warp, (warps, 16, chunks), from a register of each lane. `wide`: elements of two bytes and more."""
    threads = chunks // 4  # of four, that hold metadata
    quads = words.reshape(-1, WARP // 4, 4)[..., selector * threads : (selector + 1) * threads].astype(np.int64)
    each = min(chunks, 4 if wide else 8)  # chunks of a row in one word
    parts = quads[..., None] >> (4 * np.arange(8)) & 15  # (warps, groups, threads, nibbles)
    if wide:  # the lower half of a word is of a row, the upper one of the row eight below
        rows = parts.reshape(*quads.shape, 2, each).swapaxes(2, 3)
    else:  # threads take turns: a row, the row eight below, then both once more
        rows = parts.reshape(*quads.shape[:2], threads // 2, 2, each).swapaxes(2, 3)
    return rows.reshape(len(quads), 8, 2, chunks).swapaxes(1, 2).reshape(len(quads), 16, chunks)


def product_of_warp(op: Op, *values: Any) -> Any:
    """D = a * b + c."""
    outputs = [part for part in op.form.parts if part.rw == "w"]
    if not whole_warps(op):
        return tuple(np.zeros(op.count, np.asarray(values[-3]).dtype) for _ in outputs)
    names = [part.name for part in op.form.parts if part.rw == "r"]
    given = dict(zip(names, values, strict=True))
    a, b, c = (registers(op, [v for name, v in given.items() if name[0] == x]) for x in "abc")
    m, n, k = sizes(op)
    kind_d, kind_a, kind_b, kind_c = types(op)
    chunk = chunk_of(kind_a)
    stored = gathered(elements(a, kind_a), "a", (m, k // 2))
    words = registers(op, [given["e"]])[..., 0]
    nibbles = of_warps(words, int(given["f"]), kind_a in ("f16", "bf16", "tf32"), k // chunk.width)
    meaningful = "tf32" if kind_a == "tf32" else "ordered" if "ordered" in op.get("sp") else "any"
    left = expanded(op, stored, nibbles, chunk, MEANINGFUL[meaningful])
    right = gathered(elements(b, kind_b), "b", (k, n))
    start = gathered(accumulators(c, kind_c), "c", (m, n))
    return returned(product(op, left, right, start, kind_d), kind_d, len(outputs))
