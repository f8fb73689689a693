"""The accumulation registers of the engines: one number per partition that outlives an instruction."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from tirx.intrinsic import SimContext

from .functions import REDUCE

__all__ = ["accumulated"]

_HELD: WeakKeyDictionary[Any, dict[str, tuple[str, Any]]] = (
    WeakKeyDictionary()
)  # by simulation: engine -> (operation, values)


def accumulated(ctx: SimContext, engine: str, command: str, op: str, values: Any) -> Any:
    """What the registers hold after an instruction whose own reduction gave `values`."""
    held = _HELD.setdefault(ctx, {})
    if command == "reduce":
        before = held.get(engine)
        if before is None or before[0] != op or before[1].shape != values.shape:
            ctx.finding("accumulation", f"the {engine} engine goes on with a {op} that no instruction before it began")
        else:
            values = REDUCE[op](before[1], values)
    held[engine] = (op, values)
    return values
