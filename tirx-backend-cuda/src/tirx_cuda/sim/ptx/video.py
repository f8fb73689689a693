"""Meanings of the scalar video instructions: operands of either sign, saturation, and a second operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from .run import NUMPY, Op

__all__ = ["run", "vmad", "vset"]


def _wide(*values: Any) -> list[Any]:
    return [np.asarray(value).astype(np.int64) for value in values]


def _shift(op: Op, b: Any) -> Any:
    return np.minimum(b, 32) if op.get("mode") == "clamp" else b & 31


def _first(op: Op, a: Any, b: Any) -> Any:
    family = op.form.row.family
    if family == "vadd":
        return a + b
    if family == "vsub":
        return a - b
    if family == "vabsdiff":
        return np.abs(a - b)
    if family in ("vmin", "vmax"):
        return np.minimum(a, b) if family == "vmin" else np.maximum(a, b)
    return a << _shift(op, b) if family == "vshl" else a >> _shift(op, b)


def _finished(op: Op, value: Any, dtype: Any) -> Any:
    info = np.iinfo(dtype)
    if op.has("sat"):
        value = np.clip(value, info.min, info.max)
    return value.astype(dtype)


def _second(op: Op, value: Any, c: Any, dtype: Any) -> Any:
    a, c = _wide(value, c)
    made = {"add": a + c, "min": np.minimum(a, c), "max": np.maximum(a, c)}[op.get("op2")]
    return made.astype(dtype)


def _result(op: Op) -> Any:
    kind = op.form.parts[0].type
    assert kind is not None
    return NUMPY[kind.name][0]


def run(op: Op, a: Any, b: Any, *c: Any) -> Any:
    """`vadd vsub vabsdiff vmin vmax vshl vshr`."""
    dtype = _result(op)
    made = _finished(op, _first(op, *_wide(a, b)), dtype)
    return _second(op, made, c[0], dtype) if c else made


def vmad(op: Op, a: Any, b: Any, c: Any) -> Any:
    """A * b + c, scaled down."""
    a, b, c = _wide(a, b, c)
    total = a * b + c + op.has("po")
    return _finished(op, total >> int(op.get("scale")[3:] or 0), _result(op))


def vset(op: Op, a: Any, b: Any, *c: Any) -> Any:
    """1 where the comparison holds."""
    a, b = _wide(a, b)
    name = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}[
        op.get("cmp")
    ]
    made = getattr(np, name)(a, b).astype(np.uint32)
    return _second(op, made, c[0], np.uint32) if c else made
