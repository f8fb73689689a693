"""Indices that provably leave their buffer.

Loop variables and scope ids with constant ranges take all their values, so the largest and smallest value of a linear
index are reached. Inside conditions that are not understood, only an index that is outside for all values is
reported; so also where ids depend on each other, as those of a thread in its cta and in its warp do.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...arith.linear import Linear, linear_of
from ...ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    And,
    Bind,
    Break,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Compare,
    Continue,
    Expr,
    For,
    If,
    IndexFunction,
    IntImm,
    Node,
    Or,
    Ramp,
    Return,
    Seq,
    Stmt,
    TileCall,
    Var,
    While,
)  # fmt: skip
from ...ir.tiles import writes
from ...support.errors import Diagnostic
from ...support.span import Span
from .facts import Facts, Kernel

__all__ = ["check"]

Range = tuple[int, int]
Place = tuple[int, int, int]
"""What an id counts: the levels from which and to which, and the dimension."""


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for kernel in facts.kernels:
        yield from _Bounds(kernel).statement(kernel.entry.body, True)


class _Bounds:
    """Walks statements with the exact ranges of variables; `exact` tells whether all of them are taken here."""

    def __init__(self, kernel: Kernel) -> None:
        self.ranges: dict[int, Range] = {}
        self.names: dict[int, Var] = {}
        self.forms: dict[int, Expr] = {}
        self.places: dict[int, Place] = {}
        self.limited: frozenset[int] = frozenset()
        extents = kernel.extents
        if extents is not None and not extents.problems:
            depth = {level.name: at for at, level in enumerate(extents.model.levels)}
            for item in kernel.known:
                dims = extents.dims(item.parent, item.child)
                for position, var in enumerate(item.vars, item.first):
                    self.places[id(var)] = (depth[item.parent], depth[item.child], position)
                    size = dims[position] if position < len(dims) else 1
                    if isinstance(size, int):
                        self._range(var, 0, size - 1)

    def _range(self, var: Var, low: int, high: int) -> None:
        self.ranges[id(var)] = (low, high)
        self.names[id(var)] = var

    def statement(self, stmt: Stmt, exact: bool) -> Iterator[Diagnostic]:
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                yield from self.statement(item, exact)
                exact = exact and not item.has(Break, Continue, Return)
            return
        if isinstance(stmt, Bind):
            self.forms[id(stmt.var)] = stmt.value
        if isinstance(stmt, TileCall):
            yield from self._tiles(stmt, exact)
        if isinstance(stmt, BufferStore):
            yield from self._access(stmt.buffer, stmt.indices, stmt.span, exact)
        for child in stmt.children():
            if isinstance(child, Expr):
                yield from self._expression(child, stmt.span, exact)
        if isinstance(stmt, If):
            yield from self._branch(stmt, exact)
        elif isinstance(stmt, For):
            yield from self._loop(stmt, exact)
        else:
            inside = exact and not isinstance(stmt, While)
            for child in stmt.children():
                if isinstance(child, Stmt):
                    yield from self.statement(child, inside)

    def _tiles(self, call: TileCall, exact: bool) -> Iterator[Diagnostic]:
        """Both ends of each region that a tile operation works on."""
        sizes = [item.value if isinstance(item, IntImm) else 0 for item in writes(call)[0].extents]
        for arg in call.args:
            if isinstance(arg, IndexFunction):
                for var, size in zip(arg.vars, sizes, strict=False):
                    self._range(var, 0, max(size - 1, 0))
        for region in (item for item in (*call.args, *call.workspace, *call.config) if isinstance(item, BufferRegion)):
            if any(isinstance(item, IntImm) and item.value < 1 for item in region.extents):
                continue  # it has no elements, which is reported elsewhere
            span = region.span or call.span
            problem = next(self._access(region.buffer, region.starts, span, exact), None)
            ends = tuple(map(_last, region.starts, region.extents))
            problem = problem or next(self._access(region.buffer, ends, span, exact), None)
            if problem is not None:
                yield problem

    def _loop(self, loop: For, exact: bool) -> Iterator[Diagnostic]:
        parts = [part.value if isinstance(part, IntImm) else None for part in (loop.start, loop.extent, loop.step)]
        start, extent, step = parts
        if loop.kind == "thread_binding":
            yield from self.statement(loop.body, exact)
        elif start is not None and extent is not None and step is not None and step > 0:
            if extent > 0:
                self._range(loop.var, start, start + (extent - 1) // step * step)
                yield from self.statement(loop.body, exact and not loop.body.has(Break))
        else:
            yield from self.statement(loop.body, False)

    def _branch(self, stmt: If, exact: bool) -> Iterator[Diagnostic]:
        narrowed = self._narrowed(stmt.condition)
        kept = dict(self.ranges), self.limited
        if narrowed is not None:
            self.ranges.update(narrowed)
            self.limited |= narrowed.keys()
        if all(low <= high for low, high in (narrowed or {}).values()):
            yield from self.statement(stmt.then, exact and narrowed is not None)
        self.ranges, self.limited = kept
        if stmt.orelse is not None:
            yield from self.statement(stmt.orelse, False)

    def _narrowed(self, condition: Expr) -> dict[int, Range] | None:
        """Ranges where the condition holds, when it is a conjunction of limits of single variables."""
        if isinstance(condition, And):
            left, right = self._narrowed(condition.a), self._narrowed(condition.b)
            if left is None or right is None or left.keys() & right.keys():
                return None
            return {**left, **right}
        if not isinstance(condition, LT | LE | GT | GE | EQ) or not condition.a.dtype.is_int:
            return None
        form = self._linear(condition.a - condition.b)
        atoms = list(form.items())
        if len(atoms) != 1 or atoms[0][1] not in (1, -1) or id(atoms[0][0]) not in self.ranges:
            return None
        return {id(atoms[0][0]): _limited(type(condition), self.ranges[id(atoms[0][0])], atoms[0][1], form.constant)}

    def _expression(self, root: Expr, span: Span | None, exact: bool) -> Iterator[Diagnostic]:
        if not root.has(BufferLoad):
            return
        stack: list[tuple[Node, bool]] = [(root, exact)]
        while stack:
            node, taken = stack.pop()
            if isinstance(node, BufferLoad):
                yield from self._access(node.buffer, node.indices, node.span or span, taken)
            inside = taken and not (isinstance(node, And | Or) or _is_choice(node))
            stack.extend((child, inside) for child in node.children())

    def _access(
        self, buffer: Buffer, indices: tuple[Expr, ...], span: Span | None, exact: bool
    ) -> Iterator[Diagnostic]:
        for axis, (index, size) in enumerate(zip(indices, buffer.shape, strict=False)):
            if not isinstance(size, int) or (isinstance(index, IntImm) and 0 <= index.value < size):
                continue
            found = self._extremes(index)
            if found is None:
                continue
            (low, high), lanes = found
            exact = exact and self._independent(index)
            if (exact and (low < 0 or high + lanes >= size)) or high + lanes < 0 or low >= size:
                worst = low if low < 0 else high + lanes
                yield self._outside(buffer, axis, size, index, worst, span)
            elif exact and high + lanes > index.dtype.element.max_int:
                yield self._too_narrow(buffer, axis, index, high + lanes, span)

    def _independent(self, index: Expr) -> bool:
        """Whether the ids in `index` take their values without regard to each other and to the conditions around."""
        atoms = {id(atom) for atom, _ in self._linear(index.base if isinstance(index, Ramp) else index).items()}
        mine = [key for key in atoms if key in self.places]
        others = [key for key in atoms | self.limited if key in self.places]
        return not any(a != b and _depend(self.places[a], self.places[b]) for a in mine for b in others)

    def _outside(self, buffer: Buffer, axis: int, size: int, index: Expr, worst: int, span: Span | None) -> Diagnostic:
        inside = index.base if isinstance(index, Ramp) else index
        at = self._where(inside, largest=worst >= 0)
        return Diagnostic(
            f"index {worst} is outside dimension {axis} of `{buffer.name}` ({size} elements){at}",
            span,
            hint="guard the access with `if`, or change the range",
        )

    def _too_narrow(self, buffer: Buffer, axis: int, index: Expr, reached: int, span: Span | None) -> Diagnostic:
        """The element exists, but the type in which the author computes its index ends before."""
        dtype = index.dtype.element
        return Diagnostic(
            f"the index of dimension {axis} of `{buffer.name}` reaches {reached}, and {dtype} ends at {dtype.max_int}",
            span,
            hint="compute it in 64 bits, e.g. Tx.int64(id) * size + ...",
        )

    def _where(self, index: Expr, largest: bool) -> str:
        """` when i = 15, tx = 31`."""
        parts = []
        for atom, factor in self._linear(index).items():
            low, high = self.ranges[id(atom)]
            parts.append(f"`{self.names[id(atom)].name}` is {high if (factor > 0) == largest else low}")
        return f" when {' and '.join(parts)}" if parts else ""

    def _extremes(self, index: Expr) -> tuple[Range, int] | None:
        """The range that a linear index takes, and how far the lanes of a vector reach beyond."""
        lanes = 0
        if isinstance(index, Ramp):
            if not isinstance(index.stride, IntImm):
                return None
            lanes, index = (index.lanes - 1) * index.stride.value, index.base
        if index.dtype.lanes != 1 or not index.dtype.is_int:
            return None
        form = self._linear(index)
        low = high = form.constant
        for atom, factor in form.items():
            known = self.ranges.get(id(atom))
            if known is None:
                return None
            ends = (factor * known[0], factor * known[1])
            low, high = low + min(ends), high + max(ends)
        return (low, high), lanes

    def _linear(self, expr: Expr) -> Linear:
        """The index as a sum over variables with ranges; bound names are replaced by what they stand for."""
        form = linear_of(expr)
        for _ in range(8):
            bound = [(atom, factor) for atom, factor in form.items() if id(atom) in self.forms]
            if not bound:
                break
            for atom, factor in bound:
                form.add(atom, -factor)
                inner = linear_of(self.forms[id(atom)])
                form.constant += factor * inner.constant
                for part, inner_factor in inner.items():
                    form.add(part, factor * inner_factor)
        return form


def _last(start: Expr, extent: Expr) -> Expr:
    """Index of the last element of a region along one dimension."""
    made: Expr = start + extent - 1
    return made


def _depend(one: Place, other: Place) -> bool:
    """Whether two ids count in part the same levels, as `thread_id()` and `lane_id()` do."""
    if one[:2] == other[:2]:
        return one[2] == other[2]
    return one[0] < other[1] and other[0] < one[1]


def _limited(kind: type[Compare], known: Range, sign: int, constant: int) -> Range:
    """Where `sign * x + constant <kind> 0`, within the known range of x."""
    low, high = known
    strict = kind in (LT, GT)
    upper = (kind in (LT, LE)) == (sign > 0)
    bound = -constant * sign
    if kind is EQ:
        return max(low, bound), min(high, bound)
    if upper:
        return low, min(high, bound - strict)
    return max(low, bound + strict), high


def _is_choice(node: Node) -> bool:
    return isinstance(node, Call) and node.op.name == "if_then_else"
