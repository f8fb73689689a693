"""Branches, `while`, and leaving loops and functions."""

from __future__ import annotations

from ...ir import (
    BOOL,
    Expr,
    Stmt,
    as_expr,
    cast,
    const,
    current_span,
    emit,
    truth,
)  # fmt: skip
from ...ir import (
    Break as BreakStmt,
)
from ...ir import (
    Continue as ContinueStmt,
)
from ...ir import (
    If as IfStmt,
)
from ...ir import (
    Return as ReturnStmt,
)
from ...ir import (
    While as WhileStmt,
)
from .state import Builder, Frame, builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "DONE", "Break", "Continue", "Else", "If", "Return", "Then", "While", "break_loop", "continue_loop", "thread_return",
]  # fmt: skip

DONE = object()
"""What functions that already emitted their statement answer, so that `evaluate` of it is harmless."""


def _condition(value: Any) -> Expr:
    return const(value, BOOL) if isinstance(value, bool) else truth(value)


class IfFrame(Frame):
    """`with Tx.If(condition):` holds one `with Tx.Then():` and possibly one `with Tx.Else():`."""

    __slots__ = ("orelse", "then")

    def __init__(self, condition: Any) -> None:
        super().__init__("If", [_condition(condition)])
        self.then: Stmt | None = None
        self.orelse: Stmt | None = None

    def build(self, body: Stmt) -> Stmt:
        """The branch."""
        if self.then is None:
            refuse("this If has no Then", "put `with Tx.Then(): ...` inside it", self.span)
        if self.stmts:
            refuse(
                "a statement stands between Then and Else",
                "put it under `with Tx.Then():` or `with Tx.Else():`",
                self.span,
            )
        return IfStmt(self.exprs[0], self.then, self.orelse, span=self.span)


class _BranchFrame(Frame):
    __slots__ = ("slot",)

    def __init__(self, what: str, slot: str) -> None:
        super().__init__(what)
        self.slot = slot
        parent = builder(what).top
        if not isinstance(parent, IfFrame):
            refuse(f"{what} stands outside an If", "write `with Tx.If(condition):` around it")
        if getattr(parent, slot) is not None:
            refuse(f"this If has two {what}s", "an If has one Then and at most one Else")
        if slot == "orelse" and parent.then is None:
            refuse("Else comes before Then", "write `with Tx.Then(): ...` first")

    def leave(self, owner: Builder, body: Stmt) -> None:
        """The branch belongs to the If around it."""
        setattr(owner.top, self.slot, body)
        owner.effects.closed(self, body)


def If(condition: Any) -> Frame:  # noqa: N802  # the language's name
    """A branch, decided when the kernel runs."""
    return IfFrame(condition)


def Then() -> Frame:  # noqa: N802  # the language's name
    """What is done where the condition of the If holds."""
    return _BranchFrame("Then", "then")


def Else() -> Frame:  # noqa: N802  # the language's name
    """What is done where it does not."""
    return _BranchFrame("Else", "orelse")


class WhileFrame(Frame):
    """`with Tx.While(condition):`; the condition is evaluated again before each iteration."""

    __slots__ = ()

    is_loop = True
    repeats_header = True

    def build(self, body: Stmt) -> Stmt:
        """The loop."""
        return WhileStmt(self.exprs[0], body, span=self.span)


def While(condition: Any) -> Frame:  # noqa: N802  # the language's name
    """Repeat the body while `condition` holds."""
    return WhileFrame("While", [_condition(condition)])


def _in_loop(what: str) -> None:
    if not any(frame.is_loop for frame in builder(what).stack):
        refuse(f"{what} stands outside a loop", "it leaves the innermost loop around it")


def Break() -> Any:  # noqa: N802  # the language's name
    """Leave the innermost loop."""
    _in_loop("Break()")
    emit(BreakStmt(span=current_span()))
    return DONE


def Continue() -> Any:  # noqa: N802  # the language's name
    """Go on with the next iteration of the innermost loop."""
    _in_loop("Continue()")
    emit(ContinueStmt(span=current_span()))
    return DONE


break_loop, continue_loop = Break, Continue


def Return(value: Any = None) -> Any:  # noqa: N802  # the language's name
    """Leave the function, with a value if it returns one."""
    result = builder("Return()").function.result
    if value is None or value is DONE:
        emit(ReturnStmt(None, span=current_span()))
        return DONE
    if result.kind == "void":
        refuse(
            "a value is returned by a function without a result", "declare its type: `-> Tx.int32`, or Tx.func_ret(...)"
        )
    number = isinstance(value, bool | int | float)
    emit(ReturnStmt(as_expr(value, result) if number else cast(value, result), span=current_span()))
    return DONE


def thread_return() -> Any:
    """End this thread."""
    builder("thread_return()")
    emit(ReturnStmt(None, span=current_span()))
    return DONE
