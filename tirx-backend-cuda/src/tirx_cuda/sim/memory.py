"""Meanings of loads and addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

__all__ = ["cvta_generic_to_shared", "ld_acquire", "ldg"]


def ldg(ctx: SimContext, addr: Any, *, dtype: str) -> Any:
    """A load; whether somebody writes there is the race check's business."""
    return ctx.load(addr, DType(dtype))


def ld_acquire(ctx: SimContext, addr: Any, *, dtype: str, scope: str) -> Any:
    """A load that orders, as an atomic update that changes nothing."""
    return ctx.atomic(addr, DType(dtype), lambda old, _: old, np.zeros(ctx.count, np.int64))


def cvta_generic_to_shared(ctx: SimContext, ptr: Any) -> Any:
    """The low half of the address: shared windows have 32-bit addresses."""
    return (np.broadcast_to(np.asarray(ptr), (ctx.count,)).astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
