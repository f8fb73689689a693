"""An index that is computed several times gets a name.

before  A[i * 64 + j] = A[i * 64 + j] + 1.0
after   A_index = i * 64 + j
        A[A_index] = A[A_index] + 1.0

Compilers find these themselves; this is for people who read the source, so only whole indices of two operations or
more are named, after the buffer that they belong to. Needs: layouts lowered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..arith.key import key_of
from ..ir import (
    Binary,
    Bind,
    BufferLoad,
    BufferStore,
    Call,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    IntImm,
    IRModule,
    Mod,
    PrimFunc,
    Ramp,
    Seq,
    Stmt,
    Var,
    definitions,
    mask_of,
    rewrite,
    walk,
)  # fmt: skip
from .pipeline import Pass, PassContext

__all__ = ["common_subexpressions"]

_ACCESSES = mask_of(BufferLoad, BufferStore)
_DIVISIONS = (Div, Mod, FloorDiv, FloorMod)


class _Use:
    """One index: where it stands in a sequence, the buffer, the variables it needs."""

    __slots__ = ("buffer", "expr", "position")

    def __init__(self, expr: Expr, position: int, buffer: str) -> None:
        self.expr = expr
        self.position = position
        self.buffer = buffer


def _index_of(node: Any) -> Expr:
    """What may get a name: the index, or where a vector starts."""
    index: Expr = node.indices[0]
    return index.base if isinstance(index, Ramp) else index


def _is_worth_it(expr: Expr) -> bool:
    """Two operations or more, on values that do not change, that cannot trap."""
    if expr.dtype.lanes != 1 or expr.has(BufferLoad, Call):
        return False
    operations = [node for node in walk(expr, mask_of(Binary)) if isinstance(node, Binary)]
    safe = all(not isinstance(node, _DIVISIONS) or _is_divisor(node.b) for node in operations)
    return len(operations) >= 2 and safe


def _is_divisor(expr: Expr) -> bool:
    return isinstance(expr, IntImm) and expr.value != 0


def _uses(stmt: Stmt, position: int) -> Iterator[tuple[Any, _Use]]:
    for node in walk(stmt, _ACCESSES):
        if isinstance(node, BufferLoad | BufferStore) and len(node.indices) == 1:
            index = _index_of(node)
            if index.mask & _BINARY and _is_worth_it(index):
                yield key_of(index), _Use(index, position, node.buffer.name)


_BINARY = mask_of(Binary)


def _named(stmt: Seq) -> Seq:
    """A sequence in which repeated indices, whose variables are all known at the first use, have names."""
    found: dict[Any, list[_Use]] = {}
    for position, item in enumerate(stmt.stmts):
        if item.mask & _ACCESSES:
            for key, use in _uses(item, position):
                found.setdefault(key, []).append(use)
    repeated = {key: uses for key, uses in found.items() if len(uses) > 1}
    if not repeated:
        return stmt
    late = _defined_from(stmt)
    names = _given_names(stmt, repeated)
    before: dict[int, list[Stmt]] = {}
    for key, uses in repeated.items():
        if key in names:
            continue
        first = uses[0]
        if any(late.get(id(var), 0) > first.position for var in _variables(first.expr)):
            continue
        owners = {use.buffer for use in uses}
        name = f"{owners.pop()}_index" if len(owners) == 1 else "index"
        var = names[key] = Var(name, first.expr.dtype, span=first.expr.span)
        before.setdefault(first.position, []).append(Bind(var, first.expr, span=first.expr.span))
    return _replaced(stmt, names, before) if names else stmt


def _given_names(stmt: Seq, repeated: dict[Any, list[_Use]]) -> dict[Any, Var]:
    """Indices that the author has named already, before their first use."""
    found: dict[Any, Var] = {}
    for position, item in enumerate(stmt.stmts):
        if isinstance(item, Bind) and item.value.mask & _BINARY:
            key = key_of(item.value)
            if key in repeated and position < repeated[key][0].position:
                found.setdefault(key, item.var)
    return found


def _defined_from(stmt: Seq) -> dict[int, int]:
    """Variables defined inside a sequence, with the first position at which they are known (none: deeper inside)."""
    found: dict[int, int] = {}
    for position, item in enumerate(stmt.stmts):
        for node in walk(item):
            if isinstance(node, Stmt):
                known = position + 1 if node is item and not isinstance(node, For) else len(stmt.stmts) + 1
                found.update((id(var), known) for var in definitions(node))
    return found


def _variables(expr: Expr) -> list[Var]:
    return [node for node in walk(expr, mask_of(Var)) if isinstance(node, Var)]


def _replaced(stmt: Seq, names: dict[Any, Var], before: dict[int, list[Stmt]]) -> Seq:
    def change(node: Any) -> Any:
        if len(node.indices) != 1 or not _index_of(node).mask & _BINARY:
            return None
        var = names.get(key_of(_index_of(node)))
        if var is None:
            return None
        index = node.indices[0]
        return node.rebuild(indices=(index.rebuild(base=var) if isinstance(index, Ramp) else var,))

    made: list[Stmt] = []
    for position, item in enumerate(stmt.stmts):
        made += before.get(position, ())
        made.append(rewrite(item, {BufferLoad: change, BufferStore: change}))
    return Seq(tuple(made))


def _function(func: PrimFunc) -> PrimFunc:
    if func.attrs.get("role") == "host":
        return func
    return func.with_body(_outermost_first(func.body))


def _outermost_first(stmt: Stmt) -> Stmt:
    """Sequences from the outside in: an index is named as far out as its variables allow."""
    if not stmt.mask & _ACCESSES:
        return stmt
    if isinstance(stmt, Seq):
        named = _named(stmt)
        made = tuple(_outermost_first(item) for item in named.stmts)
        return named if all(a is b for a, b in zip(made, named.stmts, strict=True)) else Seq(made)
    if isinstance(stmt, BufferStore):
        return _alone(stmt)
    changes: dict[str, Any] = {}
    for field in stmt.FIELDS:
        old = getattr(stmt, field.name) if field.role == "child" else None
        if isinstance(old, Stmt):
            new = _outermost_first(old)
            if new is not old:
                changes[field.name] = new
    return stmt.rebuild(**changes) if changes else stmt


def _alone(stmt: BufferStore) -> Stmt:
    """A store that is the whole body of a loop or branch."""
    made = _named(Seq((stmt,)))
    return made.stmts[0] if len(made.stmts) == 1 else made


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with names for repeated indices."""
    return module.map(_function)


common_subexpressions = Pass("common_subexpressions", run, requires=("layouts_lowered",))
