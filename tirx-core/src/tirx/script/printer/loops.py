"""Loops as text: `range` where it says everything, `T.grid` for plain loops inside each other."""

from __future__ import annotations

from ...ir import Expr, For, IntImm, Stmt, Sub, Var, structural_equal, walk
from .literals import plain_data, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .statements import StatementPrinter

__all__ = ["for_lines"]

_FUNCTIONS = {
    "serial": "T.serial", "unrolled": "T.unroll", "parallel": "T.parallel", "vectorized": "T.vectorized",
    "thread_binding": "T.thread_binding",
}  # fmt: skip


def for_lines(printer: StatementPrinter, stmt: For) -> list[str]:
    """The loop and its body."""
    nest = _nest(stmt)
    if len(nest) > 1:
        return _grid(printer, nest)
    header = _header(printer, stmt)
    before, printer.declared = printer.declared, []
    return [*before, *_with_variables(printer, [stmt.var], header, stmt.body)]


def _with_variables(printer: StatementPrinter, variables: list[Var], header: str, body: Stmt) -> list[str]:
    printer.names.enter()
    names = ", ".join(printer.names.define(var) for var in variables)
    lines = [f"for {names} in {header}:", *printer.loop_block(body)]
    printer.names.leave()
    return lines


def _grid(printer: StatementPrinter, nest: list[For]) -> list[str]:
    extents = ", ".join(printer.text(item.extent) for item in nest)
    before, printer.declared = printer.declared, []
    variables = [item.var for item in nest]
    return [*before, *_with_variables(printer, variables, f"T.grid({extents})", nest[-1].body)]


def _nest(stmt: For) -> list[For]:
    """Plain loops directly inside each other whose bounds do not depend on each other."""
    nest: list[For] = []
    body: Stmt = stmt
    while isinstance(body, For) and _is_plain(body) and not _depends(body.extent, nest):
        nest.append(body)
        body = body.body
    return nest


def _is_plain(stmt: For) -> bool:
    return (
        stmt.kind == "serial"
        and not stmt.annotations
        and stmt.thread is None
        and _is(stmt.start, 0)
        and _is(stmt.step, 1)
    )


def _depends(expr: Expr, loops: list[For]) -> bool:
    variables = {id(loop.var) for loop in loops}
    return any(id(node) in variables for node in walk(expr))


def _is(expr: Expr, value: int) -> bool:
    return isinstance(expr, IntImm) and expr.value == value


def _header(printer: StatementPrinter, stmt: For) -> str:
    parts = _bounds(printer, stmt)
    if stmt.kind == "serial" and not stmt.annotations and not any("=" in part for part in parts[1:]):
        return f"range({', '.join(parts)})" if len(parts) < 3 or _is(stmt.step, 1) else f"T.serial({', '.join(parts)})"
    if stmt.thread is not None:
        parts.append(f"thread={quoted(stmt.thread)}")
    if stmt.annotations:
        parts.append(f"annotations={plain_data(dict(stmt.annotations))}")
    return f"{_FUNCTIONS[stmt.kind]}({', '.join(parts)})"


def _bounds(printer: StatementPrinter, stmt: For) -> list[str]:
    """Start, stop and step such that reading them gives the loop's start and extent."""
    if _is(stmt.start, 0) and stmt.start.dtype is stmt.extent.dtype:
        parts = [printer.text(stmt.extent)]
    elif isinstance(stmt.start, IntImm) and isinstance(stmt.extent, IntImm):
        parts = [printer.text(stmt.start), printer.text(stmt.start + stmt.extent)]
    elif isinstance(stmt.extent, Sub) and structural_equal(stmt.extent.b, stmt.start):
        parts = [printer.text(stmt.start), printer.text(stmt.extent.a)]
    else:
        parts = [printer.text(stmt.start), f"extent={printer.text(stmt.extent)}"]
    if not _is(stmt.step, 1):
        parts.append(f"step={printer.text(stmt.step, stmt.start.dtype)}")
    return parts
