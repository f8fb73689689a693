"""Meanings of descriptors and fragments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

from ..descriptor import block_scaled_instruction, instruction, matrix_constant
from .warp import lane_of

__all__ = [
    "encode_block_scaled", "encode_instruction", "encode_tcgen05", "encode_wgmma", "mma_fill", "mma_store", "noop_barrier",
    "runtime_instruction",
]  # fmt: skip

_U32, _U64 = DType("uint32"), DType("uint64")
_MOST = 2**14 - 1


def _encode(ctx: SimContext, name: str, desc: Any, addr: Any, ldo: Any, sdo: Any, swizzle: int) -> None:
    address = np.broadcast_to(np.asarray(addr, np.int64), (ctx.count,)).astype(np.uint64)
    loose = address % np.uint64(16) != 0
    if loose.any():
        ctx.finding("descriptor", "the matrix does not start at a multiple of 16 bytes", loose)
    word = np.uint64(matrix_constant(name, 0, 0, int(swizzle))) | (address & np.uint64(0x3FFFF)) >> np.uint64(4)
    for offset, shift in ((ldo, 16), (sdo, 32)):
        given = np.broadcast_to(np.asarray(offset, np.int64), (ctx.count,))
        wide = (given < 0) | (given > _MOST)
        if wide.any():
            ctx.finding(
                "descriptor", f"an offset of {int(given[wide][0])} units of 16 bytes; there are 14 bits for it", wide
            )
        word = word | (given & _MOST).astype(np.uint64) << np.uint64(shift)
    ctx.store(desc, _U64, word)


def encode_wgmma(ctx: SimContext, desc: Any, addr: Any, ldo: Any, sdo: Any, swizzle: int) -> None:
    """The descriptor that wgmma reads."""
    _encode(ctx, "wgmma", desc, addr, ldo, sdo, swizzle)


def encode_tcgen05(ctx: SimContext, desc: Any, addr: Any, ldo: Any, sdo: Any, swizzle: int) -> None:
    """The descriptor that tcgen05 reads."""
    _encode(ctx, "tcgen05", desc, addr, ldo, sdo, swizzle)


def encode_instruction(ctx: SimContext, desc: Any, **fields: Any) -> None:
    """A constant."""
    ctx.store(desc, _U32, np.full(ctx.count, instruction(**fields), np.uint32))


def encode_block_scaled(ctx: SimContext, desc: Any, sfa_tmem_addr: Any, sfb_tmem_addr: Any, **fields: Any) -> None:
    """A constant, and the ids of scales that the two highest bits of their addresses give."""
    word = np.full(ctx.count, block_scaled_instruction(**fields), np.uint32)
    for address, shift in ((sfa_tmem_addr, 29), (sfb_tmem_addr, 4)):
        number = np.asarray(address).astype(np.int64).astype(np.uint32) >> np.uint32(30)
        word = word | number << np.uint32(shift)
    ctx.store(desc, _U32, word)


def runtime_instruction(ctx: SimContext, desc: Any, sf_id: Any) -> None:
    """Both ids of scales become `sf_id`."""
    number = np.broadcast_to(np.asarray(sf_id).astype(np.uint32) & np.uint32(3), (ctx.count,))
    old = ctx.load(desc, _U32) & np.uint32(~0x60000030 & 0xFFFFFFFF)
    ctx.store(desc, _U32, old | number << np.uint32(29) | number << np.uint32(4))


def noop_barrier(ctx: SimContext, reg: Any) -> None:
    """Registers of the simulator stay where they are."""


def mma_fill(ctx: SimContext, local_size: int, local_ptr: Any, offset: Any, *, dtype: str) -> None:
    """Zeros."""
    kind = DType(dtype)
    for i in range(int(local_size)):
        ctx.store(np.asarray(local_ptr) + (np.asarray(offset) + i) * kind.bytes, kind, 0)


def mma_store(
    ctx: SimContext, m: int, n: int, dst_ptr: Any, src_ptr: Any, src_offset: Any, dst_stride: Any, *, dtype: str
) -> None:
    """Lane by lane: pairs of columns, rows eight apart, then the other eight columns."""
    kind, lane = DType(dtype), lane_of(ctx)
    for i in range(8):
        row, column = i // 2 % 2 * 8 + lane // 4, i // 4 * 8 + lane % 4 * 2 + i % 2
        value = ctx.load(np.asarray(src_ptr) + (np.asarray(src_offset) + i) * kind.bytes, kind)
        ctx.store(np.asarray(dst_ptr) + (row * np.asarray(dst_stride) + column) * kind.bytes, kind, value)
