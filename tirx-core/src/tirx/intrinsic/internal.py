"""Intrinsics that lowering introduces; nobody writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir import DType, Expr
from .row import Intrinsic

__all__ = ["INTERNAL", "LAUNCH_INDEX"]


def _own_dtype(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return DType(attrs["dtype"])


LAUNCH_INDEX = Intrinsic(
    "tirx.launch_index",
    result=_own_dtype,
    attrs={"axis": "", "dtype": "int32"},
    meaning="tirx.sim.meanings.launch:launch_index",
    doc="position along a launch axis, such as `cta.x`",
)

INTERNAL = (LAUNCH_INDEX,)
