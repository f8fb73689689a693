"""Sums and products of 8 and 16-bit integers, which wrap: engines saturate where they write, so the low bits are taken first.

t = a op b                     exact, in 32 bits (nisa.tensor_tensor on GpSimd)
t = t & mask                   unsigned
t = ((t + half) & mask) - half signed
"""

from __future__ import annotations

from typing import Any

from .. import script as nki
from .work import Work

__all__ = ["combine_small"]


def combine_small(work: Work, opcode: str, result: Any, first: str, second: str) -> None:
    """`result = first opcode second` modulo the width of its type."""
    kind = result.buffer.dtype
    wide = "uint32" if kind.is_uint and opcode == "mul" else "int32"
    total = work.scratch(dtype=wide)
    nki.tensortensor(total, _widened(work, first, wide), _widened(work, second, wide), opcode)
    mask, half = 2**kind.bits - 1, 2 ** (kind.bits - 1)
    if not kind.is_uint:
        above = work.scratch(dtype=wide)
        nki.memset(above, half)
        nki.tensortensor(total, total, above, "add")
    nki.tensorscalar(total, total, mask, "bitwise_and")
    if not kind.is_uint:
        nki.tensorscalar(total, total, half, "sub")
    nki.tensor_copy(result, total)


def _widened(work: Work, name: str, dtype: str) -> Any:
    made = work.scratch(dtype=dtype)
    nki.tensor_copy(made, work.tile(name, dtype))
    return made
