"""Calls of device functions are replaced by their bodies, so that one function is translated.

before  B[tx] = square(A[tx])
after   x = A[tx]
        result = alloc_scalar(); attr "tirx.sim.function": result = x * x; return
        B[tx] = result

Inside the attribute `return` leaves the attribute. Arguments and results are evaluated before the statement.
"""

from __future__ import annotations

from typing import Any

from ..ir import (
    Alloc,
    Attr,
    Bind,
    Break,
    Buffer,
    BufferLoad,
    BufferStore,
    Call,
    Decl,
    Evaluate,
    Expr,
    For,
    GlobalVar,
    If,
    IRModule,
    Let,
    Node,
    Not,
    PrimFunc,
    Return,
    Seq,
    Stmt,
    Substitution,
    Var,
    While,
    const,
    rewrite,
    seq,
    variable_of,
    walk,
)  # fmt: skip
from ..support.errors import SimulationError

__all__ = ["FUNCTION", "inlined"]

FUNCTION = "tirx.sim.function"
DEPTH = 24


def inlined(func: PrimFunc, module: IRModule) -> PrimFunc:
    """`func` without calls of other functions of the module; itself when it has none."""
    if not _calls(func.body):
        return func
    found: PrimFunc | None = func._memo.get("inlined")
    if found is None:
        found = func._memo["inlined"] = func.with_body(_Inliner(module, 0).statement(func.body))
    return found


def _calls(node: Node) -> bool:
    return any(isinstance(item, Call) and isinstance(item.op, GlobalVar) for item in walk(node))


class _Inliner:
    def __init__(self, module: IRModule, depth: int) -> None:
        self.module = module
        self.depth = depth

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement without calls of functions."""
        if not _calls(stmt):
            return stmt
        if isinstance(stmt, Seq):
            return seq(self.statement(item) for item in stmt.stmts)
        if isinstance(stmt, While) and _calls(stmt.condition):
            leave = If(Not(stmt.condition), Break(span=stmt.span), span=stmt.span)
            stmt = While(const(True), seq([leave, stmt.body]), span=stmt.span)
        before: list[Stmt] = []
        changes: dict[str, Any] = {}
        for field in stmt.FIELDS:
            value = getattr(stmt, field.name)
            if field.role == "child" and isinstance(value, Stmt):
                changes[field.name] = self.statement(value)
            elif field.role == "child" and isinstance(value, Expr):
                changes[field.name] = self._expr(value, before)
            elif field.role == "children" and value:
                changes[field.name] = tuple(self._expr(item, before) for item in value)
        made = stmt.rebuild(**changes)
        nothing = isinstance(made, Evaluate) and not isinstance(made.value, Call)
        return seq([*before, *([] if nothing else [made])])

    def _expr(self, expr: Expr, before: list[Stmt]) -> Expr:
        return rewrite(expr, {Call: lambda call: self._call(call, before)}, mask=-1) if _calls(expr) else expr

    def _call(self, call: Call, before: list[Stmt]) -> Expr | None:
        if not isinstance(call.op, GlobalVar):
            return None
        func = self.module.functions.get(call.op.name)
        if func is None:
            raise SimulationError(f"the module has no function `{call.op.name}`", span=call.span)
        if self.depth >= DEPTH:
            raise SimulationError(f"`{call.op.name}` calls itself too deeply", span=call.span)
        result = Buffer(f"{func.name}_result", (1,), call.dtype, scope="local", layout=None, is_scalar=True)
        values: dict[int, Expr] = {}
        for param, arg in zip(func.params, call.args, strict=True):
            data = variable_of(param)
            fresh = values[id(data)] = Var(data.name, data.dtype)
            if isinstance(arg, Var) and arg.dtype.is_handle:
                values[id(data)] = arg
            else:
                before.append(Bind(fresh, arg, span=call.span))
        body = _Inliner(self.module, self.depth + 1).statement(_renamed(func.body, values))
        has_result = call.dtype.kind != "void"
        if has_result:
            before.append(Alloc(result, span=call.span))
            body = rewrite(body, {Return: lambda node: _returning(node, result)})
        before.append(Attr(FUNCTION, const(0), body, span=call.span))
        return BufferLoad(result, (const(0),), span=call.span) if has_result else const(0)


def _returning(node: Return, result: Buffer) -> list[Stmt] | None:
    if node.value is None:
        return None
    return [BufferStore(result, node.value, (const(0),), span=node.span), Return(span=node.span)]


def _renamed(body: Stmt, values: dict[int, Expr]) -> Stmt:
    """A copy of a body whose own variables and storage are new; parameters become `values`."""
    values = dict(values)
    kept = []  # ids must stay taken until the substitution is done
    for node in walk(body):
        if isinstance(node, Bind | For | Let):
            values[id(node.var)] = Var(node.var.name, node.var.dtype)
            kept.append(node.var)
        elif isinstance(node, Alloc) or (isinstance(node, Decl) and node.source is not None):
            data = node.buffer.data
            values[id(data)] = Var(data.name, data.dtype)
            kept.append(data)

    def definition(node: Any) -> Any:
        return node.rebuild(var=values[id(node.var)])

    renamed = rewrite(body, {Bind: definition, For: definition, Let: definition})
    return Substitution(values).apply(renamed)
