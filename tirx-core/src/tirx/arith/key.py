"""Keys under which two expressions are certainly the same value when evaluated at the same point of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir import (
    Add,
    BitwiseAnd,
    BitwiseXor,
    BufferLoad,
    Call,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    LShift,
    Mul,
    RShift,
    Sub,
    Var,
)  # fmt: skip

__all__ = ["key_of"]


def key_of(expr: Expr) -> Any:
    """A hashable key; calls with an effect are equal only to themselves."""
    rule = _RULES.get(type(expr))
    return _of_fields(expr) if rule is None else rule(expr)


def _of_integer(expr: Any) -> Any:
    return (expr.dtype.name, expr.value)


def _of_fraction(expr: Any) -> Any:
    return (expr.dtype.name, repr(expr.value))  # tells -0.0 from 0.0


def _of_operands(expr: Any) -> Any:
    return (type(expr).__name__, expr.dtype.name, key_of(expr.a), key_of(expr.b))


def _of_call(expr: Any) -> Any:
    effect = getattr(expr.op, "effect", None)
    if effect is None or not effect.is_pure:
        return ("call", id(expr))
    return (expr.op.name, expr.dtype.name, expr.attrs, *map(key_of, expr.args))


def _of_load(expr: Any) -> Any:
    return ("load", id(expr.buffer), *map(key_of, expr.indices))


def _of_fields(expr: Expr) -> Any:
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


_RULES: dict[type[Any], Callable[[Any], Any]] = {
    Var: id,
    IntImm: _of_integer,
    FloatImm: _of_fraction,
    Call: _of_call,
    BufferLoad: _of_load,
    **dict.fromkeys((Add, Sub, Mul, FloorDiv, FloorMod, BitwiseAnd, BitwiseXor, LShift, RShift), _of_operands),
}
