"""Keys under which two expressions are certainly the same value when evaluated at the same point of a program."""

from __future__ import annotations

from typing import Any

from ..ir import BufferLoad, Call, Expr, FloatImm, IntImm, Var

__all__ = ["key_of"]


def key_of(expr: Expr) -> Any:
    """A hashable key; calls with an effect are equal only to themselves."""
    if isinstance(expr, Var):
        return id(expr)
    if isinstance(expr, IntImm | FloatImm):
        return (expr.dtype.name, repr(expr.value))
    if isinstance(expr, Call):
        effect = getattr(expr.op, "effect", None)
        if effect is None or not effect.is_pure:
            return ("call", id(expr))
        return (expr.op.name, expr.dtype.name, expr.attrs, *map(key_of, expr.args))
    if isinstance(expr, BufferLoad):
        return ("load", id(expr.buffer), *map(key_of, expr.indices))
    parts: list[Any] = [type(expr).__name__, expr.dtype.name]
    for field in expr.FIELDS:
        value = getattr(expr, field.name)
        if field.role == "child":
            parts.append(key_of(value))
        elif field.role == "children":
            parts.append(tuple(map(key_of, value)))
        elif field.compared and field.role != "attribute":
            parts.append(id(value))
        elif field.compared:
            parts.append(value)
    return tuple(parts)
