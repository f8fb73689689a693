"""Statement by statement: host functions of every target, and kernels of targets that have no threads.

Values are Python numbers and NumPy scalars; integers wrap as in C. Buffers keep their shapes: an access names an element or a
box of the logical buffer. `Launch` is handed to whoever runs kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import (
    Alloc,
    And,
    Assert,
    Attr,
    Binary,
    Bind,
    BitwiseNot,
    Break,
    Broadcast,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Cast,
    Continue,
    Decl,
    Div,
    DType,
    Evaluate,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    For,
    If,
    IntImm,
    Launch,
    Let,
    LShift,
    Max,
    Min,
    Mod,
    Neg,
    Not,
    Or,
    Ramp,
    Return,
    RShift,
    Select,
    Seq,
    Shuffle,
    Stmt,
    StringImm,
    Var,
    While,
)  # fmt: skip
from ..ir.integers import EXACT
from ..support.errors import SimulationError
from ..support.late import load_object
from ..support.span import Span
from .extents import check_extents
from .facts import row_of
from .inline import FUNCTION
from .numeric import cast_array, floor_div, floor_mod, shift_left, shift_right, trunc_div, trunc_mod, wrap_int
from .pool import storage_dtype
from .regions import Region, Storage

__all__ = ["Interpreter"]


class LeftError(Exception):
    """Control leaves a loop (`break`, `continue`) or the function (`return`)."""

    def __init__(self, how: str, value: Any = None) -> None:
        self.how = how
        self.value = value


class Interpreter:
    """Runs one function. `values` holds variables by id, `storages` the memory behind pointer variables."""

    def __init__(
        self, context: Any, launch: Callable[[Launch, list[Any], list[int], dict[str, Any]], None] | None
    ) -> None:
        self.context = context
        self.launch = launch
        self.values: dict[int, Any] = {}
        self.bindings: dict[Var, Expr] = {}
        self.storages: dict[int, Storage] = {}

    def run(self, body: Stmt) -> Any:
        """Run a function's body; what it returns."""
        try:
            self.statement(body)
        except LeftError as left:
            return left.value
        return None

    # ---- statements -------------------------------------------------------------------------------------------------

    def statement(self, stmt: Stmt) -> None:
        """One statement."""
        _STATEMENTS[type(stmt)](self, stmt)

    def _seq(self, stmt: Seq) -> None:
        for item in stmt.stmts:
            _STATEMENTS[type(item)](self, item)

    def _bind(self, stmt: Bind) -> None:
        self.values[id(stmt.var)] = self.expr(stmt.value)
        self.bindings[stmt.var] = stmt.value

    def _alloc(self, stmt: Alloc) -> None:
        shape = self.shape(stmt.buffer)
        count = int(np.prod(shape, dtype=np.int64)) * stmt.buffer.dtype.lanes
        self.storages[id(stmt.buffer.data)] = Storage(
            stmt.buffer.name,
            stmt.buffer.scope_name,
            np.zeros(count, storage_dtype(stmt.buffer.dtype)),
            initialised=False,
        )

    def _decl(self, stmt: Decl) -> None:
        if stmt.source is not None and id(stmt.buffer.data) not in self.storages:
            found = self.expr(stmt.source)
            if isinstance(found, Region):
                self.storages[id(stmt.buffer.data)] = found.storage

    def _store(self, stmt: BufferStore) -> None:
        value = self.expr(stmt.value)
        self.context.begin(stmt)
        self.region(stmt.buffer, stmt.indices, [1] * len(stmt.indices), stmt.span).put(value)

    def _evaluate(self, stmt: Evaluate) -> None:
        self.expr(stmt.value, stmt.span)

    def _for(self, stmt: For) -> None:
        start, extent, step = (int(self.expr(part)) for part in (stmt.start, stmt.extent, stmt.step))
        for value in range(start, start + extent, step):
            self.values[id(stmt.var)] = value
            if not self._turn(stmt.body):
                return

    def _while(self, stmt: While) -> None:
        while self.expr(stmt.condition):
            if not self._turn(stmt.body):
                return

    def _turn(self, body: Stmt) -> bool:
        """One turn of a loop; False after `break`."""
        try:
            self.statement(body)
        except LeftError as left:
            if left.how == "return":
                raise
            return left.how == "continue"
        return True

    def _if(self, stmt: If) -> None:
        if self.expr(stmt.condition):
            self.statement(stmt.then)
        elif stmt.orelse is not None:
            self.statement(stmt.orelse)

    def _assert(self, stmt: Assert) -> None:
        if self.expr(stmt.condition):
            return
        text = "".join(part.value if isinstance(part, StringImm) else str(self.expr(part)) for part in stmt.message)
        self.context.begin(stmt)
        self.context.finding("assertion", text or "an assertion of the kernel fails")
        raise LeftError("return")

    def _attr(self, stmt: Attr) -> None:
        try:
            self.statement(stmt.body)
        except LeftError as left:
            if stmt.key != FUNCTION or left.how != "return":
                raise

    def _leave(self, stmt: Stmt) -> None:
        value = stmt.value if isinstance(stmt, Return) else None
        how = {Break: "break", Continue: "continue", Return: "return"}[type(stmt)]
        raise LeftError(how, None if value is None else self.expr(value))

    def _launch(self, stmt: Launch) -> None:
        if self.launch is None:
            raise SimulationError("a kernel starts another kernel, which this target has no way to do", span=stmt.span)
        args = [self._argument(arg) for arg in stmt.args]
        resources = dict(zip(stmt.resources, (int(self.expr(value)) for value in stmt.resource_values), strict=True))
        extents = [int(self.expr(extent)) for extent in stmt.extents]
        check_extents(stmt, extents, self.values, self.bindings, self.context.launch_error)
        self.launch(stmt, args, extents, resources)

    def _argument(self, arg: Expr) -> Any:
        if isinstance(arg, Var) and id(arg) in self.storages:
            return self.storages[id(arg)]
        return self.expr(arg)

    # ---- buffers ----------------------------------------------------------------------------------------------------

    def shape(self, buffer: Buffer) -> tuple[int, ...]:
        """The shape of a buffer with symbolic dimensions filled in."""
        return tuple(extent if isinstance(extent, int) else int(self.expr(extent)) for extent in buffer.shape)

    def region(self, buffer: Buffer, starts: Any, extents: Any, span: Span | None) -> Region:
        """A box of a buffer."""
        storage = self.storages.get(id(buffer.data))
        if storage is None:
            raise SimulationError(f"the storage of `{buffer.name}` is not known to the simulator", span=span)
        first = [np.asarray(self.expr(start)).reshape(-1) for start in starts]
        sizes = [int(extent if isinstance(extent, int) else self.expr(extent)) for extent in extents]
        sizes = [len(at) if len(at) > 1 else size for at, size in zip(first, sizes, strict=True)]
        strides = [s if isinstance(s, int) else int(self.expr(s)) for s in buffer.strides]
        offset = buffer.elem_offset if isinstance(buffer.elem_offset, int) else int(self.expr(buffer.elem_offset))
        return Region(
            self.context, storage, buffer, self.shape(buffer), strides, offset, [int(a[0]) for a in first], sizes, span
        )

    # ---- expressions ------------------------------------------------------------------------------------------------

    def expr(self, node: Expr, span: Span | None = None) -> Any:
        """A value."""
        rule = _VALUES.get(type(node))
        if rule is not None:
            return rule(self, node)
        if isinstance(node, Call):
            return self._call(node, span)
        return self._binary(node)

    def _var(self, node: Var) -> Any:
        found = self.values.get(id(node))
        if found is None and id(node) in self.storages:
            return self.storages[id(node)]
        if found is None:
            raise SimulationError(f"the variable `{node.name}` has no value", span=node.span)
        return found

    def _load(self, node: BufferLoad) -> Any:
        self.context.begin(node)
        value = self.region(node.buffer, node.indices, [1] * len(node.indices), node.span).get()
        return _plain(value, node.dtype)

    def _region(self, node: BufferRegion) -> Region:
        return self.region(node.buffer, node.starts, node.extents, node.span)

    def _binary(self, node: Any) -> Any:
        a, b = self.expr(node.a), self.expr(node.b)
        dtype = node.a.dtype
        rule = _FLOAT.get(type(node)) if dtype.is_float else None
        value = (rule or _ARITHMETIC[type(node)])(a, b)
        return _plain(value, node.dtype)

    def _logical(self, node: Any) -> Any:
        first = bool(self.expr(node.a))
        if isinstance(node, And):
            return first and bool(self.expr(node.b))
        return first or bool(self.expr(node.b))

    def _select(self, node: Select) -> Any:
        return self.expr(node.true_value if self.expr(node.condition) else node.false_value)

    def _let(self, node: Let) -> Any:
        self.values[id(node.var)] = self.expr(node.value)
        return self.expr(node.body)

    def _cast(self, node: Cast) -> Any:
        return _plain(cast_array(self.expr(node.value), storage_dtype(node.dtype)), node.dtype)

    def _ramp(self, node: Ramp) -> Any:
        return self.expr(node.base) + np.arange(node.lanes) * self.expr(node.stride)

    def _broadcast(self, node: Broadcast) -> Any:
        return np.full(node.lanes, self.expr(node.value))

    def _shuffle(self, node: Shuffle) -> Any:
        joined = np.concatenate([np.atleast_1d(self.expr(vector)) for vector in node.vectors])[list(node.indices)]
        return joined if len(joined) > 1 else _plain(joined[0], node.dtype)

    def _call(self, node: Call, span: Span | None) -> Any:
        row = row_of(node)
        if row is not None and row.name == "if_then_else":
            return self.expr(node.args[1] if self.expr(node.args[0]) else node.args[2])
        self.context.begin(node, span)
        if row is None or row.meaning is None:
            self.context.unmodelled(node.op.name)
            return 0
        operands = [row.operands[min(i, len(row.operands) - 1)] for i in range(len(node.args))]
        args = [self._operand(arg, operand) for arg, operand in zip(node.args, operands, strict=True)]
        self.context.begin(node, span)
        value = load_object(row.meaning)(self.context, *args, **dict(node.attrs))
        return value if value is None or isinstance(value, Region | Storage) else _plain(value, node.dtype)

    def _operand(self, arg: Expr, operand: Any) -> Any:
        if isinstance(arg, StringImm):
            return arg.value
        if isinstance(arg, BufferLoad) and operand.kind in ("place", "region"):
            return self.region(arg.buffer, arg.indices, [1] * len(arg.indices), arg.span)
        value = self.expr(arg)
        scalar = arg.dtype.lanes == 1 and not arg.dtype.is_handle and isinstance(value, bool | int | float)
        return storage_dtype(arg.dtype).type(value) if scalar else value


def _plain(value: Any, dtype: DType) -> Any:
    """A scalar as the interpreter holds it: integers as Python ints, wrapped."""
    if (np.ndim(value) and np.size(value) != 1) or dtype.lanes > 1 or dtype.kind == "void":
        return value
    if dtype.is_bool:
        return bool(value)
    if dtype.is_integer:
        return wrap_int(int(value), dtype.bits, dtype.is_int)
    if dtype.is_float:
        return storage_dtype(dtype).type(np.asarray(value).reshape(-1)[0])
    return value


def _neg(self: Interpreter, node: Neg) -> Any:
    return _plain(-self.expr(node.a), node.dtype)


def _invert(self: Interpreter, node: BitwiseNot) -> Any:
    return _plain((not self.expr(node.a)) if node.dtype.is_bool else ~self.expr(node.a), node.dtype)


def _extreme(scalar: Callable[[Any, Any], Any], vector: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`min` or `max`: NumPy's takes no Python integer of 64 bits without a sign."""
    return lambda a, b: scalar(a, b) if isinstance(a, int) and isinstance(b, int) else vector(a, b)


_ARITHMETIC: dict[type[Binary], Callable[[Any, Any], Any]] = {
    **EXACT,
    Div: trunc_div,
    Mod: trunc_mod,
    FloorDiv: floor_div,
    FloorMod: floor_mod,
    Min: _extreme(min, np.minimum),
    Max: _extreme(max, np.maximum),
    LShift: shift_left,
    RShift: shift_right,
}
_FLOAT: dict[type[Expr], Callable[[Any, Any], Any]] = {
    Div: lambda a, b: a / b,
    Mod: np.fmod,
    Min: np.fmin,
    Max: np.fmax,
}

_STATEMENTS: dict[type[Stmt], Callable[[Any, Any], None]] = {
    Seq: Interpreter._seq,
    Bind: Interpreter._bind,
    Alloc: Interpreter._alloc,
    Decl: Interpreter._decl,
    BufferStore: Interpreter._store,
    Evaluate: Interpreter._evaluate,
    For: Interpreter._for,
    While: Interpreter._while,
    If: Interpreter._if,
    Assert: Interpreter._assert,
    Attr: Interpreter._attr,
    Break: Interpreter._leave,
    Continue: Interpreter._leave,
    Return: Interpreter._leave,
    Launch: Interpreter._launch,
}
_VALUES: dict[type[Expr], Callable[[Any, Any], Any]] = {
    IntImm: lambda self, node: bool(node.value) if node.dtype.is_bool else node.value,
    FloatImm: lambda self, node: storage_dtype(node.dtype).type(node.value),
    StringImm: lambda self, node: node.value,
    Var: Interpreter._var,
    BufferLoad: Interpreter._load,
    BufferRegion: Interpreter._region,
    And: Interpreter._logical,
    Or: Interpreter._logical,
    Not: lambda self, node: not self.expr(node.a),
    Neg: _neg,
    BitwiseNot: _invert,
    Select: Interpreter._select,
    Let: Interpreter._let,
    Cast: Interpreter._cast,
    Ramp: Interpreter._ramp,
    Broadcast: Interpreter._broadcast,
    Shuffle: Interpreter._shuffle,
}
