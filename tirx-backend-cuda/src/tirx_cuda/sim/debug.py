"""Meanings of printing and trapping."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["printf", "trap_when_assert_failed"]

_LENGTH = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)(?:hh|h|ll|l|z|j|t|L)?([diouxXcsfFeEgGaAp%])")


def _python_format(fmt: str) -> str:
    """C's format in Python's terms: no length modifiers, `%p` as a number."""
    return _LENGTH.sub(lambda found: f"%{found[1]}{'#x' if found[2] == 'p' else found[2]}".replace("%#x", "0x%x"), fmt)


def printf(ctx: SimContext, fmt: Any, *args: Any) -> None:
    """A line for each thread, in thread order."""
    text = _python_format(str(fmt))
    columns = [np.broadcast_to(np.asarray(arg), (ctx.count,)) for arg in args]
    for thread in range(ctx.count):
        ctx.print(text % tuple(column[thread].item() for column in columns))


def trap_when_assert_failed(ctx: SimContext, cond: Any) -> None:
    """A finding for the threads in which the condition is false."""
    failed = ~np.broadcast_to(np.asarray(cond, dtype=bool), (ctx.count,))
    if failed.any():
        ctx.finding("trap", "the condition of trap_when_assert_failed is false", failed)
