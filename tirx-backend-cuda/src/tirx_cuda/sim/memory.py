"""Meanings of loads and addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

from ..op_memory import COPIES
from .ptx.address import in_cta, rank_of

__all__ = ["copy_bytes", "cvta_generic_to_shared", "ld_acquire", "ldg", "leader_address", "low_half"]


def ldg(ctx: SimContext, addr: Any, *, dtype: str) -> Any:
    """A load; whether somebody writes there is the race check's business."""
    return ctx.load(addr, DType(dtype))


def ld_acquire(ctx: SimContext, addr: Any, *, dtype: str, scope: str) -> Any:
    """A load that orders, as an atomic update that changes nothing."""
    return ctx.atomic(addr, DType(dtype), lambda old, _: old, np.zeros(ctx.count, np.int64))


def cvta_generic_to_shared(ctx: SimContext, ptr: Any) -> Any:
    """The low half of the address: shared windows have 32-bit addresses."""
    return (np.broadcast_to(np.asarray(ptr), (ctx.count,)).astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def low_half(ctx: SimContext, a: Any) -> Any:
    """The low 32 bits."""
    return (np.broadcast_to(np.asarray(a), (ctx.count,)).astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def leader_address(ctx: SimContext, ptr: Any) -> Any:
    """The same offset in the window of the cta with the even rank."""
    address = low_half(ctx, ptr).astype(np.int64)
    return in_cta(address, rank_of(address) & ~1).astype(np.uint32)


def copy_bytes(ctx: SimContext, dst: Any, src: Any, count: int) -> None:
    """One load and one store."""
    kind = DType(COPIES[int(count)])
    ctx.store(dst, kind, ctx.load(src, kind))
