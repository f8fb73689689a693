"""The value of an integer or boolean expression where its variables are known; None where one that matters is not."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir import And, Binary, Cast, Expr, IntImm, LShift, Neg, Not, Or, RShift, Select, Var
from ..ir.integers import DIVISIONS, EXACT

__all__ = ["evaluate"]


def evaluate(expr: Expr, values: Mapping[int, int | Expr]) -> int | None:
    """Value of `expr`; `values` maps the `id()` of a variable to its value, or to the expression it stands for."""
    if isinstance(expr, IntImm):
        return expr.value
    if isinstance(expr, Var):
        known = values.get(id(expr))
        return evaluate(known, values) if isinstance(known, Expr) else known
    if isinstance(expr, And | Or):
        return _logical(expr, values)
    if isinstance(expr, Binary):
        return _binary(expr, values)
    if isinstance(expr, Not | Neg):
        inner = evaluate(expr.a, values)
        return None if inner is None else (int(not inner) if isinstance(expr, Not) else -inner)
    if isinstance(expr, Cast):
        inner = evaluate(expr.value, values) if expr.dtype.is_integer and expr.value.dtype.is_integer else None
        return inner if inner is not None and expr.dtype.min_int <= inner <= expr.dtype.max_int else None
    if isinstance(expr, Select):
        chosen = evaluate(expr.condition, values)
        return None if chosen is None else evaluate(expr.true_value if chosen else expr.false_value, values)
    return None


def _logical(expr: Expr, values: Mapping[int, int | Expr]) -> int | None:
    """One side may decide alone."""
    assert isinstance(expr, And | Or)
    a, b = evaluate(expr.a, values), evaluate(expr.b, values)
    decides = 0 if isinstance(expr, And) else 1
    sides = [None if side is None else int(bool(side)) for side in (a, b)]
    if decides in sides:
        return decides
    return None if None in sides else 1 - decides


def _binary(expr: Binary, values: Mapping[int, int | Expr]) -> int | None:
    a = evaluate(expr.a, values)
    b = evaluate(expr.b, values) if a is not None else None
    if a is None or b is None or expr.a.dtype.is_float:
        return None
    if (isinstance(expr, DIVISIONS) and b == 0) or (isinstance(expr, LShift | RShift) and not 0 <= b < 64):
        return None
    return int(EXACT[type(expr)](a, b))
