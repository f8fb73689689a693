"""Every variable and every storage is defined once, before its uses, and used where it is valid."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import (
    Alloc,
    Bind,
    Buffer,
    BufferLoad,
    BufferRegion,
    Decl,
    Expr,
    For,
    IndexFunction,
    Let,
    Node,
    PrimFunc,
    ScopeIdDef,
    Seq,
    Stmt,
    Var,
    definitions,
    mask_of,
    variable_of,
    walk,
)  # fmt: skip
from ...support.errors import Diagnostic
from ...support.span import Span
from ..free import buffer_variables
from .facts import Facts, line_of

__all__ = ["check", "check_function"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    return check_function(facts.func)


def check_function(func: PrimFunc) -> Iterator[Diagnostic]:
    """Problems of one function, at any stage."""
    scoping = _Scoping(func)
    scoping.statement(func.body)
    yield from scoping.found


class _Scoping:
    """Walks statements with the set of variables that are valid; leaving a sequence takes away what it defined."""

    def __init__(self, func: PrimFunc) -> None:
        self.found: list[Diagnostic] = []
        self.root = func.body
        self.valid: set[int] = {id(var) for var in func.symbols()}
        for param in func.params:
            self.valid.add(id(variable_of(param)))
        self.ever: dict[int, Span | None] = {}
        self.reported: set[int] = set()

    def statement(self, stmt: Stmt) -> None:
        opened: list[int] = []
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                self._one(item, opened)
        else:
            self._one(stmt, opened)
        self.valid.difference_update(opened)

    def _one(self, stmt: Stmt, opened: list[int]) -> None:
        """The uses of one statement, what it defines, and its body."""
        self._uses_of(stmt)
        if isinstance(stmt, Seq):
            self.statement(stmt)
            return
        for var in _defined(stmt):
            self._define(var, stmt, opened if not isinstance(stmt, For) else None)
        for child in stmt.children():
            if isinstance(child, Stmt):
                self.statement(child)
        if isinstance(stmt, For):
            self.valid.discard(id(stmt.var))

    def _define(self, var: Var, stmt: Stmt, opened: list[int] | None) -> None:
        key = id(var)
        if key in self.ever:
            self.found.append(Diagnostic(f"`{var.name}` is defined twice, first{line_of(self.ever[key])}", stmt.span))
        self.ever[key] = stmt.span
        self.valid.add(key)
        if opened is not None:
            opened.append(key)

    def _uses_of(self, stmt: Stmt) -> None:
        buffer = getattr(stmt, "buffer", None)
        if isinstance(buffer, Buffer) and not isinstance(stmt, Alloc | Decl):
            self._use(buffer.data, stmt.span)
        if isinstance(buffer, Buffer) and isinstance(stmt, Alloc | Decl):
            self._buffer(buffer, stmt, own=isinstance(stmt, Alloc) or stmt.source is not None)
        for child in stmt.children():
            if isinstance(child, Expr):
                self._expression(child, stmt.span)

    def _buffer(self, buffer: Buffer, stmt: Stmt, own: bool) -> None:
        for var in buffer_variables(buffer)[1 if own else 0 :]:
            self._use(var, stmt.span)

    def _expression(self, root: Expr, span: Span | None) -> None:
        for node in walk(root, _USES):
            if isinstance(node, Var):
                self._use(node, span or node.span)  # a variable's own place is where it was made
            elif isinstance(node, Let):
                self.valid.add(id(node.var))
            elif isinstance(node, IndexFunction):
                self.valid.update(map(id, node.vars))
            else:
                buffer = getattr(node, "buffer", None)
                if isinstance(buffer, Buffer):
                    self._use(buffer.data, node.span or span)

    def _use(self, var: Var, span: Span | None) -> None:
        key = id(var)
        if key in self.valid or key in self.reported:
            return
        self.reported.add(key)
        self.found.append(self._undefined(var, span))

    def _undefined(self, var: Var, span: Span | None) -> Diagnostic:
        if id(var) in self.ever:
            return Diagnostic(
                f"`{var.name}` is used outside of the block that defines it{line_of(self.ever[id(var)])}",
                span,
                hint="define it before the block, as a scalar that the block assigns",
            )
        later = next((stmt for stmt in walk(self.root, _DEFINES) if _defines(stmt, var)), None)
        if later is not None:
            return Diagnostic(f"`{var.name}` is used before its definition{line_of(later.span)}", span)
        return Diagnostic(
            f"`{var.name}` is not defined in this function",
            span,
            hint="it belongs to another function; pass it as a parameter",
        )


_DEFINES = mask_of(Bind, For, ScopeIdDef, Alloc, Decl)


_USES = mask_of(Var, Let, IndexFunction, BufferLoad, BufferRegion)


def _defined(stmt: Stmt) -> tuple[Var, ...]:
    """Variables that become valid; a view of existing storage defines none."""
    return () if isinstance(stmt, Decl) and stmt.source is None else definitions(stmt)


def _defines(node: Node, var: Var) -> bool:
    return isinstance(node, Stmt) and any(item is var for item in _defined(node))
