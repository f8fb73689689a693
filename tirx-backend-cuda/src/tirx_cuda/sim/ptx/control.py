"""Meanings of what is no computation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .run import Op

__all__ = ["brkpt", "nothing", "trap"]


def nothing(op: Op, *values: Any) -> None:
    """Time and registers are not modelled."""


def trap(op: Op) -> None:
    """The kernel stops with an error."""
    op.ctx.finding("trap", "a trap is executed", np.ones(op.count, bool))


def brkpt(op: Op) -> None:
    """A debugger would stop here."""
    op.ctx.print("a breakpoint is reached")
