"""`Tx.cuda_extras`: an intrinsic, its meaning, and how CUDA C++ writes it."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import Emission, Intrinsic, Operand, SimContext, call
from tirx.ir import Call, Expr

__all__ = ["saturate"]

SATURATE = Intrinsic(
    "cuda_extras.saturate",
    [Operand("value", dtypes=("float32",))],
    "arg:value",
    doc="`value` clamped to 0 and 1",
    meaning="tirx_cuda_extras.op:meaning",
)
EMISSION = Emission("cuda_extras.saturate", "cuda", "__saturatef({0})")


def saturate(value: Expr | float) -> Call:
    """`value` clamped to 0 and 1."""
    return call(SATURATE, value)


def meaning(ctx: SimContext, value: Any) -> Any:
    """The same in NumPy."""
    import numpy as np  # only where somebody simulates

    return np.clip(value, 0, 1)
