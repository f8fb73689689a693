"""Expressions of a device function as NumPy text.

A value that is the same for all threads is a Python integer or a NumPy scalar; one that differs is an array over the active
threads, `(n,)` or `(n, lanes)`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Broadcast,
    BufferLoad,
    BufferRegion,
    Call,
    Cast,
    Div,
    DType,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
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
    Ramp,
    RShift,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Var,
    walk,
)  # fmt: skip
from .emit_base import Emitter, Val
from .facts import row_of
from .pool import storage_dtype

__all__ = ["ExprEmitter"]

SYMBOLS: dict[type[Expr], str] = {
    Add: "+", Sub: "-", Mul: "*", BitwiseAnd: "&", BitwiseOr: "|", BitwiseXor: "^", LShift: "<<", RShift: ">>",
    EQ: "==", NE: "!=", LT: "<", LE: "<=", GT: ">", GE: ">=",
}  # fmt: skip
DIVISIONS: dict[type[Expr], str] = {FloorDiv: "floor_div", FloorMod: "floor_mod", Div: "trunc_div", Mod: "trunc_mod"}
SHIFTS: dict[type[Expr], str] = {LShift: "shift_left", RShift: "shift_right"}
MAY_WRAP = (Add, Sub, Mul, LShift)
PASS_THROUGH = {"likely": 0, "tirx.uniform": 0, "filter": 1, "selector": 1}
PLAIN_GROUPS = ("tirx.sim.meanings.math:", "tirx.sim.meanings.vector:")


class ExprEmitter(Emitter):
    """Emits expressions into the current scope."""

    # ---- expressions ------------------------------------------------------------------------------------------------

    def expr(self, node: Expr) -> Val:
        """A value in the current level."""
        rule = _RULES.get(type(node))
        if rule is not None:
            return rule(self, node)
        kind = type(node)
        if kind in DIVISIONS and not node.dtype.is_float:
            return self._division(node, DIVISIONS[kind])
        return self._binary(node)

    def array(self, node: Expr) -> str:
        """A value as an array over the active threads."""
        value = self.expr(node)
        if not value.same:
            return value.text
        return f"spread({value.text}, {self.count()}, {self.pool.dtype(node.dtype)}, {node.dtype.lanes})"

    def _binary(self, node: Any) -> Val:
        a, b = self.expr(node.a), self.expr(node.b)
        same = a.same and b.same
        kind = type(node)
        if kind in (Min, Max):
            return self._extreme(node, a, b, same)
        if kind in SHIFTS and same and not isinstance(node.b, IntImm):
            text = f"{SHIFTS[kind]}({a.text}, {b.text})"
        else:
            text = f"({a.text} {SYMBOLS.get(kind) or '/'} {b.text})"
        return self._wrapped(text, node, same) if kind in MAY_WRAP else Val(text, same, fresh=not same)

    def _wrapped(self, text: str, node: Expr, same: bool) -> Val:
        """Integers that are the same for all threads are Python's, which do not wrap by themselves."""
        dtype = node.dtype
        if same and dtype.is_integer and dtype.lanes == 1 and not self.facts.fits(node):
            text = f"wrap_int({text}, {dtype.bits}, {dtype.is_int})"
        return Val(text, same, fresh=not same)

    def _extreme(self, node: Any, a: Val, b: Val, same: bool) -> Val:
        low = isinstance(node, Min)
        if same and node.dtype.is_integer and node.dtype.lanes == 1:
            return Val(f"{'min' if low else 'max'}({a.text}, {b.text})", True)
        name = ("fmin" if low else "fmax") if node.dtype.is_float else ("minimum" if low else "maximum")
        return Val(f"np.{name}({a.text}, {b.text})", same, fresh=not same)

    def _division(self, node: Any, function: str) -> Val:
        a, b = self.expr(node.a), self.expr(node.b)
        same = a.same and b.same
        constant = isinstance(node.b, IntImm) and node.b.value > 0
        if constant and not same and node.b.value & (node.b.value - 1) == 0 and function.startswith("floor"):
            shift = node.b.value.bit_length() - 1
            text = f"({a.text} >> {shift})" if function == "floor_div" else f"({a.text} & {node.b.value - 1})"
            return Val(text, same, fresh=True)
        if constant and function.startswith("floor"):
            return Val(f"({a.text} {'//' if function == 'floor_div' else '%'} {b.text})", same, fresh=not same)
        if not constant and "division" in self.checks:
            site = self.site(node, "divide", None, node.dtype)
            divisor = b.text if b.same else self.temp(b.text)
            self.line(f"ck.divisor({site}, {self.level.p}, {divisor})")
            b = Val(divisor, b.same)
        return self._wrapped(f"{function}({a.text}, {b.text})", node, same)

    def _int(self, node: IntImm) -> Val:
        return Val(repr(bool(node.value)) if node.dtype.is_bool else repr(node.value), True)

    def _float(self, node: FloatImm) -> Val:
        return Val(self.pool.scalar(node.value, node.dtype), True)

    def _neg(self, node: Neg) -> Val:
        a = self.expr(node.a)
        return self._wrapped(f"(-{a.text})", node, a.same)

    def _invert(self, node: BitwiseNot) -> Val:
        a = self.expr(node.a)
        if node.dtype.is_bool:
            return Val(f"(not {a.text})" if a.same else f"(~{a.text})", a.same, fresh=not a.same)
        text = f"(~{a.text})" if not (a.same and node.dtype.is_uint) else f"({node.dtype.max_int} - {a.text})"
        return Val(text, a.same, fresh=not a.same)

    def _not(self, node: Not) -> Val:
        a = self.expr(node.a)
        return Val(f"(not {a.text})" if a.same and node.dtype.lanes == 1 else f"(~{a.text})", a.same, fresh=not a.same)

    def _logical(self, node: Any) -> Val:
        both = isinstance(node, And)
        a = self.expr(node.a)
        if not self.risky(node.b):
            b = self.expr(node.b)
            same = a.same and b.same
            word = ("and" if both else "or") if same and node.dtype.lanes == 1 else ("&" if both else "|")
            return Val(f"({a.text} {word} {b.text})", same, fresh=not same)
        first = self.temp(self._as_array(a, node.a) if a.same else a.text if a.fresh else f"{a.text}.copy()", "c")
        if a.same:
            a = Val(first, False)

        def rest() -> None:
            self.line(f"{first}[{self.level.q}] = {self.expr(node.b).text}")

        self.narrowed(first if both else f"~{first}", rest)
        return Val(first, False)

    def _as_array(self, value: Val, node: Expr) -> str:
        return f"spread({value.text}, {self.count()}, {self.pool.dtype(node.dtype)}, {node.dtype.lanes})"

    def risky(self, node: Expr) -> bool:
        """Whether evaluating a value where it is not wanted could fault, wait or change something."""
        for item in walk(node):
            if isinstance(item, BufferLoad):
                return True
            if isinstance(item, FloorDiv | FloorMod | Div | Mod) and not isinstance(item.b, IntImm | FloatImm):
                return True
            if isinstance(item, Call) and (row_of(item) is None or not item.op.effect.is_pure):  # type: ignore[attr-defined]
                return True
        return False

    def _cast(self, node: Cast) -> Val:
        value = self.expr(node.value)
        source, target = node.value.dtype, node.dtype
        if source.is_handle or target.is_handle:
            if value.same:
                return Val(f"int({value.text})" if target.lanes == 1 else value.text, True)
            return Val(f"{value.text}.astype({self.pool.dtype(target)})", False, fresh=True)
        if value.same and target.lanes == 1:
            return Val(self._cast_scalar(value.text, source, target, node), True)
        kind = self.pool.dtype(target)
        if _is_narrow(target) or (target.is_integer and not (source.is_integer or source.is_bool)):
            return Val(f"cast_array({value.text}, {kind})", value.same, fresh=source is not target)
        return Val(f"{value.text}.astype({kind})", value.same, fresh=not value.same)

    def _cast_scalar(self, text: str, source: DType, target: DType, node: Cast) -> str:
        if target.is_bool:
            return f"bool({text})"
        if _is_narrow(target):
            return f"cast_array({text}, {self.pool.dtype(target)})[()]"
        if target.is_float:
            return f"{self.pool.dtype(target)}.type({text})"
        if source.is_float:
            return f"int(cast_array({text}, {self.pool.dtype(target)}))"
        if source.is_bool or self.facts.analyzer.bounds(node.value).within(target.min_int, target.max_int):
            return f"int({text})" if source.is_bool else text
        return f"wrap_int({text}, {target.bits}, {target.is_int})"

    def typed(self, node: Expr) -> Val:
        """A value whose NumPy type is that of its dtype even when it is the same for all threads."""
        value = self.expr(node)
        if (
            value.same
            and not node.dtype.is_handle
            and node.dtype.lanes == 1
            and not isinstance(node, FloatImm | StringImm)
        ):
            return Val(f"{self.pool.dtype(node.dtype)}.type({value.text})", True)
        return value

    def _select(self, node: Select) -> Val:
        return self._where(node.condition, node.true_value, node.false_value, node.dtype)

    def _where(self, condition: Expr, yes: Expr, no: Expr, dtype: DType) -> Val:
        c, a, b = self.expr(condition), self.typed(yes), self.typed(no)
        if c.same and condition.dtype.lanes == 1:
            same = a.same and b.same
            chosen = Val(f"({a.text} if {c.text} else {b.text})", same)
            if same:
                plain = dtype.is_integer and dtype.lanes == 1
                return Val(f"int({chosen.text})", True) if plain else chosen
            arrays = [v.text if not v.same else self._as_array(v, yes) for v in (a, b)]
            return Val(f"({arrays[0]} if {c.text} else {arrays[1]})", False)
        cond = f"{c.text}[:, None]" if dtype.lanes > 1 and condition.dtype.lanes == 1 else c.text
        return Val(f"np.where({cond}, {a.text}, {b.text})", c.same and a.same and b.same, fresh=True)

    def _lazy(self, node: Call) -> Val:
        condition, yes, no = node.args
        if not (self.risky(yes) or self.risky(no)):
            return self._where(condition, yes, no, node.dtype)
        c = self.expr(condition)
        made = self.temp(f"spread(0, {self.count()}, {self.pool.dtype(node.dtype)}, {node.dtype.lanes})")
        if c.same:
            self.branches(c.text, lambda: self._fill(made, yes), lambda: self._fill(made, no))
            return Val(made, False)
        chosen = self.temp(c.text, "c")
        self.narrowed(chosen, lambda: self._fill(made, yes, narrowed=True))
        self.narrowed(f"~{chosen}", lambda: self._fill(made, no, narrowed=True))
        return Val(made, False)

    def _fill(self, name: str, value: Expr, narrowed: bool = False) -> None:
        self.line(f"{name}[{self.level.q if narrowed else '...'}] = {self.expr(value).text}")

    def _let(self, node: Let) -> Val:
        value = self.expr(node.value)
        name = self.define(node.var, value.same)
        self.line(f"{name} = {value.text}{'.copy()' if value.alias else ''}")
        return self.expr(node.body)

    # ---- vectors ----------------------------------------------------------------------------------------------------

    def _ramp(self, node: Ramp) -> Val:
        base, stride = self.expr(node.base), self.expr(node.stride)
        lanes = self.pool.constant(_lane_numbers(node), ("lanes", node.lanes, node.dtype.scalar_name))
        first = base.text if base.same else f"({base.text})[:, None]"
        step = stride.text if stride.same else f"({stride.text})[:, None]"
        offsets = lanes if step == "1" else f"{lanes} * {step}"
        return Val(f"({first} + {offsets})", base.same and stride.same, fresh=True)

    def _broadcast(self, node: Broadcast) -> Val:
        value = self.typed(node.value)
        if node.value.dtype.lanes > 1:
            return Val(f"np.tile({value.text}, {node.lanes})", value.same, fresh=True)
        if value.same:
            return Val(f"np.full((1, {node.lanes}), {value.text}, {self.pool.dtype(node.dtype)})", True)
        return Val(f"np.repeat(({value.text})[:, None], {node.lanes}, axis=1)", False, fresh=True)

    def _shuffle(self, node: Shuffle) -> Val:
        parts = [self.typed(item) for item in node.vectors]
        same = all(part.same for part in parts)
        count = "1" if same else self.count()
        columns = [
            f"columns({part.text}, {count}, {item.dtype.lanes}, {self.pool.dtype(item.dtype)})"
            for part, item in zip(parts, node.vectors, strict=True)
        ]
        joined = columns[0] if len(columns) == 1 else f"np.concatenate(({', '.join(columns)}), axis=1)"
        if len(node.indices) == 1:
            text = f"{joined}[:, {node.indices[0]}]"
            return Val(f"{text}[0].item()" if same and node.dtype.is_integer else f"{text}[0]" if same else text, same)
        return Val(f"{joined}[:, {list(node.indices)!r}]", same, fresh=not same)

    def _text(self, node: StringImm) -> Val:
        return Val(repr(node.value), True)

    # ---- hooks that statements and memory fill in -------------------------------------------------------------------

    @abstractmethod
    def _load(self, node: BufferLoad) -> Val:
        """A load, see `MemoryEmitter`."""

    @abstractmethod
    def _call(self, node: Call) -> Val:
        """A call, see `CallEmitter`."""


def _lane_numbers(node: Ramp) -> Any:
    return np.arange(node.lanes, dtype=storage_dtype(node.dtype))[None, :]


def _is_narrow(dtype: DType) -> bool:
    """Whether NumPy has no such float: then conversion to it rounds twice, or does not stop at the largest number."""
    return dtype.is_float and dtype.element.name not in ("float16", "float32", "float64")


def _region(self: ExprEmitter, node: BufferRegion) -> Val:
    return self._load(BufferLoad(node.buffer, node.starts, span=node.span))


_RULES: dict[type[Expr], Callable[[Any, Any], Val]] = {
    IntImm: ExprEmitter._int,
    FloatImm: ExprEmitter._float,
    StringImm: ExprEmitter._text,
    Var: ExprEmitter.variable,
    Neg: ExprEmitter._neg,
    Not: ExprEmitter._not,
    BitwiseNot: ExprEmitter._invert,
    And: ExprEmitter._logical,
    Or: ExprEmitter._logical,
    Cast: ExprEmitter._cast,
    Select: ExprEmitter._select,
    Let: ExprEmitter._let,
    Ramp: ExprEmitter._ramp,
    Broadcast: ExprEmitter._broadcast,
    Shuffle: ExprEmitter._shuffle,
    BufferLoad: lambda self, node: self._load(node),
    BufferRegion: _region,
    Call: lambda self, node: self._call(node),
}
