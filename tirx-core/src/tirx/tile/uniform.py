"""What the values in a kernel are, thread by thread, and which threads agree on them.

`Values` answers two questions about an expression: its value in each thread of the space (where it is a function of scope ids and
constants), and the level at which it is uniform (where it is not). Mutable scalars count: one that is stored once is its value, and
any other is as uniform as everything that is stored to it, and as the conditions under which that happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..backend import find
from ..intrinsic import Intrinsic
from ..ir import (
    And,
    Binary,
    Bind,
    Break,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Cast,
    Continue,
    Expr,
    For,
    If,
    IntImm,
    LShift,
    Neg,
    Not,
    Or,
    Return,
    RShift,
    Select,
    Stmt,
    TileCall,
    Var,
    While,
    mask_of,
    walk,
)  # fmt: skip
from ..ir.integers import DIVISIONS, EXACT
from ..ir.tiles import writes
from .space import THREAD, Space

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..analysis import Declaration

__all__ = ["Values", "leaves"]

Vector = Sequence[int]
_VALUES = ("value", "text", "constant", "guard")


class Values:
    """The expressions of one kernel part, seen from a space of threads."""

    def __init__(self, space: Space, body: Stmt | None = None, found: Iterable[Declaration] = ()) -> None:
        self.space = space
        self.widest = space.model.names[0] if space.model else "kernel"
        self.ids: dict[int, tuple[Declaration, int]] = {}
        self.bound: dict[int, tuple[Var, Expr]] = {}
        self.loops: dict[int, For] = {}
        self.stores = _Stores()
        self.levels: dict[int, str] = {}  # of mutable scalars, by their storage
        self._memo: dict[int, tuple[Expr, Vector | None]] = {}
        self._kept: list[Stmt] = []  # what was learnt goes by identity
        for item in found:
            self.declare(item)
        if body is not None:
            self.learn(body)

    def declare(self, item: Declaration) -> None:
        """Take note of scope ids."""
        for position, var in enumerate(item.vars):
            self.ids[id(var)] = (item, position)

    def learn(self, body: Stmt) -> None:
        """Take note of what `body` binds, loops over and stores."""
        self._kept.append(body)
        for node in walk(body, mask_of(Bind, For)):
            if isinstance(node, Bind):
                self.bound[id(node.var)] = (node.var, node.value)
            elif isinstance(node, For) and id(node.var) not in self.ids:
                self.loops[id(node.var)] = node
        self.stores.learn(body, tuple(expr for _, path in leaves(body, loop=False) for expr in path))
        self._settle()

    def variables(self) -> Iterator[Var]:
        """Scope ids, and names of values."""
        for item, position in self.ids.values():
            yield item.vars[position]
        for var, value in self.bound.values():
            if value.dtype.is_integer and value.dtype.lanes == 1:
                yield var

    def _settle(self) -> None:
        """Levels of scalars: start from the best and go down until nothing changes."""
        self.levels = dict.fromkeys(self.stores.by_scalar, self.widest)
        changed = True
        while changed:
            changed = False
            for key, stores in self.stores.by_scalar.items():
                exprs = [expr for value, controls in stores for expr in (value, *controls)]
                level = THREAD if key in self.stores.taken else self._widest(exprs)
                if level != self.levels[key]:
                    self.levels[key], changed = level, True

    # ---- values -----------------------------------------------------------------------------------------------------

    def vector(self, expr: Expr) -> Vector | None:
        """The value of an integer or bool expression in each thread of the space, or None."""
        known = self._memo.get(id(expr))
        if known is None or known[0] is not expr:
            self._memo[id(expr)] = (expr, None)  # a scalar that is computed from itself
            known = self._memo[id(expr)] = (expr, self._vector(expr))
        return known[1]

    def _vector(self, expr: Expr) -> Vector | None:  # one line per kind of node
        if isinstance(expr, IntImm):
            return [expr.value] * self.space.count
        if isinstance(expr, Var):
            return self._variable(expr)
        if isinstance(expr, BufferLoad):
            value = self.stores.only_value(expr)
            return None if value is None else self.vector(value)
        if isinstance(expr, Binary):
            return self._binary(expr)
        if isinstance(expr, Not | Neg):
            inner = self.vector(expr.a)
            return None if inner is None else [(not x) if isinstance(expr, Not) else -x for x in inner]
        if isinstance(expr, Cast) and expr.dtype.is_integer and expr.value.dtype.is_integer:
            inner = self.vector(expr.value)
            low, high = expr.dtype.min_int, expr.dtype.max_int
            return inner if inner is not None and all(low <= x <= high for x in inner) else None
        if isinstance(expr, Select):
            parts = [self.vector(item) for item in (expr.condition, expr.true_value, expr.false_value)]
            return None if None in parts else [a if c else b for c, a, b in zip(*parts, strict=True)]
        return None

    def _variable(self, var: Var) -> Vector | None:
        if id(var) in self.bound:
            return self.vector(self.bound[id(var)][1])
        if id(var) not in self.ids:
            return None
        item, position = self.ids[id(var)]
        found = self.space.ids(item.parent, item.child, item.first + position)
        start = item.node.start if isinstance(item.node, For) else IntImm(0, var.dtype)
        if found is None or not isinstance(start, IntImm):
            return None
        return [value + start.value for value in found]

    def _binary(self, expr: Binary) -> Vector | None:
        if expr.a.dtype.is_float or expr.a.dtype.lanes != 1:
            return None
        a, b = self.vector(expr.a), self.vector(expr.b)
        if a is None or b is None:
            return None
        if isinstance(expr, DIVISIONS) and not all(b):
            return None
        if isinstance(expr, LShift | RShift) and not all(0 <= x < 64 for x in b):
            return None
        if isinstance(expr, And | Or):
            both = isinstance(expr, And)
            return [int(bool(x and y) if both else bool(x or y)) for x, y in zip(a, b, strict=True)]
        exact, low, high = EXACT[type(expr)], expr.dtype.min_int, expr.dtype.max_int
        found = [int(exact(x, y)) for x, y in zip(a, b, strict=True)]
        return found if all(low <= x <= high for x in found) else None

    # ---- levels -----------------------------------------------------------------------------------------------------

    def level(self, expr: Expr) -> str:
        """The widest level inside whose members all threads have the same value, as far as that can be seen."""
        values = self.vector(expr) if expr.dtype.is_integer or expr.dtype.is_bool else None
        if values is not None:
            return self.space.level_of(values, self.space.everyone)
        if isinstance(expr, Var):
            return self._variable_level(expr)
        if isinstance(expr, BufferLoad):
            return self._load_level(expr)
        if isinstance(expr, Call) and not self._follows_operands(expr):
            return THREAD
        return self._widest([item for item in expr.children() if isinstance(item, Expr)])

    def _widest(self, exprs: Iterable[Expr]) -> str:
        found = self.widest
        for expr in exprs:
            found = self.space.inner(found, self.level(expr))
        return found

    def _variable_level(self, var: Var) -> str:
        key = id(var)
        if key in self.ids:
            return self.ids[key][0].child
        if key in self.bound:
            return self.level(self.bound[key][1])
        if key in self.loops:
            loop = self.loops[key]
            return self._widest((loop.start, loop.extent, loop.step))
        return self.widest

    def _load_level(self, load: BufferLoad) -> str:
        """Scalars by what is stored to them; of memory, one address holds one value for all who share it."""
        key = id(load.buffer.data)
        if key in self.levels:
            return self.levels[key]
        row = find("storage_scopes", load.buffer.scope_name)
        owner = row.owner_level if row is not None else ""
        return self.space.inner(owner or THREAD, self._widest(load.indices)) if self.space.model else self.widest

    @staticmethod
    def _follows_operands(call: Call) -> bool:
        """Whether equal operands give equal values: pure, and not asking who asks."""
        return isinstance(call.op, Intrinsic) and call.op.effect.is_silent and bool(call.args)


class _Stores:
    """Everything that is stored to mutable scalars, with the conditions on the way, by the storage's identity."""

    def __init__(self) -> None:
        self.by_scalar: dict[int, list[tuple[Expr, tuple[Expr, ...]]]] = {}
        self.taken: set[int] = set()  # scalars that something else may write too

    def only_value(self, load: BufferLoad) -> Expr | None:
        """What a scalar always holds, where it is stored once."""
        key = id(load.buffer.data)
        stores = self.by_scalar.get(key, ())
        return stores[0][0] if len(stores) == 1 and key not in self.taken else None

    def learn(self, stmt: Stmt, controls: tuple[Expr, ...]) -> None:
        """Take note of the stores in a statement that `controls` decide about."""
        if isinstance(stmt, BufferStore) and stmt.buffer.is_scalar and stmt.buffer.scope_name == "local":
            self.by_scalar.setdefault(id(stmt.buffer.data), []).append((stmt.value, controls))
        self._learn_taken(stmt)
        inside = (*controls, *_controls(stmt))
        for child in stmt.children():
            if isinstance(child, Stmt):
                self.learn(child, inside)

    def _learn_taken(self, stmt: Stmt) -> None:
        if isinstance(stmt, TileCall):
            given = [item for item in stmt.config if isinstance(item, BufferRegion)]
            self.taken |= {id(item.buffer.data) for item in (*writes(stmt), *given)}
        for child in stmt.children():
            if isinstance(child, Stmt) or not child.mask & (Call.BIT | Var.BIT):
                continue
            for node in walk(child, mask_of(Call, Var)):
                if isinstance(node, Var) and node.dtype.is_handle:
                    self.taken.add(id(node))
                elif isinstance(node, Call):
                    self.taken |= set(_written(node))


def _controls(stmt: Stmt) -> tuple[Expr, ...]:
    """What decides whether, and how often, each thread runs the statements inside."""
    own: tuple[Expr, ...] = ()
    if isinstance(stmt, If | While):
        own = (stmt.condition,)
    elif isinstance(stmt, For) and stmt.kind != "thread_binding":
        own = (stmt.extent, stmt.step)
    if isinstance(stmt, For | While):
        own += tuple(expr for _, path in leaves(stmt.body) for expr in path)
    return own


def leaves(stmt: Stmt, path: tuple[Expr, ...] = (), *, loop: bool = True) -> Iterator[tuple[Stmt, tuple[Expr, ...]]]:
    """Statements that leave `stmt` early (with `loop` also the `break` and `continue` of the loop that it is the body of).

    Each with the conditions on the way to it.
    """
    if isinstance(stmt, Return) or (loop and isinstance(stmt, Break | Continue)):
        yield stmt, path
        return
    inside = (*path, *_own_condition(stmt))
    for child in stmt.children():
        if isinstance(child, Stmt) and child.mask & mask_of(Return, Break, Continue):
            yield from leaves(child, inside, loop=loop and not isinstance(stmt, For | While))


def _own_condition(stmt: Stmt) -> tuple[Expr, ...]:
    return (
        (stmt.condition,) if isinstance(stmt, If | While) else (stmt.extent, stmt.step) if isinstance(stmt, For) else ()
    )


def _written(call: Call) -> Iterator[int]:
    """Storage that a call may write: its places and pointers."""
    row = call.op
    for number, arg in enumerate(call.args):
        operand = (
            row.operands[min(number, len(row.operands) - 1)] if isinstance(row, Intrinsic) and row.operands else None
        )
        reads = operand is not None and operand.rw == "r" and operand.kind in _VALUES
        if isinstance(arg, BufferLoad) and not reads:
            yield id(arg.buffer.data)
