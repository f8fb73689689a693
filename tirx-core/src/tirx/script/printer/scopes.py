"""Scope ids as text."""

from __future__ import annotations

from ...ir import ScopeIdDef
from ..builder.launch import SCOPE_IDS
from .literals import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...ir import Expr
    from .statements import StatementPrinter

__all__ = ["scope_id_text"]

_NAMES = {(parent, cur): name for name, (parent, cur, _, _) in SCOPE_IDS.items()}


def scope_id_text(printer: StatementPrinter, stmt: ScopeIdDef) -> str:
    """The call that defines the ids."""
    name = _NAMES.get((stmt.parent, stmt.cur))
    extents = _list(printer, stmt.extents) if stmt.extents is not None else None
    if name is None or (name == "cta_id_in_pair" and extents is not None):
        parts = [extents or "None", quoted(stmt.parent), quoted(stmt.cur)]
        name = "scope_id"
    else:
        parts = [extents] if extents is not None else []
    if stmt.preferred is not None:
        parts.append(f"preferred={_list(printer, stmt.preferred)}")
    if stmt.vars[0].dtype.name != "int32":
        parts.append(f"dtype={quoted(stmt.vars[0].dtype.name)}")
    return f"T.{name}({', '.join(parts)})"


def _list(printer: StatementPrinter, items: Sequence[Expr]) -> str:
    return f"[{', '.join(printer.text(item) for item in items)}]"
