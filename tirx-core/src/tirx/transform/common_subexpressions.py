"""An index that is computed several times gets a name.

before  A[i * 64 + j] = A[i * 64 + j] + 1.0
after   A_index = i * 64 + j
        A[A_index] = A[A_index] + 1.0

Compilers find these themselves; this is for people who read the source, so only whole indices of two operations or
more are named, after the buffer that they belong to. Needs: layouts lowered.
"""

from __future__ import annotations

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
    Let,
    Mod,
    Node,
    PrimFunc,
    Ramp,
    Seq,
    Stmt,
    Var,
    definitions,
    map_bodies,
    mask_of,
    rewrite,
    variables,
    walk,
)  # fmt: skip
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["common_subexpressions"]

_ACCESSES = mask_of(BufferLoad, BufferStore)
_BINARY = mask_of(Binary)
_VALUES = mask_of(BufferLoad, Call)
_DIVISIONS = (Div, Mod, FloorDiv, FloorMod)


class _Use:
    """One index that may get a name: what it is (`key`), and the buffer that it belongs to."""

    __slots__ = ("buffer", "expr", "key")

    def __init__(self, expr: Expr, key: Any, buffer: str) -> None:
        self.expr = expr
        self.key = key
        self.buffer = buffer


class _Naming:
    """Names indices from the outside in, each as far out as its variables allow."""

    def __init__(self, body: Stmt) -> None:
        self._inner = {id(node.var) for node in walk(body, mask_of(Let)) if isinstance(node, Let)}
        self._uses: dict[int, tuple[Stmt, list[_Use]]] = {}
        self._keys: dict[int, tuple[Expr, Any]] = {}

    def statement(self, stmt: Stmt) -> Stmt:
        """A statement with names inside."""
        if not stmt.mask & _ACCESSES:
            return stmt
        if isinstance(stmt, Seq):
            named = self._sequence(stmt)
            made = tuple(map(self.statement, named.stmts))
            return named if all(a is b for a, b in zip(made, named.stmts, strict=True)) else Seq(made)
        if isinstance(stmt, BufferStore):
            alone = self._sequence(Seq((stmt,)))  # the whole body of a loop or branch
            return stmt if len(alone.stmts) == 1 else alone
        return map_bodies(stmt, self.statement)

    def _sequence(self, stmt: Seq) -> Seq:
        """A sequence in which repeated indices, whose variables are all known at the first use, have names."""
        found: dict[Any, list[tuple[int, _Use]]] = {}
        for position, item in enumerate(stmt.stmts):
            for use in self._uses_in(item):
                found.setdefault(use.key, []).append((position, use))
        repeated = {key: uses for key, uses in found.items() if len(uses) > 1}
        if not repeated:
            return stmt
        names = self._given_names(stmt, repeated)
        known = _known_from(stmt)
        before: dict[int, list[Stmt]] = {}
        for key, uses in repeated.items():
            position, first = uses[0]
            if key in names or any(known.get(id(var), 0) > position for var in variables(first.expr)):
                continue
            owners = {use.buffer for _, use in uses}
            name = f"{first.buffer}_index" if len(owners) == 1 else "index"
            names[key] = Var(name, first.expr.dtype, span=first.expr.span)
            before.setdefault(position, []).append(Bind(names[key], first.expr, span=first.expr.span))
        return self._replaced(stmt, names, before) if names else stmt

    def _given_names(self, stmt: Seq, repeated: dict[Any, list[tuple[int, _Use]]]) -> dict[Any, Var]:
        """Indices that the author has named already, before their first use."""
        found: dict[Any, Var] = {}
        for position, item in enumerate(stmt.stmts):
            if isinstance(item, Bind):
                key = self._key(item.value)
                if key is not None and key in repeated and position < repeated[key][0][0]:
                    found.setdefault(key, item.var)
        return found

    def _replaced(self, stmt: Seq, names: dict[Any, Var], before: dict[int, list[Stmt]]) -> Seq:
        def change(node: Any) -> Any:
            index = node.indices[0]
            var = names.get(self._key(_start(index)))
            if var is None:
                return None
            return node.rebuild(indices=(index.rebuild(base=var) if isinstance(index, Ramp) else var,))

        made: list[Stmt] = []
        for position, item in enumerate(stmt.stmts):
            made += before.get(position, ())
            used = any(use.key in names for use in self._uses_in(item))
            made.append(rewrite(item, {BufferLoad: change, BufferStore: change}) if used else item)
        return Seq(tuple(made))

    def _uses_in(self, stmt: Stmt) -> list[_Use]:
        """Indices in a statement that are worth a name."""
        found = self._uses.get(id(stmt))
        if found is None:
            uses: list[_Use] = []
            for node in walk(stmt, _ACCESSES) if stmt.mask & _ACCESSES else ():
                if isinstance(node, BufferLoad | BufferStore):
                    index = _start(node.indices[0])
                    key = self._key(index)
                    if key is not None:
                        uses.append(_Use(index, key, node.buffer.name))
            found = self._uses[id(stmt)] = (stmt, uses)  # kept, so that its id stays taken
        return found[1]

    def _key(self, index: Expr) -> Any:
        """What an index is, or None when it is not worth a name."""
        if not index.mask & _BINARY or index.mask & _VALUES or index.dtype.lanes != 1:
            return None
        found = self._keys.get(id(index))
        if found is None:
            found = self._keys[id(index)] = (index, key_of(index) if self._is_worth_it(index) else None)
        return found[1]

    def _is_worth_it(self, expr: Expr) -> bool:
        """Two operations or more, none of which can trap, on variables of statements."""
        operations = [node for node in walk(expr, _BINARY) if isinstance(node, Binary)]
        safe = all(not isinstance(node, _DIVISIONS) or _is_divisor(node.b) for node in operations)
        return len(operations) >= 2 and safe and not any(id(var) in self._inner for var in variables(expr))


def _start(index: Expr) -> Expr:
    """The index, or where a vector starts."""
    return index.base if isinstance(index, Ramp) else index


def _is_divisor(expr: Expr) -> bool:
    return isinstance(expr, IntImm) and expr.value != 0


def _known_from(stmt: Seq) -> dict[int, int]:
    """Variables defined inside a sequence, with the first position at which they are known (beyond it: deeper inside)."""
    found: dict[int, int] = {}
    for position, item in enumerate(stmt.stmts):
        for node in _statements(item):
            known = position + 1 if node is item and not isinstance(node, For) else len(stmt.stmts) + 1
            found.update((id(var), known) for var in definitions(node))
    return found


def _statements(root: Stmt) -> list[Stmt]:
    """A statement and those inside it."""
    found: list[Stmt] = []
    stack: list[Node] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Stmt):
            found.append(node)
            stack.extend(node.children())
    return found


def _function(func: PrimFunc) -> PrimFunc:
    return func if func.attrs.get("role") == "host" else func.with_body(_Naming(func.body).statement(func.body))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with names for repeated indices."""
    return module.map(_function)


common_subexpressions = Pass("common_subexpressions", run, requires=("layouts_lowered",))
