"""What lower layers may ask of the builder that is running, without reaching up to it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from ..support.errors import ScriptError
from ..support.late import late, late_bind
from ..support.span import Span, here

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Protocol

    from .expr import Call
    from .node import Node
    from .stmt import Stmt
else:
    Protocol = object

__all__ = ["ActiveBuilder", "active_builder", "current_span", "emit", "late", "late_bind", "set_builder"]


class ActiveBuilder(Protocol):
    """The part of the builder that IR objects use: append a statement, take note of an effect, invent a name."""

    def emit(self, stmt: Stmt) -> None:
        """Append a statement to the open frame."""

    def note(self, call: Call) -> None:
        """A call with an effect was made: unless it becomes part of the next statement, it is a statement of its own."""

    def fresh_name(self, hint: str) -> str:
        """A name that the function does not use yet, near `hint`."""


_builder: ContextVar[ActiveBuilder | None] = ContextVar("tirx_builder", default=None)


def active_builder() -> ActiveBuilder | None:
    """The builder of the kernel being traced or parsed in this context, or None."""
    return _builder.get()


def set_builder(builder: ActiveBuilder | None) -> Callable[[], None]:
    """Make `builder` the active one; call the result to go back."""
    token = _builder.set(builder)
    return lambda: _builder.reset(token)


def emit(stmt: Stmt) -> None:
    """Append `stmt` to the active builder; `ScriptError` outside a kernel."""
    builder = _builder.get()
    if builder is None:
        raise ScriptError(
            "this statement belongs in a kernel",
            span=here(2),
            hint="call it inside a function decorated with @Tx.prim_func, or under `with Tx.prim_func():`",
        )
    builder.emit(stmt)


def current_span() -> Span | None:
    """The author's line, when a kernel is being built."""
    return here(2) if _builder.get() is not None else None


def script_of(node: Node) -> str:
    """Text of a node as the printer writes it."""
    text: str = late("print")(node)
    return text
