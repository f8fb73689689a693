"""Statements. Bindings and allocations are flat: they hold for the rest of the sequence they stand in."""

from __future__ import annotations

from collections.abc import Iterable

from .expr import Expr, Op, Var
from .node import Node

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .buffer import Buffer

__all__ = [
    "Alloc", "Assert", "Attr", "Bind", "Break", "BufferStore", "Continue", "Decl", "Evaluate", "For", "If", "Launch",
    "Return", "ScopeIdDef", "Seq", "Stmt", "TileCall", "While", "seq",
]  # fmt: skip

LOOP_KINDS = ("serial", "parallel", "vectorized", "unrolled", "thread_binding")


class Stmt(Node, abstract=True):
    """Base of statements."""


class Seq(Stmt):
    """Statements in order."""

    stmts: tuple[Stmt, ...]


class Bind(Stmt):
    """`var` is `value` from here to the end of the enclosing sequence; it never changes."""

    var: Var
    value: Expr


class Alloc(Stmt):
    """New storage for `buffer` (and its `data`), alive to the end of the enclosing sequence."""

    buffer: Buffer
    annotations: tuple[tuple[str, Any], ...] = ()


class Decl(Stmt):
    """`buffer` is another view of storage that exists: its `data` is bound already (or `source` computes the pointer)."""

    buffer: Buffer
    source: Expr | None = None


class BufferStore(Stmt):
    """`buffer[indices] = value`. See `BufferLoad` for `source` and `coords`."""

    buffer: Buffer
    value: Expr
    indices: tuple[Expr, ...]
    source: Buffer | None = None
    coords: tuple[Expr, ...] = ()
    _not_compared: ClassVar[tuple[str, ...]] = ("source", "coords")


class Evaluate(Stmt):
    """An expression for its effect."""

    value: Expr


class For(Stmt):
    """`var` runs from `start` in steps of `step` over `extent` values; `kind` is one of `LOOP_KINDS`.

    `extent` counts iterations times step as in `range(start, start + extent, step)`; `thread` names the launch axis of
    a `thread_binding` loop (`"thread.x"`).
    """

    var: Var
    start: Expr
    extent: Expr
    step: Expr
    kind: str
    body: Stmt
    annotations: tuple[tuple[str, Any], ...] = ()
    thread: str | None = None


class While(Stmt):
    """Repeat `body` while `condition` holds."""

    condition: Expr
    body: Stmt


class If(Stmt):
    """Branch."""

    condition: Expr
    then: Stmt
    orelse: Stmt | None = None


class Assert(Stmt):
    """Stop with an error of type `kind` when `condition` is false. `message` mixes StringImm and values."""

    condition: Expr
    message: tuple[Expr, ...]
    kind: str = "RuntimeError"


class Attr(Stmt):
    """Attribute `key` = `value` for `body`; plain data is a constant, a list a `Tuple`."""

    key: str
    value: Expr
    body: Stmt


class ScopeIdDef(Stmt):
    """`vars` are the ids of a `cur` inside its `parent`, one per dimension of `extents` (None: deferred).

    `parent` and `cur` are level names of the target's scope model (`kernel cluster cta_pair cta warpgroup warp thread`).
    """

    vars: tuple[Var, ...]
    extents: tuple[Expr, ...] | None
    parent: str
    cur: str
    preferred: tuple[Expr, ...] | None = None


class Break(Stmt):
    """Leave the innermost loop."""


class Continue(Stmt):
    """Go on with the next iteration of the innermost loop."""


class Return(Stmt):
    """Leave the function; `value` only in functions that return one."""

    value: Expr | None = None


class Launch(Stmt):
    """Run device function `kernel` with `args` (host side, after host and device are split).

    `axes` names launch axes (`"cta.x"`, `"thread.x"`), `extents` gives their sizes in the same order; both may be empty.
    `resources` are plain pairs such as `("shared_bytes", expr)` evaluated through `resource_values`; `flags` are names.
    """

    kernel: str
    args: tuple[Expr, ...]
    axes: tuple[str, ...]
    extents: tuple[Expr, ...]
    resources: tuple[str, ...] = ()
    resource_values: tuple[Expr, ...] = ()
    flags: tuple[str, ...] = ()


class TileCall(Stmt):
    """A tile operation: says what is moved or computed; pass `lower_tile` decides how and replaces it.

    `op` is the row (`tirx.tile.TileOp`), `scope` the level whose threads do it together. `names` and `args` are what the call
    was given, in the row's order: a `BufferRegion`, a number's expression or an `IndexFunction`; absent ones are left out.
    `attrs` are the row's plain keywords, normalised and sorted. `workspace` are scratch buffers (whole regions) by
    `workspace_names`; `config` the keywords for the variant by `config_names` (constants, tuples, expressions, regions).
    """

    op: Op
    scope: str
    names: tuple[str, ...]
    args: tuple[Expr, ...]
    attrs: tuple[tuple[str, Any], ...] = ()
    dispatch: str | None = None
    workspace_names: tuple[str, ...] = ()
    workspace: tuple[Expr, ...] = ()
    config_names: tuple[str, ...] = ()
    config: tuple[Expr, ...] = ()

    def operand(self, name: str) -> Expr | None:
        """The operand of that name, or None where the call leaves it out."""
        return dict(zip(self.names, self.args, strict=True)).get(name)

    def attr(self, name: str) -> Any:
        """Value of one of the operation's plain keywords."""
        return dict(self.attrs)[name]


def seq(stmts: Iterable[Stmt]) -> Stmt:
    """One statement for several: nested sequences are flattened, a single statement stays itself."""
    flat: list[Stmt] = []
    for stmt in stmts:
        if isinstance(stmt, Seq):
            flat.extend(stmt.stmts)
        else:
            flat.append(stmt)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))
