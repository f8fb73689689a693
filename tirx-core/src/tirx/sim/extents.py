"""Launches of nothing: which axis, what the author wrote for it, and the values that made it so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arith import Analyzer
from ..ir import Expr, Launch, Var, substitute, variables
from ..support.errors import TirxError

__all__ = ["check_extents"]


def check_extents(
    stmt: Launch,
    extents: Sequence[int],
    values: Mapping[int, Any],
    bindings: Mapping[Var, Expr],
    error: type[TirxError],
) -> None:
    """Raise `error` where an axis of a launch has nothing; `values` are those of the host's variables, by id."""
    for axis, expr, extent in zip(stmt.axes, stmt.extents, extents, strict=True):
        if extent <= 0:
            whole = _whole(expr, bindings)
            symbols = sorted({var.name: int(values[id(var)]) for var in variables(whole) if id(var) in values}.items())
            where = f", where {' and '.join(f'`{name}` is {value}' for name, value in symbols)}" if symbols else ""
            raise error(
                f"`{stmt.kernel}` is launched with extents {tuple(extents)}: axis {axis} is `{whole.script()}`{where}",
                span=expr.span or stmt.span,
                hint=_hint(whole, extent, values),
            )


def _whole(expr: Expr, bindings: Mapping[Var, Expr]) -> Expr:
    """The expression over the arguments alone: names that the host gave to values are written out."""
    while named := {var: bindings[var] for var in variables(expr) if var in bindings}:
        expr = substitute(expr, named)
    return expr


def _hint(expr: Expr, extent: int, values: Mapping[int, Any]) -> str:
    exact = Analyzer()
    for var in variables(expr):
        if id(var) in values:
            exact.bind(var, int(values[id(var)]), int(values[id(var)]))
    bounds = exact.bounds(expr)
    if bounds.low is not None and bounds.low == bounds.high != extent:
        return f"the value is {bounds.low}, which {expr.dtype} does not hold: compute it in int64, or launch fewer"
    return "do not launch a kernel on nothing: give every axis an extent of at least 1"
