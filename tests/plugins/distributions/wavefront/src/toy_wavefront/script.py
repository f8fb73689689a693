"""`Tx.wave`."""

from __future__ import annotations

from tirx.intrinsic import call
from tirx.ir import Call, Expr

from .op import SUM

__all__ = ["sum"]


def sum(value: Expr | float) -> Call:
    """The sum of `value` over the wave, in every thread of it."""
    return call(SUM, value)
