"""Walking statements while knowing what their variables can be: what simplifying, vectorising and narrowing share.

A pass subclasses `Ranged` and overrides `expression` (each expression that a statement holds) and `loop`. Nothing is
rebuilt where nothing changes.
"""

from __future__ import annotations

from ..arith import Analyzer
from ..intrinsic.internal import launch_axis, unmarked
from ..ir import (
    GE,
    LT,
    Add,
    And,
    Attr,
    Bind,
    Break,
    Continue,
    Expr,
    For,
    If,
    IntImm,
    PrimFunc,
    Return,
    Seq,
    Stmt,
    Var,
    While,
    binary,
    seq,
)  # fmt: skip
from .launch import EXTENT, Launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Ranged"]


class Ranged:
    """A walk over the statements of one function with an `analyzer` that knows loops, launch indices, bindings and limits."""

    def __init__(self, func: PrimFunc) -> None:
        self.analyzer = Analyzer()
        launch = func.attrs.get("launch")
        self.axes: dict[str, int | None] = {}
        if isinstance(launch, Launch):
            self.axes.update(zip(launch.axes, launch.extents, strict=True))

    def expression(self, expr: Expr) -> Expr:
        """What an expression becomes."""
        return expr

    def statement(self, stmt: Stmt) -> Stmt | list[Stmt]:
        """What a statement becomes; a list is spliced."""
        if isinstance(stmt, Seq):
            return self._sequence(stmt)
        if isinstance(stmt, For):
            return self.loop(stmt)
        if isinstance(stmt, If):
            return self.branch(stmt)
        if isinstance(stmt, Attr) and stmt.key.startswith(EXTENT):
            self.axes[stmt.key.removeprefix(EXTENT)] = stmt.value.value if isinstance(stmt.value, IntImm) else None
        if isinstance(stmt, While):
            outer = self.enter()
            repeated = self.rebuilt(stmt)
            self.analyzer = outer
            return repeated
        changed = self.rebuilt(stmt)
        if isinstance(changed, Bind):
            self.learn(changed)
        return changed

    def body(self, stmt: Stmt) -> Stmt:
        """The body of a statement, as one statement."""
        made = self.statement(stmt)
        return seq(made) if isinstance(made, list) else made

    def rebuilt(self, stmt: Stmt) -> Stmt:
        """`stmt` with its expressions and bodies changed."""
        changes: dict[str, Any] = {}
        for field in stmt.FIELDS:
            old = getattr(stmt, field.name)
            if old is None or field.name == "coords":
                continue
            if field.role == "child":
                new: Any = self.body(old) if isinstance(old, Stmt) else self.expression(old)
            elif field.role == "children":
                new = tuple(self.expression(item) for item in old)
                if all(a is b for a, b in zip(old, new, strict=True)):
                    continue
            else:
                continue
            if new is not old:
                changes[field.name] = new
        return stmt.rebuild(**changes) if changes else stmt

    def _sequence(self, stmt: Seq) -> Stmt:
        made: list[Stmt] = []
        same = True
        for item in stmt.stmts:
            new = self.statement(item)
            same = same and new is item
            if isinstance(new, If) and new.orelse is None and _leaves(new.then):
                self.analyzer.assume(new.condition, False)  # who goes on has not left
            if isinstance(new, list):
                made += new
            else:
                made.append(new)
        return stmt if same else seq(made)

    def loop(self, loop: For) -> Stmt | list[Stmt]:
        """What a loop becomes; its variable is known inside."""
        start, extent, step = map(self.expression, (loop.start, loop.extent, loop.step))
        outer = self.enter()
        self.learn_loop(loop.var, start, extent, step)
        body = self.body(loop.body)
        self.analyzer = outer
        if start is loop.start and extent is loop.extent and step is loop.step and body is loop.body:
            return loop
        return loop.rebuild(start=start, extent=extent, step=step, body=body)

    def branch(self, stmt: If) -> Stmt | list[Stmt]:
        """What a branch becomes; its condition is known inside."""
        return self.undecided(stmt, self.expression(stmt.condition))

    def undecided(self, stmt: If, condition: Expr) -> Stmt:
        """A branch both of whose sides stay; `condition` is its new condition."""
        outer = self.enter()
        self.analyzer.assume(condition)
        then = self.body(stmt.then)
        self.analyzer = outer
        orelse = stmt.orelse
        if orelse is not None:
            self.enter()
            self.analyzer.assume(condition, False)
            orelse = self.body(orelse)
            self.analyzer = outer
        if condition is stmt.condition and then is stmt.then and orelse is stmt.orelse:
            return stmt
        return stmt.rebuild(condition=condition, then=then, orelse=orelse)

    def enter(self) -> Analyzer:
        """Open a block: what is learnt inside is forgotten when `analyzer` is set back to the answer."""
        outer = self.analyzer
        self.analyzer = outer.child()
        return outer

    def learn(self, stmt: Bind) -> None:
        """Take over what a binding says about its variable."""
        if not stmt.var.dtype.is_integer or stmt.var.dtype.lanes != 1:
            return
        value = unmarked(stmt.value)
        axis = launch_axis(value)
        if axis is not None:
            size = self.axes.get(axis)
            self.analyzer.bind(stmt.var, 0, None if size is None else size - 1)
        else:
            self.analyzer.bind_value(stmt.var, value)

    def learn_loop(self, var: Var, start: Expr, extent: Expr, step: Expr) -> None:
        """The range and residue of a loop variable."""
        if not isinstance(step, IntImm) or step.value <= 0:
            return
        low, size = self.analyzer.bounds(start).low, self.analyzer.bounds(extent).high
        top = self.analyzer.bounds(start).high
        last = None if size is None or top is None else top + max(size - 1, 0) // step.value * step.value
        self.analyzer.bind(var, low, last)
        if isinstance(start, IntImm):
            self.analyzer.bind_residue(var, step.value, start.value)
        if not (isinstance(start, IntImm) and isinstance(extent, IntImm)):
            self.analyzer.assume(And(GE(var, start), LT(var, binary(Add, start, extent))))


def _leaves(stmt: Stmt) -> bool:
    """Whether nothing behind a statement is reached through it."""
    last = stmt.stmts[-1] if isinstance(stmt, Seq) and stmt.stmts else stmt
    return isinstance(last, Return | Break | Continue)
