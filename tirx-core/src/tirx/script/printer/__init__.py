"""Text that the parser reads back, of expressions, statements, functions and modules, at every stage of compilation."""

from __future__ import annotations

from ...ir import Expr, IRModule, PrimFunc, Stmt
from .functions import function_lines, module_lines
from .statements import StatementPrinter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["to_script"]

HEADER = "# from tirx import script as T"
MODULE_HEADER = "# from tirx.script import ir as I"
AXIS_HEADER = "# from tirx.layout import Axis"


def to_script(value: Any) -> str:
    """The text of a node, function or module. Functions and modules begin with the imports that they need, as comments."""
    if isinstance(value, IRModule):
        return _with_header(module_lines(value), [HEADER, MODULE_HEADER])
    if isinstance(value, PrimFunc):
        return _with_header(function_lines(value), [HEADER])
    if isinstance(value, Stmt):
        printer = StatementPrinter()
        return "\n".join(printer.lines(value)) or "pass"
    if isinstance(value, Expr):
        return StatementPrinter().text(value)
    raise TypeError(f"{type(value).__name__} has no script")


def _with_header(lines: list[str], header: list[str]) -> str:
    if any("Axis." in line for line in lines):
        header = [*header, AXIS_HEADER]
    return "\n".join([*header, "", *lines, ""])
