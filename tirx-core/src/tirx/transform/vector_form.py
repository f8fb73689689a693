"""The body of a vectorized loop with all lanes at once."""

from __future__ import annotations

from ..arith import Analyzer
from ..intrinsic import Intrinsic
from ..ir import (
    Alloc,
    And,
    Attr,
    Binary,
    Bind,
    Broadcast,
    Buffer,
    BufferLoad,
    BufferStore,
    Call,
    Cast,
    Div,
    Evaluate,
    Expr,
    FloorDiv,
    FloorMod,
    For,
    If,
    IntImm,
    Let,
    Mod,
    Or,
    Ramp,
    Select,
    Seq,
    Shuffle,
    Stmt,
    Var,
    mask_of,
    rewrite,
    seq,
    walk,
)  # fmt: skip
from .lane import as_ramp, shared_condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ir import DType

__all__ = ["NoVectorForm", "VectorForm", "widest_access"]


class NoVectorForm(Exception):  # noqa: N818  # not an error: the loop is run lane by lane
    """Why a loop has no vector form."""


def _widens(narrow: DType, wide: DType) -> bool:
    """Whether a conversion of signed integers keeps every value."""
    return narrow.is_int and wide.is_int and wide.bits >= narrow.bits


def widest_access(body: Stmt) -> int:
    """Bits of the largest element that a loop loads or stores."""
    accesses = [
        node for node in walk(body, mask_of(BufferLoad, BufferStore)) if isinstance(node, BufferLoad | BufferStore)
    ]
    return max((node.buffer.dtype.total_bits for node in accesses), default=8)


class VectorForm:
    """Rewrites statements with `var` as the vector `start, start + step, ...` of `lanes` lanes."""

    def __init__(self, var: Var, start: Expr, step: Expr, lanes: int, analyzer: Analyzer) -> None:
        self.lanes = lanes
        self.analyzer = analyzer
        self.values: dict[int, Expr] = {id(var): Ramp(start, step, lanes, span=var.span)}
        self.buffers: dict[int, Buffer] = {}
        self.rules: dict[type[Any], Any] = {
            Var: self._var, Cast: self._cast, Select: self._select, BufferLoad: self._load, Call: self._call, Let:
            self._let, Ramp: self._nested, Broadcast: self._nested, Shuffle: self._nested, And: self._logical, Or:
            self._logical,
        }  # fmt: skip
        stack = list(Binary.__subclasses__())
        while stack:
            kind = stack.pop()
            stack.extend(kind.__subclasses__())
            self.rules.setdefault(kind, self._binary)

    # ---- statements -----------------------------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> Stmt:
        """All lanes of a statement; `NoVectorForm` says why there is none."""
        rule = _STATEMENTS.get(type(stmt))
        if rule is None:
            raise NoVectorForm(f"it holds a {type(stmt).__name__.lower()}")
        made: Stmt = rule(self, stmt)
        return made

    def _sequence(self, stmt: Seq) -> Stmt:
        return seq(self.statement(item) for item in stmt.stmts)

    def _store(self, stmt: BufferStore) -> Stmt:
        value, (index,) = self.expression(stmt.value), (self.expression(stmt.indices[0]),)
        wide = self.buffers.get(id(stmt.buffer))
        if wide is not None:
            return stmt.rebuild(buffer=wide, value=self._wide(value, wide.dtype.lanes))
        if index.dtype.lanes == 1:
            if value is stmt.value:
                return stmt  # every lane stores the same
            raise NoVectorForm(f"all lanes store to one element of `{stmt.buffer.name}`")
        index = self._contiguous(stmt.buffer, index)
        coords = tuple(map(self.expression, stmt.coords))
        return stmt.rebuild(value=self._wide(value, self.lanes), indices=(index,), coords=coords)

    def _bind(self, stmt: Bind) -> Stmt:
        value = self.expression(stmt.value)
        if value.dtype.lanes == stmt.var.dtype.lanes:
            return stmt.rebuild(value=value)
        var = self.values[id(stmt.var)] = Var(stmt.var.name, value.dtype, span=stmt.var.span)
        return stmt.rebuild(var=var, value=value)

    def _alloc(self, stmt: Alloc) -> Stmt:
        """A scalar of each lane becomes one vector."""
        old = stmt.buffer
        if not old.is_scalar or old.dtype.lanes != 1:
            raise NoVectorForm(f"it allocates `{old.name}`")
        wide = self.buffers[id(old)] = old.replaced(dtype=old.dtype.with_lanes(self.lanes), data=None)
        return stmt.rebuild(buffer=wide)

    def _if(self, stmt: If) -> Stmt:
        condition = self._shared(self.expression(stmt.condition))
        if condition.dtype.lanes > 1:
            raise NoVectorForm("it branches on its lane")
        orelse = None if stmt.orelse is None else self.statement(stmt.orelse)
        return stmt.rebuild(condition=condition, then=self.statement(stmt.then), orelse=orelse)

    def _for(self, stmt: For) -> Stmt:
        bounds = [self.expression(item) for item in (stmt.start, stmt.extent, stmt.step)]
        if any(item.dtype.lanes > 1 for item in bounds) or stmt.kind == "vectorized":
            raise NoVectorForm(f"the loop over `{stmt.var.name}` inside depends on its lane")
        start, extent, step = bounds
        return stmt.rebuild(start=start, extent=extent, step=step, body=self.statement(stmt.body))

    def _attr(self, stmt: Attr) -> Stmt:
        return stmt.rebuild(value=self.expression(stmt.value), body=self.statement(stmt.body))

    def _evaluate(self, stmt: Evaluate) -> Stmt:
        if isinstance(stmt.value, IntImm):
            return stmt
        raise NoVectorForm("it calls something with an effect")

    # ---- expressions ----------------------------------------------------------------------------------------------

    def expression(self, expr: Expr) -> Expr:
        """All lanes of an expression; the same object where no lane matters."""
        return rewrite(expr, self.rules, mask=-1)

    def _wide(self, expr: Expr, lanes: int) -> Expr:
        if expr.dtype.lanes == lanes:
            return expr
        if expr.dtype.lanes != 1:
            raise NoVectorForm("vectors of different widths meet")
        return Broadcast(expr, lanes, span=expr.span)

    def _shared(self, condition: Expr) -> Expr:
        """A condition that is provably the same in all lanes, as that of one."""
        if condition.dtype.lanes == 1:
            return condition
        shared = shared_condition(condition, self.lanes, self.analyzer)
        return condition if shared is None else shared

    def _var(self, var: Var) -> Expr | None:
        return self.values.get(id(var))

    def _nested(self, node: Expr) -> Expr:
        raise NoVectorForm("it has vectors inside")

    def _binary(self, node: Binary) -> Expr | None:
        lanes = max(node.a.dtype.lanes, node.b.dtype.lanes)
        if lanes == 1:
            return None
        ramp = self._affine(node)
        return (
            ramp
            if ramp is not None
            else type(node)(self._wide(node.a, lanes), self._wide(node.b, lanes), span=node.span)
        )

    def _affine(self, node: Binary) -> Expr | None:
        """Sums and products that keep the distance between lanes stay ramps."""
        a, b = node.a, node.b
        kind = type(node).__name__
        if kind in ("Add", "Sub") and isinstance(a, Ramp) and b.dtype.lanes == 1:
            return Ramp(self._plain(kind, a.base, b), a.stride, a.lanes, span=node.span)
        if kind == "Add" and isinstance(b, Ramp) and a.dtype.lanes == 1:
            return Ramp(self._plain(kind, a, b.base), b.stride, b.lanes, span=node.span)
        if kind == "Mul" and isinstance(a, Ramp) and b.dtype.lanes == 1:
            return Ramp(self._plain(kind, a.base, b), self._plain(kind, a.stride, b), a.lanes, span=node.span)
        if kind == "Mul" and isinstance(b, Ramp) and a.dtype.lanes == 1:
            return Ramp(self._plain(kind, a, b.base), self._plain(kind, a, b.stride), b.lanes, span=node.span)
        return None

    def _plain(self, kind: str, a: Expr, b: Expr) -> Expr:
        made = a + b if kind == "Add" else a - b if kind == "Sub" else a * b
        return self.analyzer.simplify(made)

    def _logical(self, node: And | Or) -> Expr | None:
        if node.a.dtype.lanes > 1 and node.b.has(BufferLoad, Call):
            raise NoVectorForm("a condition on its lane guards an access")
        return self._binary(node)

    def _cast(self, node: Cast) -> Expr | None:
        value, lanes = node.value, node.value.dtype.lanes
        if node.dtype.lanes == lanes:
            return None
        if isinstance(value, Ramp) and _widens(
            value.dtype, node.dtype
        ):  # indices do not overflow, so neighbours stay so
            base, stride = (Cast(node.dtype, part, span=node.span) for part in (value.base, value.stride))
            return Ramp(base, self.analyzer.simplify(stride), lanes, span=node.span)
        return Cast(node.dtype.with_lanes(lanes), value, span=node.span)

    def _select(self, node: Select) -> Expr | None:
        parts = (node.condition, node.true_value, node.false_value)
        lanes = max(part.dtype.lanes for part in parts)
        if lanes == 1:
            return None
        condition, yes, no = (self._wide(part, lanes) for part in parts)
        return Select(condition, yes, no, span=node.span)

    def _let(self, node: Let) -> Expr | None:
        if node.value.dtype.lanes > 1:
            raise NoVectorForm("it binds a name inside an expression")
        return None

    def _load(self, node: BufferLoad) -> Expr | None:
        wide = self.buffers.get(id(node.buffer))
        if wide is not None:
            return node.rebuild(buffer=wide)
        (index,) = node.indices
        if index.dtype.lanes == 1:
            return None
        return node.rebuild(indices=(self._contiguous(node.buffer, index),))

    def _contiguous(self, buffer: Buffer, index: Expr) -> Expr:
        """A vector index as an aligned run of neighbours."""
        if buffer.dtype.lanes != 1:
            raise NoVectorForm(f"`{buffer.name}` has vectors as elements")
        ramp = index if isinstance(index, Ramp) else as_ramp(index, self.analyzer)
        if ramp is None or not (isinstance(ramp.stride, IntImm) and ramp.stride.value == 1):
            raise NoVectorForm(f"its lanes are no neighbours in `{buffer.name}`")
        if not self.analyzer.divides(self.lanes, ramp.base):
            raise NoVectorForm(f"the access to `{buffer.name}` is not provably aligned")
        return ramp

    def _call(self, node: Call) -> Expr | None:
        lanes = max((arg.dtype.lanes for arg in node.args), default=1)
        row = node.op
        if not isinstance(row, Intrinsic) or not row.effect.is_pure:
            raise NoVectorForm(f"it calls `{row.name}`")
        if lanes == 1:
            return None
        if row.name == "if_then_else":
            return self._choice(node)
        if not _elementwise(row):
            raise NoVectorForm(f"`{row.name}` does not work on vectors")
        args = tuple(self._wide(arg, lanes) for arg in node.args)
        return Call(node.dtype.with_lanes(lanes), row, args, node.attrs, span=node.span)

    def _choice(self, node: Call) -> Expr:
        """A lazy choice is an eager one where both sides may be evaluated."""
        condition, yes, no = self._shared(node.args[0]), *node.args[1:]
        lanes = max(yes.dtype.lanes, no.dtype.lanes)
        if condition.dtype.lanes == 1:
            sides = (condition, self._wide(yes, lanes), self._wide(no, lanes))
            return Call(sides[1].dtype, node.op, sides, node.attrs, span=node.span)
        if any(side.has(BufferLoad, Call, *_TRAPS) for side in (yes, no)):
            raise NoVectorForm("a condition on its lane guards an access")
        width = condition.dtype.lanes
        return Select(condition, self._wide(yes, width), self._wide(no, width), span=node.span)


_TRAPS = (Div, Mod, FloorDiv, FloorMod)
_STATEMENTS: dict[type[Stmt], Any] = {
    Seq: VectorForm._sequence, BufferStore: VectorForm._store, Bind: VectorForm._bind, Alloc: VectorForm._alloc,
    If: VectorForm._if, For: VectorForm._for, Attr: VectorForm._attr, Evaluate: VectorForm._evaluate,
}  # fmt: skip


def _elementwise(row: Intrinsic) -> bool:
    """Whether a pure function of vectors is that of each lane: plain values of number types, any width, result alike."""
    plain = all(item.kind == "value" and not item.lanes for item in row.operands)
    numbers = {"float", "int", "uint", "integer", "number"}
    return (
        plain and all(item.dtypes and numbers.issuperset(item.dtypes) for item in row.operands) and bool(row.operands)
    )
