"""Making syntax tree nodes that stand where the author's text stands."""

from __future__ import annotations

import ast

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost start-up time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Place: TypeAlias = dict[str, Any]

__all__ = [
    "RUNTIME",
    "assign",
    "attribute",
    "call",
    "constant",
    "load",
    "place",
    "statement",
    "store",
    "with_",
]

RUNTIME = "__tx__"
"""Name of the variable that holds the `Scope` in a rewritten function. It ends in underscores: never mangled."""

_LOAD = ast.Load()
_STORE = ast.Store()


def place(start: Any, end: Any = None) -> Place:
    """Position attributes from the start of one node to the end of another."""
    end = start if end is None else end
    return {
        "lineno": start.lineno,
        "col_offset": start.col_offset,
        "end_lineno": end.end_lineno,
        "end_col_offset": end.end_col_offset,
    }


def load(name: str, at: Place) -> ast.Name:
    """`name`, read."""
    return ast.Name(name, _LOAD, **at)


def store(name: str, at: Place) -> ast.Name:
    """`name`, written."""
    return ast.Name(name, _STORE, **at)


def constant(value: Any, at: Place) -> ast.Constant:
    """A literal."""
    return ast.Constant(value, **at)


def attribute(value: str, name: str, at: Place) -> ast.Attribute:
    """`value.name` of a variable."""
    return ast.Attribute(load(value, at), name, _LOAD, **at)


def call(method: str, args: Sequence[ast.expr], at: Place, owner: str = RUNTIME) -> ast.Call:
    """`owner.method(*args)`."""
    # The method itself stands on one line: Python places calls of a method whose name spans lines at the last of them.
    start = {**at, "end_lineno": at["lineno"], "end_col_offset": at["col_offset"]}
    return ast.Call(attribute(owner, method, start), list(args), [], **at)


def assign(name: str, value: ast.expr, at: Place) -> ast.Assign:
    """`name = value`."""
    return ast.Assign([store(name, at)], value, **at)


def statement(value: ast.expr, at: Place) -> ast.Expr:
    """An expression as a statement."""
    return ast.Expr(value, **at)


def with_(context: ast.expr, body: list[ast.stmt], at: Place) -> ast.With:
    """`with context: body`."""
    return ast.With([ast.withitem(context, None)], body or [ast.Pass(**at)], **at)
