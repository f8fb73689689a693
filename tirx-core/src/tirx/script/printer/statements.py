"""Statements as lines of text. A block is a list of lines; nested blocks are indented."""

from __future__ import annotations

from ...intrinsic import effect_of
from ...ir import (
    BOOL,
    Alloc,
    Assert,
    Attr,
    Bind,
    Break,
    Buffer,
    BufferLoad,
    BufferStore,
    Call,
    Continue,
    Decl,
    Evaluate,
    Expr,
    For,
    If,
    IntImm,
    Launch,
    Let,
    Return,
    ScopeIdDef,
    Seq,
    Stmt,
    StringImm,
    TileCall,
    Tuple,
    Var,
    While,
    walk,
)  # fmt: skip
from . import buffers, loops
from .attributes import attr_lines
from .expressions import ExpressionPrinter
from .literals import dtype_text, is_number, number, plain_data, quoted
from .names import NameTable
from .scopes import scope_id_text
from .tiles import tile_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = ["StatementPrinter"]

INDENT = "    "


class StatementPrinter:
    """Prints the statements of one function; knows the names of what is visible."""

    def __init__(self) -> None:
        self.names = NameTable()
        self.pointers: dict[int, Buffer] = {}  # storage variables that print as `buffer.data`
        self.declared: list[str] = []  # lines that must stand before the statement that is being printed
        self.depth = 0
        self.framed = False
        self.expressions = ExpressionPrinter(self.name, self.pointer, self.before_let)

    # ---- names --------------------------------------------------------------------------------------------------------

    def name(self, item: Any) -> str:
        """The name of a variable or buffer; one that nothing defines is introduced before the statement."""
        found = self.names.find(item)
        if found is not None:
            return found
        found = self.names.define(item)
        if isinstance(item, Buffer):
            text = buffers.object_text(self, item)
            self.pointers.setdefault(id(item.data), item)
            self.declared.append(f"{found} = {text}")
        else:
            self.declared.append(
                f"{found} = {dtype_text(item.dtype).removesuffix('()')}()"
                if not _called(item)
                else f"{found} = {dtype_text(item.dtype)}"
            )
        return found

    def pointer(self, var: Var) -> str:
        """A pointer: `buffer.data` when it is a buffer's storage."""
        owner = self.pointers.get(id(var))
        if owner is not None and self.names.find(var) is None:
            return f"{self.name(owner)}{'.buffer' if owner.is_scalar else ''}.data"
        return self.name(var)

    def before_let(self, node: Let) -> None:
        """The variable of a let expression exists before the expression that binds it."""
        if self.names.find(node.var) is None:
            self.name(node.var)

    def define_buffer(self, buffer: Buffer) -> str:
        """A statement defines `buffer`: its name, and its storage by that name."""
        found = self.names.define(buffer)
        if self.names.find(buffer.data) is None:
            self.pointers[id(buffer.data)] = self.pointers.get(id(buffer.data), buffer)
        return found

    def text(self, expr: Any, expected: Any = None) -> str:
        """An expression."""
        return self.expressions.text(expr, expected)

    # ---- blocks -------------------------------------------------------------------------------------------------------

    def block(self, stmt: Stmt | None) -> list[str]:
        """The lines of a nested block, indented."""
        self.names.enter()
        self.depth += 1
        known = dict(self.pointers)
        lines = self.lines(stmt) or ["pass"]
        self.pointers = known
        self.depth -= 1
        self.names.leave()
        return [f"{INDENT}{line}" for line in lines]

    def loop_block(self, stmt: Stmt, *, framed: bool = False) -> list[str]:
        """The block of a loop; `framed` when Python does not see a loop there, and knows no `break`."""
        outer, self.framed = self.framed, framed
        lines = self.block(stmt)
        self.framed = outer
        return lines

    def lines(self, stmt: Stmt | None) -> list[str]:
        """The lines of statements in one block."""
        stmts = list(stmt.stmts) if isinstance(stmt, Seq) else [] if stmt is None else [stmt]
        made: list[str] = []
        at = 0
        while at < len(stmts):
            last = at == len(stmts) - 1
            taken, lines = self._statement(stmts, at, last)
            made += self._introduced() + lines
            at += taken
        return made

    def _introduced(self) -> list[str]:
        lines, self.declared = self.declared, []
        return lines

    def _statement(self, stmts: Sequence[Stmt], at: int, last: bool) -> tuple[int, list[str]]:
        """How many statements were printed, and their lines."""
        stmt = stmts[at]
        if isinstance(stmt, Alloc) and at + 1 < len(stmts):
            line = self._initialised(stmt, stmts[at + 1])
            if line is not None:
                return 2, [line]
        if isinstance(stmt, Attr):
            return 1, attr_lines(self, stmt, last)
        return 1, _RULES[type(stmt)](self, stmt)

    # ---- single statements --------------------------------------------------------------------------------------------

    def _initialised(self, stmt: Alloc, following: Stmt) -> str | None:
        """`x: T.float32 = e` for a plain scalar whose first store follows at once."""
        buffer = stmt.buffer
        if not (buffers.is_plain_scalar(buffer) and buffer.scope_name == "local" and not stmt.annotations):
            return None
        if not (isinstance(following, BufferStore) and following.buffer is buffer and _is_first(following.indices)):
            return None
        if following.value.dtype is not buffer.dtype or _mentions(following.value, buffer):
            return None
        value = self._value(following)
        return f"{self.define_buffer(buffer)}: {dtype_text(buffer.dtype)} = {value}"

    def _value(self, stmt: BufferStore) -> str:
        """The stored value; a constant takes the buffer's type by itself."""
        value = stmt.value
        if is_number(value) and value.dtype is stmt.buffer.dtype and value.dtype is not BOOL:
            return number(value, value.dtype)
        return self.text(value)

    def _alloc(self, stmt: Alloc) -> list[str]:
        text = buffers.alloc_text(self, stmt)
        return [f"{self.define_buffer(stmt.buffer)} = {text}"]

    def _decl(self, stmt: Decl) -> list[str]:
        text = buffers.decl_text(self, stmt)
        return [f"{self.define_buffer(stmt.buffer)} = {text}"]

    def _bind(self, stmt: Bind) -> list[str]:
        value = self.text(stmt.value)
        kind = "T.let" if stmt.var.dtype is stmt.value.dtype else f"T.let[{dtype_text(stmt.var.dtype)}]"
        return [f"{self.names.define(stmt.var)}: {kind} = {value}"]

    def _store(self, stmt: BufferStore) -> list[str]:
        value = self._value(stmt)
        texts = [self.text(item) for item in stmt.indices]
        if stmt.buffer.is_scalar and isinstance(stmt.value, BufferLoad) and stmt.value.buffer is stmt.buffer:
            return [f"T.buffer_store({self.name(stmt.buffer)}, {value}, [{', '.join(texts)}])"]  # `x = x` says nothing
        return [f"{self.expressions.element(stmt.buffer, stmt.indices, texts)} = {value}"]

    def _evaluate(self, stmt: Evaluate) -> list[str]:
        text = self.text(stmt.value)
        return [text if _stands_alone(stmt.value) else f"T.evaluate({text})"]

    def _for(self, stmt: For) -> list[str]:
        return loops.for_lines(self, stmt)

    def _while(self, stmt: While) -> list[str]:
        condition = self.text(stmt.condition)
        before = self._introduced()
        if not is_number(stmt.condition):
            return [*before, f"while {condition}:", *self.loop_block(stmt.body)]
        return [*before, f"with T.While({condition}):", *self.loop_block(stmt.body, framed=True)]

    def _if(self, stmt: If) -> list[str]:
        if is_number(stmt.condition):
            return self._constant_if(stmt)
        lines = [f"if {self.text(stmt.condition)}:"]
        before = self._introduced()
        lines += self.block(stmt.then)
        other = stmt.orelse
        while isinstance(other, If) and not is_number(other.condition):
            condition = self.text(other.condition)
            if self.declared:  # what it needs cannot stand between `if` and `elif`
                self.declared.clear()
                break
            lines += [f"elif {condition}:", *self.block(other.then)]
            other = other.orelse
        if other is not None:
            lines += ["else:", *self.block(other)]
        return before + lines

    def _constant_if(self, stmt: If) -> list[str]:
        """A branch on a constant, which `if` would decide while the text is read."""
        parts = [("Then", stmt.then), *([("Else", stmt.orelse)] if stmt.orelse is not None else [])]
        inner = [line for name, part in parts for line in (f"with T.{name}():", *self.block(part))]
        return [f"with T.If({self.text(stmt.condition)}):", *(f"{INDENT}{line}" for line in inner)]

    def _assert(self, stmt: Assert) -> list[str]:
        condition = self.text(stmt.condition)
        if (
            not is_number(stmt.condition)
            and stmt.kind == "RuntimeError"
            and len(stmt.message) == 1
            and isinstance(stmt.message[0], StringImm)
        ):
            return [f"assert {condition}, {quoted(stmt.message[0].value)}"]
        parts = ", ".join(self.text(item) for item in stmt.message)
        return [f"T.Assert({condition}, [{parts}], {quoted(stmt.kind)})"]

    def _scope_id(self, stmt: ScopeIdDef) -> list[str]:
        text = scope_id_text(self, stmt)
        return [f"{', '.join(self.names.define(var) for var in stmt.vars)} = {text}"]

    def _break(self, stmt: Break) -> list[str]:
        return ["T.Break()" if self.framed else "break"]

    def _continue(self, stmt: Continue) -> list[str]:
        return ["T.Continue()" if self.framed else "continue"]

    def _return(self, stmt: Return) -> list[str]:
        if stmt.value is None:
            return ["T.thread_return()"]
        return [f"T.Return({self.text(stmt.value)})"]

    def _launch(self, stmt: Launch) -> list[str]:
        args = ", ".join(self.text(item) for item in stmt.args)
        parts = [quoted(stmt.kernel), f"[{args}]"]
        parts.append(self._table(stmt.axes, stmt.extents))
        if stmt.resources or stmt.flags:
            parts.append(self._table(stmt.resources, stmt.resource_values))
        if stmt.flags:
            parts.append(plain_data(list(stmt.flags)))
        return [f"T.tirx.launch({', '.join(parts)})"]

    def _tile(self, stmt: TileCall) -> list[str]:
        return [tile_text(self, stmt)]

    def _table(self, keys: Sequence[str], values: Sequence[Expr]) -> str:
        return "{" + ", ".join(f"{quoted(k)}: {self.text(v)}" for k, v in zip(keys, values, strict=True)) + "}"

    def attribute(self, value: Expr) -> str:
        """The value of an attribute: lists, numbers and text as plain data."""
        if isinstance(value, Tuple):
            return f"[{', '.join(self.attribute(item) for item in value.items)}]"
        if isinstance(value, IntImm) and value.dtype is BOOL:
            return str(bool(value.value))
        return self.text(value)


def _stands_alone(value: Expr) -> bool:
    """Whether the call is a statement by itself, since it has an effect."""
    return isinstance(value, Call) and not effect_of(value).is_silent


def _called(var: Var) -> bool:
    return dtype_text(var.dtype).endswith(")")


def _is_first(indices: Sequence[Expr]) -> bool:
    return len(indices) == 1 and isinstance(indices[0], IntImm) and indices[0].value == 0


def _mentions(expr: Expr, buffer: Buffer) -> bool:
    return any(isinstance(node, BufferLoad) and node.buffer is buffer for node in walk(expr))


_RULES: dict[type[Stmt], Callable[[StatementPrinter, Any], list[str]]] = {
    Alloc: StatementPrinter._alloc, Decl: StatementPrinter._decl, Bind: StatementPrinter._bind, BufferStore: StatementPrinter._store,
    Evaluate: StatementPrinter._evaluate, For: StatementPrinter._for, While: StatementPrinter._while, If: StatementPrinter._if,
    Assert: StatementPrinter._assert, ScopeIdDef: StatementPrinter._scope_id, Break: StatementPrinter._break,
    Continue: StatementPrinter._continue, Return: StatementPrinter._return, Launch: StatementPrinter._launch, Seq: StatementPrinter.lines,
    TileCall: StatementPrinter._tile,
}  # fmt: skip
