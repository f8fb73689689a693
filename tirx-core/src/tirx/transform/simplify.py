"""Integer expressions in their shortest form, known conditions decided, names for constants and copies gone, loops of one turn too.

before  bx = 0
        if i < 64: A[bx * 64 + i // 32 * 32 + i % 32] = 1.0        (i in 0..63)
after   A[i] = 1.0

Indices do not overflow, so that `(x * 4 + 1) // 4` is `x`; values that come from memory may, and are left as they are,
as are floating-point expressions. Logical indices of an access (`coords`) are left as the author wrote
them.
"""

from __future__ import annotations

from ..ir import (
    Add,
    Binary,
    Bind,
    Break,
    BufferLoad,
    BufferStore,
    Call,
    Cast,
    Compare,
    Continue,
    Div,
    Evaluate,
    Expr,
    FloatImm,
    For,
    If,
    IntImm,
    IRModule,
    Max,
    Min,
    Mul,
    Not,
    PrimFunc,
    Ramp,
    Select,
    Stmt,
    Sub,
    Substitution,
    Unary,
    Var,
    mask_of,
    rewrite,
    walk,
)  # fmt: skip
from .lane import as_ramp
from .pipeline import Pass, PassContext
from .ranged import Ranged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["simplify"]

_WORTH_IT = mask_of(Binary, Unary, Not, Select, Cast)
_INTEGERS = mask_of(Compare)
_IN_ORDER = frozenset({"serial", "unrolled", "parallel"})
_FLOATING = frozenset({Sub, Mul, Div, Min, Max, Cast, Call})


class _Simplifier(Ranged):
    """One function."""

    def expression(self, expr: Expr) -> Expr:
        if not expr.mask & _WORTH_IT:
            return expr
        if expr.has(BufferLoad):
            expr = rewrite(expr, {}, enter={BufferLoad: self._load})
            if _is_data(expr):
                return self._call(expr) if isinstance(expr, Call) else expr
        return self.analyzer.simplify(expr) if _has_work(expr) else expr

    def _call(self, call: Call) -> Call:
        """A call that takes data; its other operands are as simple as anywhere."""
        made = tuple(map(self.expression, call.args))
        return call if all(a is b for a, b in zip(made, call.args, strict=True)) else call.rebuild(args=made)

    def _load(self, node: BufferLoad) -> BufferLoad | None:
        """An access with simple indices; `coords` stay what the author wrote."""
        made = tuple(map(self._index, node.indices))
        return None if all(a is b for a, b in zip(made, node.indices, strict=True)) else node.rebuild(indices=made)

    def _index(self, index: Expr) -> Expr:
        """A simple index; a vector whose lanes are neighbours is a ramp."""
        if index.dtype.lanes > 1 and not isinstance(index, Ramp):
            ramp = as_ramp(index, self.analyzer)
            if ramp is not None:
                return ramp
        return self.expression(index)

    def _store(self, stmt: BufferStore) -> BufferStore:
        made = tuple(map(self._index, stmt.indices))
        value = self.expression(stmt.value)
        if value is stmt.value and all(a is b for a, b in zip(made, stmt.indices, strict=True)):
            return stmt
        return stmt.rebuild(value=value, indices=made)

    def statement(self, stmt: Stmt) -> Stmt | list[Stmt]:
        if isinstance(stmt, BufferStore):
            return self._store(stmt)
        if isinstance(stmt, Bind) and isinstance(stmt.value, IntImm | Var):
            return []  # its uses were replaced
        if isinstance(stmt, Evaluate) and isinstance(stmt.value, IntImm):
            return []
        return super().statement(stmt)

    def loop(self, loop: For) -> Stmt | list[Stmt]:
        if _runs_once(loop):
            return self.statement(Substitution({id(loop.var): loop.start}).apply(loop.body))
        made = super().loop(loop)
        gone = isinstance(made, For) and isinstance(made.extent, IntImm) and made.extent.value <= 0
        return [] if gone and isinstance(loop.step, IntImm) and loop.step.value > 0 else made

    def branch(self, stmt: If) -> Stmt | list[Stmt]:
        """A branch that is decided leaves the side that is taken."""
        condition = self.expression(stmt.condition)
        decided = self._decided(condition)
        if decided is None:
            return self.undecided(stmt, condition)
        taken = stmt.then if decided else stmt.orelse
        return [] if taken is None else self.statement(taken)

    def _decided(self, condition: Expr) -> bool | None:
        if isinstance(condition, IntImm):
            return bool(condition.value)
        if not condition.mask & _INTEGERS or _is_data(condition):
            return None
        if self.analyzer.prove(condition):
            return True
        return False if self.analyzer.refute(condition) else None


def _runs_once(loop: For) -> bool:
    """Whether a loop has one turn and is left by no other way than its end."""
    if not (isinstance(loop.extent, IntImm) and isinstance(loop.step, IntImm)) or loop.kind not in _IN_ORDER:
        return False
    return 0 < loop.extent.value <= loop.step.value and not loop.body.has(Break, Continue)


def _is_data(expr: Expr) -> bool:
    """Whether a value comes from memory: it may wrap, while indices do not overflow. Scalars of a thread are indices."""
    stack: list[Any] = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, BufferLoad):
            if not node.buffer.is_scalar:
                return True
        else:
            stack += node.children()
    return False


def _has_work(expr: Expr) -> bool:
    """Whether simplifying may change something: not for sums of different variables, nor outside of integers."""
    seen: set[int] = set()
    constants = 0
    stack: list[Any] = [expr]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is Var:
            if id(node) in seen and node.dtype.is_integer:
                return True
            seen.add(id(node))
        elif kind is IntImm:
            constants += 1
            if constants > 1 or node.value in (0, 1):
                return True
        elif kind is Mul and isinstance(node.b, IntImm):
            if type(node.a) in (Mul, IntImm) or node.b.value in (0, 1):
                return True
            stack.append(node.a)
        elif kind is Add or (kind in _FLOATING and node.dtype.is_float):
            stack += node.children()
        elif kind is not BufferLoad and kind is not FloatImm:
            return True
    return False


def _copies(body: Stmt) -> dict[int, Expr]:
    """Bindings that only name a constant or another variable."""
    found: dict[int, Expr] = {}
    for node in walk(body, mask_of(Bind)):
        if isinstance(node, Bind) and isinstance(node.value, IntImm | Var):
            value = node.value
            found[id(node.var)] = found.get(id(value), value)
    return found


def simplified(func: PrimFunc) -> PrimFunc:
    """The function after the pass."""
    copies = _copies(func.body)
    body = Substitution(copies).apply(func.body) if copies else func.body
    return func.with_body(_Simplifier(func).body(body))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with simple expressions; unchanged when configuration says `simplify=False`."""
    return module.map(simplified) if context.config["simplify"] else module


simplify = Pass("simplify", run)
