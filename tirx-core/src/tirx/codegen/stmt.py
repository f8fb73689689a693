"""Statements to C text: values declared where they are first used, one line where people would write one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..arith import Interval
from ..intrinsic.internal import launch_axis
from ..ir import (
    EQ,
    GE,
    GT,
    INT32,
    LE,
    LT,
    NE,
    Add,
    Alloc,
    Assert,
    Attr,
    Binary,
    Bind,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    Break,
    Broadcast,
    Buffer,
    BufferLoad,
    BufferStore,
    Continue,
    Decl,
    Div,
    Evaluate,
    Expr,
    For,
    If,
    IntImm,
    LShift,
    Mul,
    PointerType,
    Ramp,
    Return,
    RShift,
    Seq,
    Stmt,
    Sub,
    Var,
    While,
    structural_equal,
    walk,
)  # fmt: skip
from ..ir import Let as LetExpr
from ..support.errors import TargetError
from ..support.words import an
from .expr import ExprPrinter, points_to
from .format import format_values
from .hoist import hoisted
from .lane_loop import loops_over_lanes, write_lanes
from .lanes import lane
from .literal import quoted
from .loop_bounds import may_change
from .precedence import ADD, BINARY, UNARY, Term
from .usage import is_unit
from .writer import SourceWriter

__all__ = ["StmtPrinter"]

_WIDTH = 100  # a branch that fits goes on one line
_COMPOUND = (Add, Sub, Mul, Div, BitwiseAnd, BitwiseOr, BitwiseXor, LShift, RShift)
_CONVERTED_CALL = re.compile(r"^\([\w ]+\)(?=[A-Za-z_]\w*\()")  # `(long long)f(x)` whose value nobody wants
_SIMPLE = (BufferStore, Evaluate, Break, Continue, Return)
_OPPOSITE: dict[type[Expr], type[Binary]] = {LT: GE, GE: LT, LE: GT, GT: LE, EQ: NE, NE: EQ}


class StmtPrinter:
    """Prints the body of one function through `expr` into `out`."""

    def __init__(self, expr: ExprPrinter, out: SourceWriter, place: Callable[[Buffer, str], str]) -> None:
        self.expr = expr
        self.out = out
        self.dynamic_name = place
        self._deferred: dict[int, Buffer] = {}
        self._mentions: dict[int, tuple[Stmt, frozenset[int]]] = {}

    def stmt(self, node: Stmt) -> None:
        """One statement and everything in it."""
        self.expr.begin()
        rule = _RULES.get(type(node))
        if rule is None:
            raise TargetError(f"{an(type(node).__name__)} statement cannot be written as source", span=node.span)
        rule(self, node)

    def line(self, text: str, node: Stmt | None = None) -> None:
        """A line that comes from the author's line of `node`."""
        self.out.line(text, None if node is None else node.span)

    @contextmanager
    def block(self, head: str, node: Stmt | None = None) -> Iterator[None]:
        """A block in which new names and ranges hold."""
        outer = self.expr.analyzer
        self.expr.analyzer = outer.child()
        with self.out.block(head, span=None if node is None else node.span), self.expr.names.scope():
            yield
        self.expr.analyzer = outer

    # ---- sequences and declarations ---------------------------------------------------------------------------

    def _seq(self, node: Seq) -> None:
        declared: dict[int, list[Alloc]] = {}
        for position, stmt in enumerate(node.stmts):
            for alloc in declared.get(position, ()):
                self._declare(alloc)
            if isinstance(stmt, Alloc):
                self._alloc_in(node, position, stmt, declared)
            else:
                self.stmt(stmt)

    def _alloc_in(self, node: Seq, position: int, alloc: Alloc, declared: dict[int, list[Alloc]]) -> None:
        """Storage is declared where it is first used; a scalar together with its first value."""
        data = id(alloc.buffer.data)
        first = next(
            (at for at in range(position + 1, len(node.stmts)) if data in self._mentioned(node.stmts[at])), None
        )
        if first is None:
            return
        user = node.stmts[first]
        if alloc.buffer.is_scalar:
            self.expr.variables.add(data)
        if alloc.buffer.is_scalar and self._starts(user, data) and not self._qualifier(alloc.buffer):
            self.expr.names.of(alloc.buffer.data, alloc.buffer.name)
            self._deferred[data] = alloc.buffer
        else:
            declared.setdefault(first, []).append(alloc)

    def _starts(self, stmt: Stmt, data: int) -> bool:
        """Whether a statement gives a scalar its first value without reading it."""
        return isinstance(stmt, BufferStore) and id(stmt.buffer.data) == data and data not in _names_in(stmt.value)

    def _mentioned(self, stmt: Stmt) -> frozenset[int]:
        found = self._mentions.get(id(stmt))
        if found is None:
            found = self._mentions[id(stmt)] = (stmt, _names_in(stmt))
        return found[1]

    def _qualifier(self, buffer: Buffer) -> str:
        scopes = self.expr.dialect.scopes
        if buffer.scope_name not in scopes:
            raise TargetError(
                f"`{buffer.name}` is in {buffer.scope_name} memory, which cannot be allocated in a kernel for {self.expr.dialect.name}",
                span=buffer.span,
                hint=f"allocate in {', '.join(scopes)}",
            )
        return scopes[buffer.scope_name]

    def _declare(self, alloc: Alloc) -> None:
        buffer = alloc.buffer
        qualifier, kind = self._qualifier(buffer), self.expr.type(buffer.dtype)
        if qualifier and qualifier == self.expr.dialect.dynamic:
            if self.expr.dialect.dynamic_argument:
                self._view_of_argument(buffer, alloc)
                return
            name = self.dynamic_name(buffer, kind)
            self.expr.names.give(buffer.data, name)
            self.line(f"{qualifier}{self._alignment(buffer, 16)}{kind} {name}[];", alloc)
            return
        name = self.expr.names.of(buffer.data, buffer.name)
        size = "" if buffer.is_scalar else f"[{self._size(buffer)}]"
        self.line(f"{qualifier}{self._alignment(buffer, 0)}{kind} {name}{size};", alloc)

    def _view_of_argument(self, buffer: Buffer, alloc: Alloc) -> None:
        """Memory that a parameter brings."""
        kind = self.expr.pointer(buffer.dtype, buffer.scope_name)
        name = self.expr.names.of(buffer.data, buffer.name)
        self.line(f"{kind} {name} = ({kind}){self.expr.dialect.dynamic_argument};", alloc)

    def _size(self, buffer: Buffer) -> int:
        total = 1
        for extent in buffer.shape:
            if not isinstance(extent, int):
                raise TargetError(
                    f"the size of `{buffer.name}` is known only when the kernel runs", span=buffer.span,
                    hint="give a constant size, or use the memory that the launch sizes (shared.dyn)",
                )  # fmt: skip
            total *= extent
        return max(total, 1)

    def _alignment(self, buffer: Buffer, least: int) -> str:
        """Only where more is needed than the element type gives."""
        usage, most = self.expr.usage, self.expr.dialect.vector_alignment
        widest = min(usage.vector_bytes.get(id(buffer.data), 0), most)
        if id(buffer.data) in usage.addressed and buffer.scope_name.startswith("shared"):
            widest = most  # instructions that take addresses in shared memory move whole vectors
        wanted = max(buffer.align, widest, least)
        return f"{self.expr.dialect.align.format(wanted)} " if wanted > buffer.dtype.bytes else ""

    def _alloc(self, node: Alloc) -> None:
        """Storage that nothing in its sequence uses."""

    def _decl(self, node: Decl) -> None:
        """A pointer given a shape, or storage seen with another element type or from another place on."""
        buffer, names = node.buffer, self.expr.names
        kind = PointerType(buffer.dtype, buffer.scope_name)
        if node.source is not None:
            value = self._hoist(node.source)
            term = self.expr.term(value)
            text = term.text if value.dtype is kind else self.expr.converted(term, value.dtype, kind).text
            self.line(f"{self._pointer(buffer.data, buffer)} {names.of(buffer.data, buffer.name)} = {text};", node)
        elif not points_to(buffer.data.dtype, buffer.dtype) or buffer.elem_offset != 0:
            text = self._offset(self.expr.base(buffer), buffer.elem_offset)
            self.line(f"{self._pointer(buffer.data, buffer)} {names.of(buffer, buffer.name)} = {text};", node)

    def _offset(self, base: Term, offset: int | Expr) -> str:
        if isinstance(offset, int):
            return f"{base.at(ADD)} + {offset}" if offset else base.text
        return f"{base.at(ADD)} + {self.expr.text(offset, ADD + 1)}"

    def _pointer(self, var: Var, buffer: Buffer) -> str:
        return f"{self._const(var)}{self.expr.pointer(buffer.dtype, buffer.scope_name)}"

    def _const(self, var: Var) -> str:
        # of a record, what it tells of is written, and not it
        return "" if id(var) in self.expr.usage.written and not var.dtype.by_value else "const "

    def _bind(self, node: Bind) -> None:
        value = self._hoist(node.value)
        name = self.expr.names.of(node.var, node.var.name)
        if loops_over_lanes(self, value):
            write_lanes(self, name, value)
            return
        const = self._const(node.var) if isinstance(node.var.dtype, PointerType) else ""
        self.line(f"{const}{self.expr.type(node.var.dtype)} {name} = {self.expr.assigned(value)};", node)
        self._learn(node.var, value)

    def _learn(self, var: Var, value: Expr) -> None:
        """Ranges of integer variables prove divisions."""
        if not var.dtype.is_integer or var.dtype.lanes > 1:
            return
        axis = launch_axis(value)
        if axis is not None:
            extent = self.expr.extents.get(axis)
            self.expr.analyzer.bind(var, 0, None if extent is None else extent - 1)
        else:
            self.expr.analyzer.bind_value(var, value)

    def _hoist(self, value: Expr) -> Expr:
        """`value` after its `Let`s have become declarations before the statement."""
        if not value.has(LetExpr):
            return value
        found, bindings = hoisted(value)
        for var, bound in bindings:
            self.line(f"{self.expr.type(var.dtype)} {self.expr.names.of(var, var.name)} = {self.expr.assigned(bound)};")
        return found

    # ---- stores -----------------------------------------------------------------------------------------------

    def _store(self, node: BufferStore) -> None:
        self.line(self.store_text(node), node)

    def store_text(self, node: BufferStore) -> str:
        """A store as text; one to several places that are not neighbours has several lines."""
        buffer, index = node.buffer, node.indices[-1] if node.indices else None
        value = self._by_lanes(self._hoist(node.value))
        if index is not None and index.dtype.lanes > 1:
            return self._vector_store(buffer, index, value)
        if self._deferred.pop(id(buffer.data), None) is not None:
            return f"{self.expr.type(buffer.dtype)} {self.expr.base(buffer).text} = {self.expr.assigned(value)};"
        place = self.expr.place(buffer, index if index is not None else IntImm(0, INT32))
        return f"{place} {self._assignment(node, value)};"

    def _by_lanes(self, value: Expr) -> Expr:
        """A wide vector that is best computed in a loop, as the variable that then holds it."""
        if not loops_over_lanes(self, value):
            return value
        var = Var("lanes", value.dtype)
        write_lanes(self, self.expr.names.of(var, "lanes"), value)
        return var

    def _assignment(self, node: BufferStore, value: Expr) -> str:
        """`= value`, or `+= x` where the value is the place plus x."""
        if (
            isinstance(value, _COMPOUND)
            and value.dtype.lanes == 1
            and isinstance(value.a, BufferLoad)
            and _same_place(node, value.a)
        ):
            return f"{BINARY[type(value)].symbol}= {self.expr.assigned(value.b)}"
        return f"= {self.expr.assigned(value)}"

    def _vector_store(self, buffer: Buffer, index: Expr, value: Expr) -> str:
        if isinstance(index, Ramp) and is_unit(index):
            return f"{self.expr.vector_place(buffer, index)} = {self.expr.text(value)};"
        lines = []
        if not isinstance(value, Var | Broadcast):
            var = Var("lanes", value.dtype)
            lines.append(f"{self.expr.type(value.dtype)} {self.expr.names.of(var, 'lanes')} = {self.expr.text(value)};")
            value = var
        for number in range(index.dtype.lanes):
            place = self.expr.place(buffer, self.expr.analyzer.simplify(lane(index, number)))
            lines.append(f"{place} = {self.expr.assigned(lane(value, number))};")
        return "\n".join(lines)

    def _evaluate(self, node: Evaluate) -> None:
        text = self.evaluate_text(node)
        if text:
            self.line(text, node)

    def evaluate_text(self, node: Evaluate) -> str:
        """An expression statement; nothing when the value has no effect."""
        text = self.expr.text(self._hoist(node.value))
        if not text or isinstance(node.value, Var | IntImm | BufferLoad):
            return ""
        text = _CONVERTED_CALL.sub("", text)
        return text if text.endswith((";", "}")) else f"{text};"

    # ---- control flow -----------------------------------------------------------------------------------------

    def _for(self, node: For) -> None:
        start, extent, step = self._hoist(node.start), self._hoist(node.extent), self._hoist(node.step)
        stop = self.expr.analyzer.simplify(start + extent)
        low, high = _range_of(self.expr.analyzer.bounds(start), self.expr.analyzer.bounds(stop), step)
        stop, step = self._decided(stop, node, "end"), self._decided(step, node, "step")
        first, last = self.expr.text(start), self.expr.text(stop, BINARY[LT].right)
        pragma = self._pragma(node)
        if pragma:
            self.line(pragma)
        with self.expr.names.scope():
            name = self.expr.names.of(node.var, node.var.name)
            goes_on, moves = self._progress(name, last, step)
            head = f"for ({self.expr.type(node.var.dtype)} {name} = {first}; {goes_on}; {moves})"
            with self.block(head, node):
                self.expr.analyzer.bind(node.var, low, high)
                self.stmt(node.body)

    def _decided(self, value: Expr, node: For, role: str) -> Expr:
        """`value`, declared before the loop when its body could change it."""
        if not may_change(value, node.body):
            return value
        var = Var(f"{node.var.name}_{role}", value.dtype)
        name = self.expr.names.of(var, var.name)
        self.line(f"{self.expr.type(var.dtype)} {name} = {self.expr.assigned(value)};")
        return var

    def _progress(self, name: str, last: str, step: Expr) -> tuple[str, str]:
        """The condition and the step of a loop; which way it counts may be known only when it runs."""
        if not isinstance(step, IntImm):
            amount = self.expr.text(step, UNARY)
            return f"{amount} > 0 ? {name} < {last} : {name} > {last}", f"{name} += {amount}"
        size = abs(step.value)
        if step.value < 0:
            return f"{name} > {last}", f"--{name}" if size == 1 else f"{name} -= {size}"
        return f"{name} < {last}", f"++{name}" if size == 1 else f"{name} += {size}"

    def _pragma(self, node: For) -> str:
        """What asks the compiler to unroll, or not to."""
        wish = dict(node.annotations).get("unroll", True if node.kind == "unrolled" else None)
        if wish is None or not self.expr.dialect.unroll:
            return ""
        factor = "" if wish is True else f" {max(int(wish), 1)}"
        return self.expr.dialect.unroll.format(factor)

    def _while(self, node: While) -> None:
        with self.block(f"while ({self.expr.text(node.condition)})", node):
            self.stmt(node.body)

    def _if(self, node: If) -> None:
        condition = self._hoist(node.condition)
        head = f"if ({self.expr.text(condition)})"
        short = self._short(head, node)
        if short is not None:
            self.line(short, node)
            return
        orelse: Stmt | None = node.orelse
        with self.block(head, node):
            self.stmt(node.then)
        while isinstance(orelse, If) and not orelse.condition.has(LetExpr):
            self.expr.begin()
            self._continue(f"else if ({self.expr.text(orelse.condition)})", orelse.then, orelse)
            orelse = orelse.orelse
        if orelse is not None:
            self._continue("else", orelse, None)

    def _continue(self, head: str, body: Stmt, node: Stmt | None) -> None:
        self.out.amend(f"}} {head} {{")
        outer = self.expr.analyzer
        self.expr.analyzer = outer.child()
        with self.out.indented(), self.expr.names.scope():
            self.stmt(body)
        self.expr.analyzer = outer
        self.out.line("}")

    def _short(self, head: str, node: If) -> str | None:
        """The whole branch on one line, when it is that simple."""
        if node.orelse is not None or not isinstance(node.then, _SIMPLE) or node.then.has(LetExpr):
            return None
        if isinstance(node.then, BufferStore) and (_is_scattered(node.then) or loops_over_lanes(self, node.then.value)):
            return None
        text = f"{head} {self._simple_text(node.then)}"
        return text if len(text) <= _WIDTH and "\n" not in text else None

    def _simple_text(self, node: Stmt) -> str:
        if isinstance(node, BufferStore):
            return self.store_text(node)
        if isinstance(node, Evaluate):
            return self.evaluate_text(node) or ";"
        return self._jump_text(node)

    def _jump_text(self, node: Stmt) -> str:
        if isinstance(node, Return):
            return "return;" if node.value is None else f"return {self.expr.assigned(self._hoist(node.value))};"
        return "break;" if isinstance(node, Break) else "continue;"

    def _jump(self, node: Stmt) -> None:
        self.line(self._jump_text(node), node)

    def _assert(self, node: Assert) -> None:
        template = self.expr.dialect.assertion
        if not template:
            raise TargetError(
                f"target {self.expr.dialect.name} has no assertions", span=node.span, hint="remove the assert"
            )
        failed = self._negated(node.condition)
        text, values = format_values(self.expr, node.message)
        place = f" at {node.span.path.rpartition('/')[2]}:{node.span.line}" if node.span is not None else ""
        message = quoted(f"{node.kind}: {text}{place}\n")
        with self.block(f"if ({failed})", node):
            self.line(template.format(", ".join([message, *values])))

    def _negated(self, condition: Expr) -> str:
        opposite = _OPPOSITE.get(type(condition))
        if (
            opposite is not None
            and isinstance(condition, LT | LE | GT | GE | EQ | NE)
            and not condition.a.dtype.is_float
        ):
            return self.expr.text(opposite(condition.a, condition.b))
        return f"!{self.expr.text(condition, UNARY)}"

    def _attr(self, node: Attr) -> None:
        self.stmt(node.body)


def _range_of(start: Interval, stop: Interval, step: Expr) -> tuple[int | None, int | None]:
    """Bounds of a loop variable."""
    if not isinstance(step, IntImm):
        return None, None
    if step.value < 0:
        return None if stop.low is None else stop.low + 1, start.high
    return start.low, None if stop.high is None else stop.high - 1


def _is_scattered(store: BufferStore) -> bool:
    """Whether a store goes to several places that are not neighbours."""
    index = store.indices[-1] if store.indices else None
    return index is not None and index.dtype.lanes > 1 and not (isinstance(index, Ramp) and is_unit(index))


def _names_in(node: Stmt | Expr) -> frozenset[int]:
    """Ids of the variables (and of the storage of buffers) that are mentioned at or below a node."""
    found: set[int] = set()
    for item in walk(node):
        if isinstance(item, Var):
            found.add(id(item))
        elif isinstance(item, BufferLoad | BufferStore | Decl):
            found.add(id(item.buffer.data))
    return frozenset(found)


def _same_place(store: BufferStore, load: BufferLoad) -> bool:
    if store.buffer is not load.buffer or len(store.indices) != len(load.indices):
        return False
    return all(structural_equal(a, b) for a, b in zip(store.indices, load.indices, strict=True))


_RULES: dict[type[Stmt], Callable[[StmtPrinter, Any], None]] = {
    Seq: StmtPrinter._seq,
    Alloc: StmtPrinter._alloc,
    Decl: StmtPrinter._decl,
    Bind: StmtPrinter._bind,
    BufferStore: StmtPrinter._store,
    Evaluate: StmtPrinter._evaluate,
    For: StmtPrinter._for,
    While: StmtPrinter._while,
    If: StmtPrinter._if,
    Break: StmtPrinter._jump,
    Continue: StmtPrinter._jump,
    Return: StmtPrinter._jump,
    Assert: StmtPrinter._assert,
    Attr: StmtPrinter._attr,
}
