"""Meanings of what the threads of a warp do together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..warp import lane_of, named, pack
from .floats import canonical
from .run import Op

__all__ = ["activemask", "ballot", "elect", "match", "redux", "shfl", "vote"]


def _lanes(op: Op, value: Any, mask: Any) -> tuple[Any, Any]:
    """Per thread the values of its warp, and which lanes the mask names."""
    values, present = op.ctx.collect(op.full(value))
    return values, named(op.ctx, mask, present, op.form.mnemonic)


def shfl(op: Op, value: Any, b: Any, c: Any, mask: Any) -> Any:
    """The value of another lane; whether that lane lies in range."""
    value = op.full(value)
    named(op.ctx, mask, op.ctx.collect(np.ones(op.count, bool))[1], op.form.mnemonic)
    lane = lane_of(op.ctx).astype(np.int64)
    offset, control = (np.asarray(item).astype(np.int64) for item in (b, c))
    offset, clamp, segment = offset & 31, control & 31, (control >> 8) & 31
    highest, lowest = (lane & segment) | (clamp & ~segment & 31), lane & segment
    source = {
        "up": lane - offset,
        "down": lane + offset,
        "bfly": lane ^ offset,
        "idx": lowest | (offset & ~segment & 31),
    }[op.get("mode")]
    inside = source >= highest if op.get("mode") == "up" else source <= highest
    made = op.ctx.exchange(value, np.where(inside, source, lane))
    return (made, inside) if len([part for part in op.form.parts if part.rw == "w"]) == 2 else made


def vote(op: Op, value: Any, mask: Any) -> Any:
    """Whether all, any, or all or none of the named lanes say yes."""
    values, chosen = _lanes(op, value, mask)
    every, some = (values | ~chosen).all(axis=1), (values & chosen).any(axis=1)
    return {"all": every, "any": some, "uni": every | ~some}[op.get("mode")]


def ballot(op: Op, value: Any, mask: Any) -> Any:
    """The named lanes that say yes."""
    values, chosen = _lanes(op, value, mask)
    return pack(values & chosen)


def match(op: Op, value: Any, mask: Any) -> Any:
    """The named lanes with the same value; of `all`, only where it is the same in all."""
    values, chosen = _lanes(op, value, mask)
    same = (values == op.full(value)[:, None]) & chosen
    if op.form.row.slots[1].choices[0] == "any":
        return pack(same)
    together = (same == chosen).all(axis=1)
    made = np.where(together, pack(chosen), 0).astype(np.uint32)
    return (made, together) if len(op.form.parts) == 4 else made


def activemask(op: Op) -> Any:
    """The lanes that are here."""
    return pack(op.ctx.collect(np.ones(op.count, bool))[1])


def elect(op: Op, mask: Any) -> Any:
    """The lowest named lane; whether that is the own one."""
    _, present = op.ctx.collect(np.ones(op.count, bool))
    leader = named(op.ctx, mask, present, op.form.mnemonic).argmax(axis=1)
    return leader.astype(np.uint32), leader == lane_of(op.ctx)


_FOLDS: dict[str, tuple[Any, Callable[[Any], int]]] = {
    "add": (np.add, lambda info: 0),
    "min": (np.minimum, lambda info: info.max),
    "max": (np.maximum, lambda info: info.min),
    "and": (np.bitwise_and, lambda info: info.max),
    "or": (np.bitwise_or, lambda info: 0),
    "xor": (np.bitwise_xor, lambda info: 0),
}


def redux(op: Op, value: Any, mask: Any) -> Any:
    """The named lanes' values combined."""
    values, chosen = _lanes(op, value, mask)
    name = op.get("op") or op.get("bop") or op.get("fop")
    if values.dtype.kind == "f":
        return _redux_float(op, values, chosen, name)
    fold, neutral = _FOLDS[name]
    filled = np.where(chosen, values, values.dtype.type(neutral(np.iinfo(values.dtype))))
    return fold.reduce(filled, axis=1).astype(values.dtype)


def _redux_float(op: Op, values: Any, chosen: Any, name: str) -> Any:
    values = np.abs(values) if op.has("abs") else values
    strict = op.has("NaN")
    fold: Any = {
        ("min", True): np.minimum,
        ("max", True): np.maximum,
        ("min", False): np.fmin,
        ("max", False): np.fmax,
    }[name, strict]
    filled = np.where(chosen, values, np.float32(np.inf if name == "min" else -np.inf))
    made = fold.reduce(filled, axis=1)
    nothing = (np.isnan(values) | ~chosen).all(axis=1)
    return canonical(np.where(nothing, np.float32(np.nan), made))
