"""Single statements: effects, stores, bindings, assertions."""

from __future__ import annotations

from ...ir import (
    BOOL,
    Buffer,
    Evaluate,
    Expr,
    Scalar,
    Stmt,
    StringImm,
    Var,
    as_expr,
    cast,
    const,
    current_span,
    emit,
    truth,
)  # fmt: skip
from ...ir import (
    Assert as AssertStmt,
)
from ...ir import (
    Bind as BindStmt,
)
from ...ir import (
    Let as LetExpr,
)
from ...support.errors import ScriptError
from ...support.words import an
from .control import DONE
from .state import Frame, builder, refuse
from .types import LetAnnotation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "Assert", "Bind", "Let", "add_to_parent", "assertion_message", "bind", "buffer_store", "evaluate", "expression_statement",
    "static_assert",
]  # fmt: skip


def evaluate(value: Any) -> None:
    """An expression for its effect."""
    builder("evaluate()")
    if value is DONE:
        return
    if value is None or isinstance(value, Frame):
        refuse("evaluate() is given no value", "call the statement by itself: it is in the kernel already")
    emit(Evaluate(as_expr(value), span=current_span()))


def expression_statement(value: Any) -> None:
    """A Python expression that stands as a statement of a parsed kernel: kernel values are evaluated, others ignored."""
    if isinstance(value, Expr):
        emit(Evaluate(value, span=current_span()))


def buffer_store(buffer: Any, value: Any, indices: Any) -> None:
    """`buffer[indices] = value`."""
    builder("buffer_store()")
    if isinstance(buffer, Scalar):
        buffer = buffer.buffer
    if not isinstance(buffer, Buffer):
        refuse(
            f"buffer_store() is given {an(type(buffer).__name__)}, not a buffer",
            "its arguments are (buffer, value, [index, ...])",
        )
    buffer[tuple(indices) if isinstance(indices, list | tuple) else indices] = value


def bind(value: Any, type_annotation: Any = None, *, var: Var | None = None) -> Var:
    """A variable that is `value` from here to the end of the block, and never changes."""
    owner = builder("bind()")
    kind = type_annotation if isinstance(type_annotation, LetAnnotation) else LetAnnotation.of(type_annotation)
    expr = kind.convert(value)
    made = var if var is not None else Var("v", expr.dtype, span=current_span())
    if made.dtype is not expr.dtype and not (made.dtype.is_handle and expr.dtype.is_handle):
        expr = cast(expr, made.dtype)
    if var is None:
        owner.claim(made, "v")
    else:
        owner.names.fresh_vars.pop(id(made), None)
    emit(BindStmt(made, expr, span=current_span()))
    if var is None:
        owner.names.give_assigned((made,))
    return made


Bind = bind


def Let(expr: Any, where: Mapping[Var, Any]) -> Expr:  # noqa: N802  # the language's name
    """The expression `expr` with variables bound: `Let(x * x, where={x: a + b})`."""
    body = as_expr(expr)
    for var, value in reversed(list(where.items())):
        body = LetExpr(
            var, as_expr(value, var.dtype) if not isinstance(value, Expr) else value, body, span=current_span()
        )
    return body


def Assert(condition: Any, message: Any = "", error_kind: str = "RuntimeError") -> None:  # noqa: N802  # the language's name
    """Stop with an error when `condition` is false. `message` is text, a list of text and values, or `(kind, [parts])`."""
    builder("Assert()")
    kind, parts = assertion_message(message, error_kind)
    test = const(condition, BOOL) if isinstance(condition, bool) else truth(condition)
    emit(AssertStmt(test, tuple(as_expr(part) for part in parts), kind, span=current_span()))


def assertion_message(message: Any, kind: Any = "RuntimeError") -> tuple[str, tuple[Any, ...]]:
    """What an assertion says, as kind and parts: text, a list of text and values, or `(kind, [parts])`."""
    if isinstance(message, tuple) and len(message) == 2:
        kind, message = message
    if isinstance(kind, StringImm):
        kind = kind.value
    if not isinstance(kind, str):
        refuse(f"the kind of an assertion is the name of an error, not {an(type(kind).__name__)}", 'as in "ValueError"')
    return kind, tuple(message) if isinstance(message, list | tuple) else (message,)


def static_assert(condition: Any, message: str = "") -> None:
    """Check something while the kernel is being built."""
    value = condition
    if isinstance(condition, Expr):
        if not isinstance(getattr(condition, "value", None), bool | int | float):
            refuse("static_assert() is given a value that is only known when the kernel runs", "use `assert` for that")
        value = condition.value  # type: ignore[attr-defined]  # a constant
    if not value:
        raise ScriptError(f"static assertion failed{': ' + message if message else ''}", span=current_span())


def add_to_parent(stmt: Stmt) -> None:
    """Put a statement that was made by hand into the open block."""
    builder("add_to_parent()")
    if not isinstance(stmt, Stmt):
        refuse(f"add_to_parent() takes a statement, not {an(type(stmt).__name__)}", "use Tx.evaluate() for expressions")
    emit(stmt)
