"""Values that nobody reads, storage that nobody reads, assertions that always hold, and empty statements go.

before  bx = launch_index("cta.x");  t: Tx.float32 = 0.0;  t = A[i];  if c: pass;  u: Tx.int32 = atomic_add(B[0], 1)
after   atomic_add(B[0], 1)

Only what has no effect is removed: calls with effects and stores to memory that others see stay. Needs: nothing.
"""

from __future__ import annotations

from ..intrinsic import effect_of
from ..ir import (
    Alloc,
    Assert,
    Bind,
    Buffer,
    BufferLoad,
    BufferStore,
    Call,
    Decl,
    Evaluate,
    Expr,
    For,
    If,
    IntImm,
    IRModule,
    Node,
    PrimFunc,
    Seq,
    Stmt,
    Var,
    map_bodies,
    mask_of,
    variables,
    walk,
)  # fmt: skip
from .pipeline import Pass, PassContext

__all__ = ["is_pure", "remove_dead"]


def is_pure(expr: Node) -> bool:
    """Whether an expression has no effect; reading memory is none."""
    stack: list[Node] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Call) and not effect_of(node).is_silent:
            return False
        if node.mask & Call.BIT:
            stack.extend(node.children())
    return True


class _Uses:
    """How often each variable is read, and each buffer accessed.

    A store to storage of one thread reads nothing of it, not even one that makes a scalar's new value from its old one: a counter
    that only counts is dead.
    """

    def __init__(self, body: Stmt) -> None:
        self.count: dict[int, int] = {}
        self.accessed: dict[int, int] = {}
        self.stored: dict[int, int] = {}
        self.removed = 0
        self.private: set[int] = set()
        self.keep(body)

    def read(self, var: Var) -> bool:
        """Whether anything reads `var`."""
        return self.count.get(id(var), 0) > 0

    def keep(self, root: Node) -> None:
        """`root` is there: so are its reads."""
        self._count_all(root, 1)

    def forget(self, root: Node) -> None:
        """`root` is gone: its reads too."""
        self.removed += 1
        self._count_all(root, -1)

    def _count_all(self, root: Node, amount: int) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            self._add(node, amount)
            if isinstance(node, Alloc) and node.buffer.scope_name == "local":
                self.private.add(id(node.buffer.data))
            stack.extend(node.children())

    def _add(self, node: Node, amount: int) -> None:
        if isinstance(node, Var):
            self._count(node, amount)
        elif isinstance(node, Alloc | Decl):
            self._sizes(node.buffer, amount)
            if isinstance(node, Decl) and node.source is None:
                self._count(node.buffer.data, amount)
        elif isinstance(buffer := getattr(node, "buffer", None), Buffer):  # accesses and regions of any kind
            self.accessed[id(buffer)] = self.accessed.get(id(buffer), 0) + amount
            if isinstance(node, BufferStore):
                self.stored[id(buffer.data)] = self.stored.get(id(buffer.data), 0) + amount
                if buffer.is_scalar and is_pure(node.value):
                    self._count(buffer.data, -amount * _loads(node.value, buffer.data))
            else:
                self._count(buffer.data, amount)

    def _sizes(self, buffer: Buffer, amount: int) -> None:
        for size in buffer.shape:
            if isinstance(size, Expr):
                for var in variables(size):
                    self._count(var, amount)

    def _count(self, var: Var, amount: int) -> None:
        self.count[id(var)] = self.count.get(id(var), 0) + amount


def _loads(expr: Expr, data: Var) -> int:
    """How often an expression reads storage."""
    loads = walk(expr, mask_of(BufferLoad))
    return sum(isinstance(node, BufferLoad) and node.buffer.data is data for node in loads)


class _Sweep:
    """One pass from the last statement to the first, so that what only dead statements read is dead too."""

    def __init__(self, uses: _Uses) -> None:
        self.uses = uses

    def statement(self, stmt: Stmt) -> Stmt | None:
        """What is left of a statement."""
        if isinstance(stmt, Seq):
            return self._sequence(stmt)
        if self._is_dead(stmt):
            self.uses.forget(stmt)
            return None
        if isinstance(stmt, BufferStore) and self._is_unread(stmt):
            return self._effect_alone(stmt)
        made = map_bodies(stmt, lambda body: self.statement(body) or Seq(()))
        if isinstance(made, If) and made.orelse is not None and _is_empty(made.orelse):
            made = made.rebuild(orelse=None)
        return self._not_empty(made)

    def _sequence(self, stmt: Seq) -> Stmt | None:
        kept = [item for item in map(self.statement, reversed(stmt.stmts)) if item is not None]
        kept.reverse()
        if not kept:
            return None
        if len(kept) == len(stmt.stmts) and all(a is b for a, b in zip(kept, stmt.stmts, strict=True)):
            return stmt
        return kept[0] if len(kept) == 1 else Seq(tuple(kept))

    def _is_dead(self, stmt: Stmt) -> bool:
        if isinstance(stmt, Bind):
            return not self.uses.read(stmt.var) and is_pure(stmt.value)
        if isinstance(stmt, BufferStore):
            return self._is_unread(stmt) and is_pure(stmt.value)
        if isinstance(stmt, Assert):
            return isinstance(stmt.condition, IntImm) and bool(stmt.condition.value)
        if isinstance(stmt, Alloc):
            data = stmt.buffer.data
            unused = not self.uses.read(data) and not self.uses.stored.get(id(data))
            return unused and id(data) in self.uses.private
        if isinstance(stmt, Decl):
            return not self.uses.accessed.get(id(stmt.buffer)) and (stmt.source is None or is_pure(stmt.source))
        if isinstance(stmt, Evaluate):
            return isinstance(stmt.value, IntImm | Var) or is_pure(stmt.value)
        return False

    def _is_unread(self, stmt: BufferStore) -> bool:
        """Whether nobody reads what is stored; the storage itself goes then."""
        data = stmt.buffer.data
        return id(data) in self.uses.private and not self.uses.read(data) and all(map(is_pure, stmt.indices))

    def _effect_alone(self, stmt: BufferStore) -> Stmt:
        self.uses.forget(stmt)
        self.uses.keep(stmt.value)
        return Evaluate(stmt.value, span=stmt.span)

    def _not_empty(self, stmt: Stmt) -> Stmt | None:
        """Branches and loops without a body go, when what decides them has no effect."""
        bodies = [child for child in stmt.children() if isinstance(child, Stmt)]
        if isinstance(stmt, If | For) and all(map(_is_empty, bodies)) and all(map(is_pure, stmt.children())):
            self.uses.forget(stmt)
            return None
        return stmt


def _is_empty(stmt: Stmt) -> bool:
    return isinstance(stmt, Seq) and not stmt.stmts


def without_dead(func: PrimFunc) -> PrimFunc:
    """The function after the pass."""
    body, uses = func.body, _Uses(func.body)
    while True:  # a store is dead only once what reads it is gone, which may stand before it
        body = _Sweep(uses).statement(body) or Seq(())
        if not uses.removed:
            return func.with_body(body)
        uses = _Uses(body)


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without what nobody reads."""
    return module.map(without_dead)


remove_dead = Pass("remove_dead", run)
