"""Meanings of comparison and selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .floats import flushed
from .run import NUMPY, Op

__all__ = ["selp", "set", "set_bytes", "setp", "slct"]

_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip
_BOOLEAN = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}


def _compared(op: Op, a: Any, b: Any) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if op.has("ftz"):
        a, b = flushed(a), flushed(b)
    name = op.get("cmpi") or op.get("cmpf") or op.get("cmpb")
    floating = a.dtype.kind not in "iu"
    unordered = np.isnan(a) | np.isnan(b) if floating else False
    if name == "num":
        return ~unordered
    if name == "nan":
        return unordered
    if name == "ne" and floating:
        return (a != b) & ~unordered
    if name in _PLAIN:
        return _PLAIN[name](a, b)
    return _PLAIN[name[:-1]](a, b) | unordered


def setp(op: Op, a: Any, b: Any, *c: Any) -> Any:
    """The comparison, combined with a predicate; a second destination gets its opposite, combined alike."""
    result = _compared(op, a, b)
    packed = result.ndim == 2
    pair = (result[:, 0], result[:, 1]) if packed else (result, ~np.asarray(result))
    if c:
        pair = tuple(_BOOLEAN[op.get("bool")](part, c[0]) for part in pair)
    count = sum(1 for part in op.form.parts if part.rw == "w")
    return pair[:count]


def set(op: Op, a: Any, b: Any, *c: Any) -> Any:
    """The comparison as a number: 1.0 for floats, all ones for integers."""
    result = _compared(op, a, b)
    if c:
        held = np.asarray(c[0])
        result = _BOOLEAN[op.get("bool")](result, held[:, None] if result.ndim == 2 and held.ndim else held)
    kind = op.form.parts[0].type
    assert kind is not None
    dtype, lanes = NUMPY[kind.name]
    if result.ndim == 2 and lanes == 1:  # a half word for each lane
        halves = np.where(result, 0xFFFF, 0).astype(np.uint32)
        return (halves[:, 0] | halves[:, 1] << np.uint32(16)).astype(dtype)
    true = -1 if dtype.kind in "iu" else 1
    return np.where(result, np.asarray(true).astype(dtype), dtype.type(0)).astype(dtype)


def set_bytes(op: Op, a: Any, b: Any) -> Any:
    """The comparison of each byte: all ones or none."""
    kind = np.int8 if op.get("quad") == "s8x4" else np.uint8
    left, right = (np.atleast_1d(np.ascontiguousarray(value)).view(kind).reshape(-1, 4) for value in (a, b))
    bytes_ = np.where(_PLAIN[op.get("cmp")](left, right), 0xFF, 0).astype(np.uint8)
    return np.ascontiguousarray(bytes_).view(np.uint32)[:, 0]


def selp(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A where the predicate holds, else b."""
    return np.where(c, a, b).astype(np.asarray(a).dtype)


def slct(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A where c is not negative, else b."""
    c = flushed(c) if op.has("ftz") else np.asarray(c)
    return np.where(c >= 0, a, b).astype(np.asarray(a).dtype)
