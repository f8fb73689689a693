"""The builder: a stack of open frames, the names in use, and effects that no statement has taken yet.

A frame is an open block. Statements are appended to the innermost one; closing it turns them into one statement, which
goes to the frame around it.
"""

from __future__ import annotations

from ...ir import Expr, Stmt, Var, active_builder, seq, set_builder
from ...support.errors import ScriptError
from ...support.span import here
from .effects import Effects
from .naming import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    from ...ir import Buffer, Call, IRModule, PrimFunc
    from ...support.span import Span
    from .function import FunctionFrame

__all__ = ["Builder", "Frame", "builder", "refuse"]


def refuse(message: str, hint: str | None = None, span: Span | None = None) -> NoReturn:
    """Raise `ScriptError` at the author's line."""
    raise ScriptError(message, span=span or here(2), hint=hint)


class Frame:
    """An open block, used as `with frame:`. `exprs` are the expressions in its header (a condition, bounds)."""

    __slots__ = ("exprs", "span", "stmts", "what")

    is_function = False
    is_loop = False
    repeats_header = False

    def __init__(self, what: str, exprs: Iterable[Expr] = ()) -> None:
        self.what = what
        self.exprs: tuple[Expr, ...] = tuple(exprs)
        self.stmts: list[Any] = []
        self.span = here(2)

    def __enter__(self) -> Any:
        builder(self.what).push(self)
        return self.value()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        owner = active_builder()
        assert isinstance(owner, Builder)
        if kind is not None:
            owner.abandon(self)
        else:
            owner.pop(self)

    def value(self) -> Any:
        """What `with frame as ...` gives."""
        return None

    def build(self, body: Stmt) -> Stmt:
        """The statement that the frame becomes."""
        raise TypeError(f"{type(self).__name__} must define build()")

    def leave(self, owner: Builder, body: Stmt) -> None:
        """The frame is closed: put what it became where it belongs."""
        owner.append(self.build(body), self)


class Builder:
    """What is being built. `with Builder() as ib: ...; ib.get()` gives the functions that were opened inside."""

    __slots__ = ("effects", "functions", "names", "reset", "stack")

    def __init__(self) -> None:
        self.stack: list[Frame] = []
        self.names = Names()
        self.effects = Effects()
        self.functions: list[PrimFunc] = []
        self.reset: list[Callable[[], None]] = []

    # ---- as a context -------------------------------------------------------------------------------------------

    def __enter__(self) -> Builder:
        self.reset.append(set_builder(self))
        return self

    def __exit__(self, *_: object) -> None:
        self.reset.pop()()

    def get(self) -> PrimFunc | IRModule:
        """The function that was built; a module when there were several."""
        from ...ir import IRModule  # only at the end

        if not self.functions:
            refuse("nothing was built", "open a function: with Tx.prim_func(): ...")
        return self.functions[0] if len(self.functions) == 1 else IRModule(self.functions)

    # ---- frames -------------------------------------------------------------------------------------------------

    @property
    def top(self) -> Frame:
        """The innermost open frame."""
        if not self.stack:
            refuse("this statement stands outside a function", "open one first: with Tx.prim_func(): ...")
        return self.stack[-1]

    @property
    def function(self) -> FunctionFrame:
        """The function that is being built."""
        if not (self.stack and self.stack[0].is_function):
            refuse("this belongs in a function", "open one first: with Tx.prim_func(): ...")
        frame: Any = self.stack[0]
        found: FunctionFrame = frame  # the only frame that is a function
        return found

    def push(self, frame: Frame) -> None:
        """Open `frame`. One that already stands as "for the rest of the block" becomes a block of its own."""
        if self.stack:
            stmts = self.top.stmts
            if stmts and stmts[-1] is frame:
                stmts.pop()
            self.settle_header(frame)
        self.stack.append(frame)
        self.names.enter()

    def settle_header(self, frame: Frame) -> None:
        """Effects before a frame come first; those in its header are its own."""
        self.effects.settle(self, frame.exprs, frame)

    def pop(self, frame: Frame) -> None:
        """Close `frame`, which must be the innermost one."""
        if self.top is not frame:
            inner = self.top
            self.abandon(frame)
            refuse(f"{inner.what} is still open where {frame.what} ends", "leave a loop with Tx.Break()", inner.span)
        self.effects.flush(self)
        self.stack.pop()
        self.names.leave()
        frame.leave(self, fold(frame.stmts))

    def abandon(self, frame: Frame) -> None:
        """Forget `frame` and all inside it, after an error."""
        at = next((number for number, item in enumerate(self.stack) if item is frame), len(self.stack))
        self.names.leave(len(self.stack) - at)
        del self.stack[at:]

    def open_rest(self, frame: Frame) -> Frame:
        """Let `frame` cover the rest of the block, unless it is entered with `with`."""
        self.settle_header(frame)
        self.top.stmts.append(frame)
        return frame

    # ---- statements ---------------------------------------------------------------------------------------------

    def emit(self, stmt: Stmt) -> None:
        """Append a statement; effects that were noted before and are no part of it become statements of their own first."""
        self.effects.settle(self, (stmt,), stmt)
        self.top.stmts.append(stmt)

    def append(self, stmt: Stmt, frame: Frame) -> None:
        """Append the statement that a closed frame became."""
        self.top.stmts.append(stmt)
        self.effects.closed(frame, stmt)

    def note(self, call: Call) -> None:
        """A call with an effect was made."""
        self.effects.note(self, call)

    def fresh_name(self, hint: str) -> str:
        """A name that the function does not use yet, near `hint`."""
        return self.names.fresh(hint)

    def name_value(self, value: Any, name: str) -> None:
        """`value` was assigned to `name`: objects whose name was invented take it."""
        self.names.give(value, name)

    def claim(self, item: Var | Buffer, hint: str, *, unique: bool = True) -> None:
        """`item` has an invented name, which the first assignment may replace."""
        self.names.claim(item, hint, unique=unique)


def fold(stmts: Sequence[Any]) -> Stmt:
    """Statements as one; a frame among them takes all that follow it as its body."""
    rest: list[Stmt] = []
    for item in reversed(stmts):
        if isinstance(item, Frame):
            rest = [item.build(seq(reversed(rest)))]
        else:
            rest.append(item)
    return seq(reversed(rest))


def builder(what: str = "this") -> Builder:
    """The active builder; `ScriptError` outside a kernel, at the line that needs one."""
    found = active_builder()
    if not isinstance(found, Builder):
        refuse(
            f"{what} belongs in a kernel",
            "call it inside a function decorated with @Tx.prim_func, or under `with Tx.prim_func():`",
            here(2),
        )
    return found
