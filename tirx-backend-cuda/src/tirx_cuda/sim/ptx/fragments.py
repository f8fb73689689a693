"""Where the elements of matrices lie in the registers of a warp, and how registers become elements.

A fragment is a table of (row, column) for each lane, register and element of a register; PTX ISA, "Matrix fragments".
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from .run import WARP, Op

__all__ = ["WARP", "elements", "fragment", "gathered", "registers", "scattered", "spread", "whole_warps"]


def whole_warps(op: Op) -> bool:
    """Whether every lane of each warp takes part; a finding where not."""
    lanes = np.asarray(op.ctx.id("thread", "warp"))
    if len(lanes) % WARP == 0 and (lanes.reshape(-1, WARP) == np.arange(WARP)).all():
        return True
    present = op.ctx.collect(np.ones(op.count, bool))[1]
    op.ctx.finding("absent_lane", f"not all lanes of the warp take part in {op.form.mnemonic}", ~present.all(axis=1))
    return False


def registers(op: Op, values: Any) -> Any:
    """Registers as an array (warps, lanes, registers)."""
    return np.stack([op.full(value) for value in values], axis=-1).reshape(-1, WARP, len(values))


_PER_WORD = {
    "f16": 2, "bf16": 2, "ti16": 2, "tf32": 1, "e4m3": 4, "e5m2": 4, "u8": 4, "s8": 4, "u4": 8, "s4": 8, "b1": 32, "f64": 1, "f32": 1,
    "s32": 1, "e3m2": 4, "e2m3": 4, "e2m1": 4, "e2m1 packed": 8,
}  # fmt: skip
_SMALL = {
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e3m2": ml_dtypes.float6_e3m2fn, "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def elements(words: Any, kind: str) -> Any:
    """Registers (..., registers) as their elements (..., registers, elements), in a type that multiplies exactly."""
    words = np.ascontiguousarray(words)
    if kind in ("f64", "f32", "s32"):
        return words[..., None]
    words = words.view(np.uint32)
    shape = (*words.shape, _PER_WORD[kind])
    if kind == "f16":
        return words.view(np.float16).reshape(shape).astype(np.float32)
    if kind == "bf16":
        return (words.view(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    if kind == "ti16":  # a sign, four zeros, eleven bits
        halves = words.view(np.uint16)
        return (np.where(halves >> 15, -1, 1) * (halves & 0x7FF)).astype(np.float32).reshape(shape)
    if kind == "tf32":
        return (words & np.uint32(0xFFFFE000)).view(np.float32).reshape(shape)
    if kind in _SMALL:
        return _small(words.view(np.uint8), kind).reshape(shape)
    if kind in ("u8", "s8"):
        return words.view(np.uint8 if kind == "u8" else np.int8).reshape(shape).astype(np.float32)
    if kind == "e2m1 packed":
        nibbles = np.stack([words.view(np.uint8) & 0xF, words.view(np.uint8) >> 4], axis=-1)
        return nibbles.view(_SMALL["e2m1"]).astype(np.float32).reshape(shape)
    return _nibbles_or_bits(words, kind, shape)


def spread(words: Any, bits: int) -> Any:
    """Sixteen elements that lie close together in some words, each in a byte of its own: (n, 16)."""
    data = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    parts = data[..., : 16 * bits].reshape(-1, 16, bits)
    return (parts << np.arange(bits, dtype=np.uint8)).sum(axis=-1).astype(np.uint8)


def _small(data: Any, kind: str) -> Any:
    """Bytes that hold formats of 8 bits and fewer; 4-bit ones lie in the middle of their byte (bits 2 to 5)."""
    if kind == "e2m1":
        data = (data >> 2) & 0xF
    if kind in ("e3m2", "e2m3"):
        data = data & 0x3F
    return data.view(_SMALL[kind]).astype(np.float32)


def _nibbles_or_bits(words: Any, kind: str, shape: tuple[int, ...]) -> Any:
    width = 1 if kind == "b1" else 4
    parts = (words[..., None] >> np.arange(0, 32, width, dtype=np.uint32)) & np.uint32((1 << width) - 1)
    made = parts.astype(np.int32)
    if kind == "s4":
        made = np.where(made >= 8, made - 16, made)
    return made.reshape(shape).astype(np.float32)


@cache
def fragment(role: str, shape: tuple[int, int], count: int, per_word: int) -> Any:
    """Position (row * columns + column) of each (lane, register, element), flat."""
    lane = np.arange(WARP)[:, None, None]
    register = np.arange(count)[None, :, None]
    element = np.arange(per_word)[None, None, :]
    group, member = lane >> 2, lane & 3
    if role == "a":
        tall = shape[0] == 16
        row = group + 8 * (register & 1) if tall else group + 0 * register
        step = register >> 1 if tall else register
        column = member * per_word + element + step * 4 * per_word
    elif role == "b":
        row = member * per_word + element + register * 4 * per_word
        column = group + 0 * row
    elif per_word == 2:  # packed accumulators
        row, column = group + 8 * register, member * 2 + element
    else:
        row, column = group + 8 * (register >> 1), member * 2 + (register & 1) + element
    position: Any = np.broadcast_to(row * shape[1] + column, (WARP, count, per_word)).reshape(-1)
    return position


@cache
def _inverse(role: str, shape: tuple[int, int], count: int, per_word: int) -> Any:
    return np.argsort(fragment(role, shape, count, per_word))


def gathered(parts: Any, role: str, shape: tuple[int, int]) -> Any:
    """Elements (warps, lanes, registers, elements) as matrices (warps, rows, columns)."""
    _, _, count, per_word = parts.shape
    order = _inverse(role, shape, count, per_word)
    return parts.reshape(parts.shape[0], -1)[:, order].reshape(-1, *shape)


def scattered(matrices: Any, role: str, count: int, per_word: int) -> Any:
    """Matrices (warps, rows, columns) as elements (warps, lanes, registers, elements)."""
    shape = matrices.shape[1:]
    order = fragment(role, shape, count, per_word)
    return matrices.reshape(len(matrices), -1)[:, order].reshape(len(matrices), WARP, count, per_word)
