"""Random programs for property tests: well-formed kernels that use every kind of node a kernel can be written with.

Needs `hypothesis`. `programs()` gives functions; `expressions()` values over a few variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from ..intrinsic import call
from ..intrinsic.core import ALL
from ..ir import (
    BOOL,
    EQ,
    GE,
    GT,
    INT32,
    LE,
    LT,
    NE,
    Add,
    Alloc,
    And,
    Assert,
    Attr,
    Bind,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Break,
    Broadcast,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
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
    IndexFunction,
    IntImm,
    Let,
    LShift,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    PrimFunc,
    Ramp,
    Return,
    RShift,
    ScopeIdDef,
    Select,
    Seq,
    Shuffle,
    Stmt,
    StringImm,
    Sub,
    Var,
    While,
    const,
    seq,
)  # fmt: skip
from ..tile import tile_call
from ..tile.ops import ALL as TILE_OPS

__all__ = ["expressions", "programs"]

SCALARS = tuple(DType(name) for name in ("int32", "int64", "uint8", "uint32", "float32", "float16", "float64", "bool"))
NAMES = ("i", "x", "x", "acc", "range", "T", "lambda", "tmp_1", "größe", "two words", "1st", "")
_ARITHMETIC = (Add, Sub, Mul, Min, Max)
_INTEGER = (FloorDiv, FloorMod, Div, Mod, BitwiseAnd, BitwiseOr, BitwiseXor, LShift, RShift)
_COMPARE = (EQ, NE, LT, LE, GT, GE)
_LEVELS = (("kernel", "cta"), ("cta", "thread"), ("cta", "warp"), ("warp", "thread"), ("cluster", "cta"))
_ROWS = {row.name: row for row in ALL}
_TILE_OPS = {row.name: row for row in TILE_OPS}
_SCOPES = (None, "thread", "warp", "warpgroup", "wg", "cta", "cluster")
_UNARY_MATH = tuple(
    row for row in ALL if row.result == "same" and [item.dtypes for item in row.operands] == [("float",)]
)
_BINARY_MATH = tuple(_ROWS[name] for name in ("pow", "atan2", "hypot", "fmod", "copysign", "nextafter"))


class _Program:
    """The program so far: what is in scope, and how much may still be added."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.vars: list[Var] = []
        self.buffers: list[Buffer] = []
        self.loops = 0

    def pick(self, items: Sequence[Any]) -> Any:
        """One of `items`."""
        return self.draw(st.sampled_from(list(items)))

    def chance(self) -> bool:
        """A coin."""
        return bool(self.draw(st.booleans()))

    def number(self, low: int, high: int) -> int:
        """A number between two."""
        return int(self.draw(st.integers(low, high)))

    # ---- expressions ------------------------------------------------------------------------------------------------

    def constant(self, dtype: DType) -> Expr:
        """A constant, also at the limits of its type."""
        if dtype.is_bool:
            return const(self.chance(), BOOL)
        if dtype.is_float:
            special = [0.0, -0.0, 1.0, 0.5, float("inf"), float("-inf"), float("nan"), 1e300, 0.1]
            return FloatImm(self.pick(special) if self.chance() else self.number(-9, 9) / 4, dtype)
        return IntImm(self.pick([dtype.min_int, dtype.max_int, 0, 1, 7, -1 if dtype.is_int else 2]), dtype)

    def leaf(self, dtype: DType) -> Expr:
        """A constant, a variable or a buffer element of `dtype`."""
        known = [var for var in self.vars if var.dtype is dtype]
        stored = [buffer for buffer in self.buffers if buffer.dtype is dtype]
        kind = self.pick(["constant"] + ["var"] * (2 * bool(known)) + ["load"] * (2 * bool(stored)))
        if kind == "var":
            found: Var = self.pick(known)
            return found
        if kind == "load":
            buffer = self.pick(stored)
            return BufferLoad(buffer, self.indices(buffer))
        return self.constant(dtype)

    def indices(self, buffer: Buffer) -> tuple[Expr, ...]:
        """Valid constants, or variables."""
        if buffer.is_scalar:
            return (const(0),)
        known = [var for var in self.vars if var.dtype is INT32]
        return tuple(
            self.pick(known)
            if known and self.chance()
            else const(self.number(0, extent - 1 if isinstance(extent, int) else 3))
            for extent in buffer.shape
        )

    def expr(self, dtype: DType, depth: int) -> Expr:
        """A value of `dtype`."""
        if depth <= 0 or self.number(0, 4) == 0:
            return self.leaf(dtype)
        if dtype.is_bool:
            return self.condition(depth)
        families = [self._arithmetic, self._choice, self._converted, self._let]
        families += [self._float_call, self._negated] if dtype.is_float else [self._integer] * 3
        made: Expr = self.pick(families)(dtype, depth - 1)
        return made

    def _arithmetic(self, dtype: DType, depth: int) -> Expr:
        kind = self.pick(_ARITHMETIC + ((Div,) if dtype.is_float else ()))
        made: Expr = kind(self.expr(dtype, depth), self.expr(dtype, depth))
        return made

    def _integer(self, dtype: DType, depth: int) -> Expr:
        if self.number(0, 3) == 0:
            made: Expr = self.pick([BitwiseNot, Neg])(self.expr(dtype, depth))
            return made
        made = self.pick(_INTEGER)(self.expr(dtype, depth), self.expr(dtype, depth))
        return made

    def _negated(self, dtype: DType, depth: int) -> Expr:
        return Neg(self.expr(dtype, depth))

    def _choice(self, dtype: DType, depth: int) -> Expr:
        yes, no = self.expr(dtype, depth), self.expr(dtype, depth)
        if self.chance():
            return Select(self.expr(BOOL, depth), yes, no)
        return call(_ROWS["if_then_else"], self.expr(BOOL, depth), yes, no)

    def _converted(self, dtype: DType, depth: int) -> Expr:
        source = self.pick([item for item in SCALARS if item is not dtype])
        if source.bits == dtype.bits and not source.is_bool and self.chance():
            return call(_ROWS["reinterpret"], self.expr(source, depth), dtype=dtype.name)
        return Cast(dtype, self.expr(source, depth))

    def _let(self, dtype: DType, depth: int) -> Expr:
        var = Var(self.pick(NAMES), self.pick(SCALARS[:-1]))
        value = self.expr(var.dtype, depth)
        self.vars.append(var)
        body = self.expr(dtype, depth)
        self.vars.pop()
        return Let(var, value, body)

    def _float_call(self, dtype: DType, depth: int) -> Expr:
        if self.chance():
            return call(self.pick(_UNARY_MATH), self.expr(dtype, depth))
        return call(self.pick(_BINARY_MATH), self.expr(dtype, depth), self.expr(dtype, depth))

    def condition(self, depth: int) -> Expr:
        """A truth value."""
        if depth <= 0:
            return self.leaf(BOOL)
        kind = self.pick(["compare", "compare", "and", "or", "not"])
        if kind == "compare":
            dtype = self.pick(SCALARS[:-1])
            made: Expr = self.pick(_COMPARE)(self.expr(dtype, depth - 1), self.expr(dtype, depth - 1))
            return made
        if kind == "not":
            return Not(self.condition(depth - 1))
        return (And if kind == "and" else Or)(self.condition(depth - 1), self.condition(depth - 1))

    def vector(self, dtype: DType, depth: int) -> Expr:
        """Four lanes."""
        kind = self.pick(["broadcast", "shuffle", "sum", *(["ramp"] if dtype.is_integer else [])])
        if kind == "ramp":
            return Ramp(self.expr(dtype, depth), self.expr(dtype, 0), 4)
        if kind == "shuffle":
            whole = Broadcast(self.expr(dtype, depth), 2)
            return Shuffle((whole, whole), (3, 0, 1, 0))
        if kind == "sum" and depth > 0:
            return Add(self.vector(dtype, depth - 1), self.vector(dtype, depth - 1))
        return Broadcast(self.expr(dtype, depth), 4)

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, depth: int, *, in_loop: bool = False) -> Stmt:
        """Statements with a scope of their own."""
        known = len(self.vars), len(self.buffers)
        stmts: list[Stmt] = []
        for _ in range(self.number(0, 3)):
            stmts += self.statement(depth)
        if in_loop and self.chance():
            stmts.append(self.pick([Break, Continue])())
        del self.vars[known[0] :], self.buffers[known[1] :]
        return seq(stmts)

    def statement(self, depth: int) -> list[Stmt]:
        """One statement, or a few that belong together."""
        simple = [
            self._bind,
            self._alloc,
            self._scalar,
            self._store,
            self._vector_store,
            self._effect,
            self._decl,
            self._assert,
            self._tile,
        ]
        nested = [self._for, self._while, self._if, self._attr, self._return]
        made: list[Stmt] = self.pick(simple + (nested if depth > 0 else []))(depth)
        return made

    def _bind(self, depth: int) -> list[Stmt]:
        dtype = self.pick(SCALARS)
        value = self.expr(dtype, 2)
        var = Var(self.pick(NAMES), dtype)
        self.vars.append(var)
        return [Bind(var, value)]

    def _alloc(self, depth: int) -> list[Stmt]:
        shape = [self.number(4, 9) for _ in range(self.number(1, 3))]
        made = Buffer(
            self.pick(NAMES),
            shape,
            self.pick(SCALARS),
            scope=self.pick(["shared", "local", "global"]),
            align=self.pick([0, 16]),
        )
        self.buffers.append(made)
        return [Alloc(made, self.pick([(), (), (("note", 1),)]))]

    def _scalar(self, depth: int) -> list[Stmt]:
        made = Buffer(
            self.pick(NAMES), (1,), self.pick(SCALARS), scope=self.pick(["local", "local", "shared"]), is_scalar=True
        )
        value = self.expr(made.dtype, 2)
        self.buffers.append(made)
        store = [BufferStore(made, value, (const(0),))] if self.chance() else []
        return [Alloc(made), *store]

    def _store(self, depth: int) -> list[Stmt]:
        if not self.buffers:
            return []
        buffer = self.pick(self.buffers)
        return [BufferStore(buffer, self.expr(buffer.dtype, 3), self.indices(buffer))]

    def _vector_store(self, depth: int) -> list[Stmt]:
        found = [item for item in self.buffers if not item.is_scalar and not item.dtype.is_bool]
        if not found:
            return []
        buffer = self.pick(found)
        *outer, _ = self.indices(buffer)
        index = (*outer, Ramp(const(0), const(1), 4))
        value = BufferLoad(buffer, index) if self.chance() else self.vector(buffer.dtype, 2)
        return [BufferStore(buffer, value, index)]

    def _effect(self, depth: int) -> list[Stmt]:
        kind = self.pick(["sync", "extern", "pure", "atomic"])
        found = [item for item in self.buffers if item.dtype.name in ("int32", "float32") and not item.is_scalar]
        if kind == "sync":
            return [Evaluate(call(_ROWS["tvm_storage_sync"]))]
        if kind == "extern":
            return [
                Evaluate(call(_ROWS["call_extern"], "touch", self.expr(INT32, 1), dtype=self.pick(["void", "int32"])))
            ]
        if kind == "pure" or not found:
            return [Evaluate(self.expr(self.pick(SCALARS), 2))]
        buffer = self.pick(found)
        place = call(_ROWS["address_of"], BufferLoad(buffer, self.indices(buffer)))
        return [Evaluate(call(_ROWS["atomic_add"], place, self.expr(buffer.dtype, 1)))]

    def _decl(self, depth: int) -> list[Stmt]:
        if not self.buffers:
            return []
        base = self.pick(self.buffers)
        made = base.replaced(
            name=self.pick(NAMES),
            shape=(2, 2),
            strides=self.pick([(), (8, 1)]),
            elem_offset=self.number(0, 3),
            is_scalar=False,
        )
        self.buffers.append(made)
        return [Decl(made)]

    def _assert(self, depth: int) -> list[Stmt]:
        parts = [StringImm(self.pick(["oops", 'it\'s "so"', "line\nend"])), self.expr(INT32, 1)]
        message = tuple(parts[: self.number(1, 2)])
        return [Assert(self.condition(2), message, self.pick(["RuntimeError", "ValueError"]))]

    def _tile(self, depth: int) -> list[Stmt]:
        """Two buffers of their own, and an operation on parts of them."""
        dtype = self.pick(SCALARS[:-1])
        shape = [self.number(2, 6) for _ in range(self.number(1, 3))]
        dst, src = (Buffer(self.pick(NAMES), shape, dtype, scope="shared") for _ in range(2))
        extents = [self.pick([1, size, self.number(1, size)]) for size in shape]
        out = self._region(dst, extents)
        name, operands = self.pick(self._tile_forms(dtype, out, self._region(src, extents), dst, src))
        made = tile_call(_TILE_OPS[name], self.pick(_SCOPES), (out, *operands), self._tile_keywords(src))
        self.buffers += [dst, src]
        return [Alloc(dst), Alloc(src), made]

    def _region(self, buffer: Buffer, extents: Sequence[int]) -> BufferRegion:
        """A part of a buffer; where it starts at a variable, perhaps outside."""
        known = [var for var in self.vars if var.dtype is INT32]
        room = [int(size) - extent for size, extent in zip(buffer.shape, extents, strict=True)]
        starts = [self.pick([const(self.number(0, size)), *known]) for size in room]
        return BufferRegion(buffer, tuple(starts), tuple(map(const, extents)))

    def _tile_forms(
        self, dtype: DType, out: BufferRegion, part: BufferRegion, dst: Buffer, src: Buffer
    ) -> list[tuple[str, tuple[Any, ...]]]:
        """Operations and their operands behind the first."""
        number = self.constant(dtype) if self.chance() else self.leaf(dtype)
        ordered = Var(self.pick(NAMES), INT32), Var(self.pick(NAMES), INT32), Var("k", INT32)
        chosen = IndexFunction(ordered[: len(out.extents)], LT(ordered[0], self.leaf(INT32)))
        forms: list[tuple[str, tuple[Any, ...]]] = [
            ("zero", ()), ("fill", (number,)), ("copy", (part,)), ("add", (part, number)), ("maximum", (number, part)),
            ("fma", (part, number, part)), ("select", (part, number, chosen)), ("binary_chain", (part, number, part, "add", "max")),
        ]  # fmt: skip
        if dtype.is_float:
            forms += [("exp", ()), ("sqrt", (part, number, self.leaf(dtype))), ("silu", (part,))]
        return forms

    def _tile_keywords(self, scratch: Buffer) -> dict[str, Any]:
        """Some of what any call may have."""
        values = {
            "dispatch": "any", "workspace": {"tmp": scratch, "part": self._region(scratch, [1] * len(scratch.shape))},
            "count": self.number(0, 9), "flag": self.chance(), "text": 'a "b"', "half": 0.5, "expr": self.leaf(INT32),
            "items": [1, (self.leaf(BOOL), scratch), []], "part": self._region(scratch, [1] * len(scratch.shape)),
        }  # fmt: skip
        return {name: value for name, value in values.items() if self.number(0, 3) == 0}

    def _for(self, depth: int) -> list[Stmt]:
        dtype = self.pick([INT32, DType("int64"), DType("uint32")])
        var = Var(self.pick(NAMES), dtype)
        start = self.pick([IntImm(0, dtype), IntImm(0, dtype), self.expr(dtype, 1)])
        extent = self.pick([IntImm(8, dtype), self.expr(dtype, 1), Sub(self.expr(dtype, 1), start)])
        kind = self.pick(["serial", "serial", "parallel", "vectorized", "unrolled", "thread_binding"])
        step = IntImm(1 if kind == "thread_binding" else self.pick([1, 1, 3]), dtype)
        self.vars.append(var)
        body = self.block(depth - 1, in_loop=True)
        self.vars.pop()
        notes = self.pick([(), (), (("unroll", 2),)])
        return [For(var, start, extent, step, kind, body, notes, "axis.x" if kind == "thread_binding" else None)]

    def _while(self, depth: int) -> list[Stmt]:
        return [While(self.condition(2), self.block(depth - 1, in_loop=True))]

    def _if(self, depth: int) -> list[Stmt]:
        orelse = self.block(depth - 1) if self.chance() else None
        return [If(self.condition(2), self.block(depth - 1), orelse)]

    def _attr(self, depth: int) -> list[Stmt]:
        value = self.pick([const(1), const(True), StringImm("text"), self.expr(INT32, 1)])
        return [Attr(self.pick(["pragma_a", "pragma_b", "tirx.max_registers"]), value, self.block(depth - 1))]

    def _return(self, depth: int) -> list[Stmt]:
        return [If(self.condition(1), Return())]

    # ---- functions --------------------------------------------------------------------------------------------------

    def function(self) -> PrimFunc:
        """A kernel."""
        symbol = Var("n", INT32)
        shapes: list[Any] = [(8,), (4, 6), (symbol, 4)]
        params: list[Any] = [
            Buffer(name, self.pick(shapes), self.pick(SCALARS)) for name in ("A", "B")[: self.number(0, 2)]
        ]
        self.buffers += params
        scalars = [Var(name, self.pick(SCALARS)) for name in ("s", "t")[: self.number(0, 2)]]
        self.vars += scalars
        body: list[Stmt] = []
        for parent, cur in _LEVELS[: self.number(0, len(_LEVELS))]:
            body.append(self._ids(parent, cur))
        for _ in range(self.number(1, 4)):
            body += self.statement(2)
        inner = seq(body)
        if self.chance():
            inner = Attr("tirx.device_entry", const(True), inner)
        attrs = self.pick(
            [{}, {"global_symbol": "kernel"}, {"global_symbol": "kernel", "num_inputs": 1, "tirx.noalias": True}]
        )
        return PrimFunc("kernel", [*params, *scalars], inner if body else Seq(()), attrs)

    def _ids(self, parent: str, cur: str) -> Stmt:
        deferred = self.chance()
        count = 1 if deferred or (parent, cur) in (("cta", "warp"), ("warp", "thread")) else self.number(1, 3)
        variables = tuple(Var(self.pick(NAMES), self.pick([INT32, INT32])) for _ in range(count))
        self.vars += variables
        extents = None if deferred else tuple(const(self.number(1, 64)) for _ in variables)
        preferred = extents if cur == "cta" and parent == "cluster" and self.chance() else None
        return ScopeIdDef(variables, extents, parent, cur, preferred)


@st.composite
def programs(draw: Callable[[Any], Any]) -> PrimFunc:
    """Random kernels."""
    return _Program(draw).function()


@st.composite
def expressions(draw: Callable[[Any], Any], variables: Sequence[Var] = (), dtype: DType | None = None) -> Expr:
    """Random values of `dtype` (default: any) over `variables`."""
    program = _Program(draw)
    program.vars += variables
    return program.expr(dtype or program.pick(SCALARS), 4)
