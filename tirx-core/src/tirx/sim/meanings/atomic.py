"""Atomic updates, one thread after the other; each gives the old value."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["atomic_add", "atomic_cas", "atomic_exch", "atomic_max", "atomic_min"]


def exchange(old: Any, value: Any) -> Any:
    """Memory becomes the value."""
    return value


def compare_and_swap(old: Any, compare: Any, value: Any) -> Any:
    """Memory becomes the value where it equals `compare`."""
    return np.where(old == compare, value, old)


def atomic_add(ctx: Any, pointer: Any, value: Any) -> Any:
    """Memory += value."""
    return ctx.atomic(pointer, ctx.dtype, np.add, value)


def atomic_max(ctx: Any, pointer: Any, value: Any) -> Any:
    """Memory = max(memory, value)."""
    return ctx.atomic(pointer, ctx.dtype, np.maximum, value)


def atomic_min(ctx: Any, pointer: Any, value: Any) -> Any:
    """Memory = min(memory, value)."""
    return ctx.atomic(pointer, ctx.dtype, np.minimum, value)


def atomic_exch(ctx: Any, pointer: Any, value: Any) -> Any:
    """Memory = value."""
    return ctx.atomic(pointer, ctx.dtype, exchange, value)


def atomic_cas(ctx: Any, pointer: Any, compare: Any, value: Any) -> Any:
    """Memory = value where memory == compare."""
    return ctx.atomic(pointer, ctx.dtype, compare_and_swap, (compare, value))
