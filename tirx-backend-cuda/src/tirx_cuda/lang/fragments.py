"""Tiles in the registers of a warpgroup, and buffers in tensor memory: `Tx.wg_reg_tile` and its like.

row = Tx.wg_reg_tile(64)                                                    # (128, 64): a row for each thread
part = Tx.alloc_tcgen05_ldst_frag("16x256b", (64, 64), "float32")           # as tcgen05.ld of that shape fills registers
half = Tx.alloc_cast_frag(part, "bfloat16")                                 # the same places, of another type
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.ir import Buffer, DType, current_span
from tirx.script.builder import alloc_buffer, alloc_local
from tirx.support.errors import ScriptError

from ..layout.tcgen05 import tcgen05_atom_layout
from ..layout.warpgroup import THREADS, wg_local_layout

__all__ = ["alloc_cast_frag", "alloc_tcgen05_ldst_frag", "tmem", "wg_reg_tile"]


def wg_reg_tile(elem_per_thread: int, dtype: str | DType = "float32") -> Buffer:
    """A tile `(128, elem_per_thread)` in registers: thread r of the warpgroup holds row r."""
    made: Buffer = alloc_local((THREADS, elem_per_thread), dtype, layout=wg_local_layout(elem_per_thread))
    return made


def alloc_tcgen05_ldst_frag(instr_shape: str, tensor_shape: Sequence[int], dtype: str | DType) -> Buffer:
    """A tile in registers, as `tcgen05.ld` and `tcgen05.st` of a shape (`32x32b`, `16x64b`, `16x128b`, `16x256b`) place it."""
    layout = tcgen05_atom_layout(instr_shape, tensor_shape, dtype)
    made: Buffer = alloc_local(tuple(tensor_shape), dtype, layout=layout)
    return made


def alloc_cast_frag(src: Buffer, dtype: str | DType) -> Buffer:
    """A tile in registers with the shape and the layout of `src` and another type: a cast moves nothing between threads."""
    if getattr(src, "scope_name", None) != "local":
        raise ScriptError("src is no tile in registers", span=current_span(), hint="give what alloc_local made")
    made: Buffer = alloc_local(src.shape, dtype, layout=src.layout)
    return made


def tmem(shape: Sequence[int], dtype: str | DType = "float32", *, allocated_addr: Any = None, **options: Any) -> Buffer:
    """A buffer in tensor memory at column `allocated_addr`; `Tx.TMEMPool` counts columns for you."""
    if allocated_addr is None:
        raise ScriptError(
            "a buffer in tensor memory needs its column",
            span=current_span(),
            hint="give allocated_addr, or use TMEMPool",
        )
    made: Buffer = alloc_buffer(shape, dtype, scope="tmem", allocated_addr=allocated_addr, **options)
    return made
