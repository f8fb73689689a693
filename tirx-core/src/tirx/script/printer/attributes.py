"""Attribute statements as text: bare where they cover the rest of the block, with `with` otherwise."""

from __future__ import annotations

from keyword import iskeyword

from ...ir import BOOL, Attr, Expr, IntImm, Stmt, StringImm, Tuple
from .literals import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .statements import StatementPrinter

__all__ = ["attr_lines"]


def attr_lines(printer: StatementPrinter, stmt: Attr, last: bool) -> list[str]:
    """The attribute and its body. Attributes directly inside each other are written as one dictionary."""
    if _is_entry(stmt) and last and printer.depth == 0:
        return ["T.device_entry()", *_rest(printer, stmt.body)]
    text, body = _call(printer, stmt)
    before = printer.declared
    printer.declared = []
    if last:
        return [*before, text, *_rest(printer, body)]
    return [*before, f"with {text}:", *printer.block(body)]


def _rest(printer: StatementPrinter, body: Stmt) -> list[str]:
    return printer.lines(body)


def _is_entry(stmt: Attr) -> bool:
    value = stmt.value
    return stmt.key == "tirx.device_entry" and isinstance(value, IntImm) and value.dtype is BOOL and value.value == 1


def _call(printer: StatementPrinter, stmt: Attr) -> tuple[str, Stmt]:
    """The call that makes the attribute, and what it covers."""
    hint = _hint(printer, stmt)
    if hint is not None:
        return hint, stmt.body
    pairs: dict[str, Expr] = {}
    body: Stmt = stmt
    while isinstance(body, Attr) and body.key not in pairs and (body is stmt or body.key != "tirx.hint"):
        pairs[body.key] = body.value
        body = body.body
    inner = ", ".join(f"{quoted(key)}: {printer.attribute(value)}" for key, value in pairs.items())
    return f"T.attr({{{inner}}})", body


def _hint(printer: StatementPrinter, stmt: Attr) -> str | None:
    """`T.hint(message, key=value)`, None for other attributes and other shapes of value."""
    value = stmt.value
    if (
        stmt.key != "tirx.hint"
        or not isinstance(value, Tuple)
        or not value.items
        or not isinstance(value.items[0], StringImm)
    ):
        return None
    parts = [quoted(value.items[0].value)]
    for item in value.items[1:]:
        if not (isinstance(item, Tuple) and len(item.items) == 2 and isinstance(item.items[0], StringImm)):
            return None
        key = item.items[0].value
        if not key.isidentifier() or iskeyword(key) or key == "message":
            return None
        parts.append(f"{key}={printer.attribute(item.items[1])}")
    return f"T.hint({', '.join(parts)})"
