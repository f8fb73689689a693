"""`Tx.wave_fast` and the row behind it."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import Intrinsic, Operand, SimContext, call
from tirx.ir import Call, Expr

__all__ = ["DOUBLE", "double"]

DOUBLE = Intrinsic(
    "wave_fast.double",
    [Operand("value", dtypes=("float32",))],
    "arg:value",
    doc="twice `value`",
    meaning="toy_wavefront_fast.op:meaning",
)


def double(value: Expr | float) -> Call:
    """Twice `value`."""
    return call(DOUBLE, value)


def meaning(ctx: SimContext, value: Any) -> Any:
    """What it means."""
    return value + value
