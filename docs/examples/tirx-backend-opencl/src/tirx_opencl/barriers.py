"""How the threads of a work-group, and of a warp, wait for each other."""

from __future__ import annotations

from collections.abc import Callable

from tirx.intrinsic.core.collective import tvm_storage_sync
from tirx.ir import Call, Expr

__all__ = ["cta", "warp"]


def cta(ids: Callable[[str, str], Expr]) -> Call:
    """All work-items of the work-group meet."""
    return tvm_storage_sync("shared")


def warp(ids: Callable[[str, str], Expr]) -> Call:
    """The threads of a warp meet."""
    return tvm_storage_sync("warp")
