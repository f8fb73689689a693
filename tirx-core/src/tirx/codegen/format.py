"""Values in `printf` formats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir import DType, Expr, StringImm
from .precedence import UNARY

if TYPE_CHECKING:
    from .expr import ExprPrinter

__all__ = ["format_values"]


def format_values(printer: ExprPrinter, parts: Sequence[Expr]) -> tuple[str, list[str]]:
    """A format for text and values in order, and the texts of the values."""
    text, values = "", []
    for part in parts:
        if isinstance(part, StringImm):
            text += part.value.replace("%", "%%")
        else:
            text += _specifier(part.dtype)
            values.append(_value(printer, part))
    return text, values


def _specifier(dtype: DType) -> str:
    if dtype.is_handle:
        return "%p"
    if dtype.is_float:
        return "%g"
    return f"%{'ll' if dtype.bits == 64 else ''}{'u' if dtype.is_uint else 'd'}"


def _value(printer: ExprPrinter, expr: Expr) -> str:
    """What variadic C functions take: small floats widened by hand, the rest widens by itself."""
    if expr.dtype.is_float and expr.dtype.bits < 32:
        return f"({printer.type(DType('float32'))}){printer.text(expr, UNARY)}"
    return printer.text(expr)
