"""Expressions to C text with as few parentheses as people would write."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..arith import Analyzer
from ..intrinsic import Emission
from ..ir import (
    NE,
    Add,
    Binary,
    BitwiseAnd,
    BitwiseNot,
    Broadcast,
    Buffer,
    BufferLoad,
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
    PointerType,
    Ramp,
    RShift,
    Select,
    Shuffle,
    StringImm,
    Sub,
    Unary,
    Var,
    const,
    substitute,
)  # fmt: skip
from ..support.errors import TargetError
from . import lanes
from .calls import call_term
from .dialect import CDialect, CType
from .literal import float_text, quoted, rounded
from .names import Names
from .precedence import ARGUMENT, BINARY, POSTFIX, PRIMARY, TERNARY, UNARY, Operator, Term
from .prelude import Prelude
from .usage import Usage

__all__ = ["ExprPrinter", "points_to"]

PROMOTING = (Add, Sub, Mul, LShift, Neg, BitwiseNot, Min, Max)  # whose result C would keep in the wider type
PLAIN = (
    *BINARY,
    FloorDiv,
    FloorMod,
    Min,
    Max,
    Neg,
    BitwiseNot,
    Not,
    Cast,
    Select,
)  # printed from their printed children


class ExprPrinter:
    """Prints the expressions of one function. `text` and `type` are what emission rules of backends call.

    `emission(name)` finds how the target writes an intrinsic; `analyzer` knows the ranges of the variables in scope.
    """

    def __init__(
        self,
        dialect: CDialect,
        prelude: Prelude,
        emission: Callable[[str], Emission | None],
        *,
        names: Names,
        usage: Usage,
        target: Any = None,
        functions: Mapping[str, str] | None = None,
        extents: Mapping[str, int | None] | None = None,
    ) -> None:
        self.dialect = dialect
        self.prelude = prelude
        self.emission = emission
        self.names = names
        self.usage = usage
        self.target = target
        self.functions = dict(functions or {})
        self.extents = dict(extents or {})
        self.analyzer = Analyzer()
        self.variables: set[int] = (
            set()
        )  # ids of the pointers to storage that is declared as a variable, not as an array
        self._terms: dict[int, tuple[Expr, Term]] = {}

    # ---- what emission rules use ------------------------------------------------------------------------------

    def text(self, expr: Expr, level: int = ARGUMENT) -> str:
        """`expr` as source, in parentheses when its outermost operator binds more loosely than `level`."""
        return self.term(expr).at(level)

    def type(self, dtype: DType) -> str:
        """The name of a type; what defines it becomes part of the prelude."""
        if isinstance(dtype, PointerType):
            return self.pointer(dtype.pointee, dtype.scope)
        found = self.ctype(dtype)
        return found.name

    def pointer(self, pointee: DType | None, scope: str) -> str:
        """The type of a pointer into the memory `scope` (to anything, where `pointee` is None)."""
        return f"{self.dialect.spaces.get(scope, '')}{'void' if pointee is None else self.type(pointee.unit)}*"

    def ctype(self, dtype: DType) -> CType:
        """The record of a type; what defines it becomes part of the prelude."""
        found = self.dialect.type(dtype)
        self.prelude.include(found.include)
        if found.definition:
            self.prelude.define(found.name, found.definition)
        return found

    def made(self, dtype: DType, lanes: Sequence[str]) -> str:
        """A vector of `dtype` from the texts of its lanes."""
        return self.filled(self.ctype(dtype).make, ", ".join(lanes))

    def filled(self, template: str, *texts: object) -> str:
        """A template of a type with its gaps filled; a helper that it calls becomes part of the prelude."""
        name = re.split(r"\W", template, maxsplit=1)[0]
        if name in self.dialect.helpers:
            self.helper(name)
        return template.format(*texts) if texts else template

    def lane(self, dtype: DType, text: str, index: int) -> str:
        """Lane `index` of the vector of `dtype` that `text` is."""
        kind = self.ctype(dtype)
        if kind.lane:
            return self.filled(kind.lane, text, index)
        if not kind.lanes:
            raise TargetError(f"lanes of {dtype} cannot be selected on target {self.dialect.name}")
        return f"{text}{kind.lanes[index]}"

    def helper(self, name: str) -> str:
        """The name of a helper of the dialect, which becomes part of the prelude."""
        self.prelude.helper(name)
        return name

    def include(self, header: str) -> None:
        """A header that the text needs."""
        self.prelude.include(header)

    def define(self, key: str, text: str) -> None:
        """A definition for the prelude; the same key means the same text."""
        self.prelude.define(key, text)

    def begin(self) -> None:
        """A new statement: names and ranges may have changed since the last."""
        self._terms.clear()

    def function(self, name: str) -> str:
        """How a function of the module is called in the source."""
        return self.functions.get(name, name)

    def alone(self) -> ExprPrinter:
        """A printer for a function of its own: the same tables and prelude, other names."""
        return ExprPrinter(
            self.dialect,
            self.prelude,
            self.emission,
            names=Names(self.dialect.reserved),
            usage=self.usage,
            target=self.target,
        )

    # ---- the driver -------------------------------------------------------------------------------------------

    def term(self, expr: Expr) -> Term:
        """`expr` as source with its level. Deep sums need no deep recursion."""
        stack = [expr]
        while stack:
            node = stack[-1]
            if id(node) in self._terms:
                stack.pop()
                continue
            missing = self._missing(node)
            if missing:
                stack += missing
            else:
                self._terms[id(node)] = (node, self._print(node))
                stack.pop()
        return self._terms[id(expr)][1]

    def _missing(self, node: Expr) -> list[Expr]:
        if node.dtype.lanes > 1 or type(node) not in PLAIN:
            return []
        return [child for child in node.children() if id(child) not in self._terms]  # type: ignore[misc]

    def _print(self, node: Expr) -> Term:
        if node.dtype.lanes > 1:
            return lanes.vector_term(self, node)
        return _RULES[type(node)](self, node)

    def assigned(self, expr: Expr) -> str:
        """`expr` where the place that takes it converts by itself."""
        if expr.dtype.lanes == 1 and isinstance(expr, PROMOTING) and self.ctype(expr.dtype).promoted:
            return self._unconverted(expr).text
        return self.text(expr)

    # ---- places and pointers ----------------------------------------------------------------------------------

    def base(self, buffer: Buffer) -> Term:
        """The pointer (or array) of `buffer`, typed as its element."""
        own = self.names.find(buffer)
        if own is not None:
            return Term(own, PRIMARY)
        if points_to(buffer.data.dtype, buffer.dtype):
            named = self._var(buffer.data)
            return Term(self.names.of(buffer.data, buffer.data.name), PRIMARY) if buffer.is_scalar else named
        return Term(f"({self.pointer(buffer.dtype, buffer.scope_name)}){self._var(buffer.data).at(UNARY)}", UNARY)

    def place(self, buffer: Buffer, index: Expr) -> str:
        """The element of `buffer` at a scalar `index`, readable and assignable."""
        if buffer.is_scalar:
            return self.base(buffer).text
        return f"{self.base(buffer).at(POSTFIX)}[{self.text(index)}]"

    def address(self, buffer: Buffer, index: Expr) -> Term:
        """A pointer to the element of `buffer` at `index` (the first lane of a ramp)."""
        start = index.base if isinstance(index, Ramp) else index
        if isinstance(index, IntImm) and index.value == 0 and not buffer.is_scalar:
            return self.base(buffer)  # an array is the address of its first element
        return Term(f"&{self.place(buffer, start)}", UNARY)

    def vector_place(self, buffer: Buffer, index: Ramp) -> str:
        """Consecutive elements of `buffer` as one assignable vector."""
        kind = buffer.dtype.with_lanes(buffer.dtype.lanes * index.lanes)
        return f"*({self.pointer(kind, buffer.scope_name)}){self.address(buffer, index).at(UNARY)}"

    def nonnegative(self, expr: Expr) -> bool:
        """Whether `expr` is provably not negative."""
        if expr.dtype.is_uint:
            return True
        low = self.analyzer.bounds(expr).low
        return low is not None and low >= 0

    # ---- rules ------------------------------------------------------------------------------------------------

    def _int(self, node: IntImm) -> Term:
        if node.dtype.is_bool:
            return Term("true" if node.value else "false", PRIMARY)
        suffix = self.ctype(node.dtype).suffix
        if node.value == node.dtype.min_int and node.dtype.is_int and node.dtype.bits >= 32:
            return Term(f"({node.value + 1}{suffix} - 1)", PRIMARY)  # the positive number alone would not fit
        text = f"0x{node.value:x}" if node.dtype.is_uint and _is_mask(node.value) else f"{node.value}"
        return Term(f"{text}{suffix}", UNARY if node.value < 0 else PRIMARY)

    def _float(self, node: FloatImm) -> Term:
        kind, value = self.ctype(node.dtype), rounded(node.value, node.dtype)
        if math.isfinite(value):
            text = kind.literal.format(float_text(value, node.dtype))
            return Term(text, UNARY if text.startswith("-") else PRIMARY)
        self.include(kind.constants)
        if value < 0 and kind.minus_infinity:
            return Term(self.filled(kind.minus_infinity), POSTFIX)
        text = self.filled(kind.nan if math.isnan(value) else kind.infinity)
        return Term(f"-{text}", UNARY) if value < 0 else Term(text, PRIMARY)

    def _string(self, node: StringImm) -> Term:
        return Term(quoted(node.value), PRIMARY)

    def _var(self, node: Var) -> Term:
        name = self.names.of(node, node.name)
        if id(node) not in self.variables:
            return Term(name, PRIMARY)
        pointee = node.dtype.pointee if isinstance(node.dtype, PointerType) else None
        shared = f"({self.type(node.dtype)})" if pointee is not None and pointee.unit is not pointee else ""
        return Term(f"{shared}&{name}", UNARY)

    def _load(self, node: BufferLoad) -> Term:
        if node.buffer.is_scalar:
            return self.base(node.buffer)
        return Term(self.place(node.buffer, node.indices[0] if node.indices else const(0)), POSTFIX)

    def _binary(self, node: Binary) -> Term:
        return self._converted(node, self.infix(BINARY[type(node)], node))

    def infix(self, operator: Operator, node: Binary) -> Term:
        """`a op b` from the printed operands."""
        left, right = self.term(node.a), self.term(node.b)
        chained = left.level == operator.level and type(node.a) is type(node)
        exact = type(node) in (Add, Mul) and node.dtype.is_integer and isinstance(node.b, type(node))
        text = f"{left.at(operator.level if chained else operator.left)} {operator.symbol} "
        return Term(text + right.at(operator.level if exact else operator.right), operator.level)

    def _floor(self, node: FloorDiv | FloorMod) -> Term:
        """Rounds down: shifts and masks where the divisor is a power of two, C's own operator where nothing is negative."""
        division = isinstance(node, FloorDiv)
        value = node.b.value if isinstance(node.b, IntImm) else 0
        if value > 0 and value & (value - 1) == 0:
            other = RShift if division else BitwiseAnd
            amount = const(value.bit_length() - 1 if division else value - 1, node.dtype)
            return self._converted(node, self.infix(BINARY[other], other(node.a, amount)))
        if self.nonnegative(node.a) and self.nonnegative(node.b):
            return self._converted(node, self.infix(BINARY[Div if division else Mod], node))
        return self._converted(node, self._named("floordiv" if division else "floormod", node))

    def _truncated(self, node: Mod) -> Term:
        if node.dtype.is_float:
            return self._named("fmod", node)
        return self._binary(node)

    def _minmax(self, node: Min | Max) -> Term:
        return self._converted(node, self._named("min" if isinstance(node, Min) else "max", node))

    def _named(self, operation: str, node: Binary) -> Term:
        calls = self.dialect.calls
        name = calls.get(f"{operation}.{node.dtype.element.name}") or calls.get(operation, operation)
        if name in self.dialect.helpers:
            self.helper(name)
        if isinstance(node, FloorDiv | FloorMod) and self.dialect.overloads and self.ctype(node.dtype).promoted:
            name = f"{name}<{self.type(node.dtype)}>"  # C's constants have no narrow type: the two operands may differ
        return Term(f"{name}({self.text(node.a)}, {self.text(node.b)})", POSTFIX)

    def _unary(self, node: Unary) -> Term:
        operand = self.term(node.a).at(UNARY)
        symbol = {Neg: "-", BitwiseNot: "~", Not: "!"}[type(node)]
        text = f"{symbol}({operand})" if operand.startswith(symbol) and symbol == "-" else f"{symbol}{operand}"
        return self._converted(node, Term(text, UNARY))

    def _converted(self, node: Expr, term: Term) -> Term:
        """Back to the type of `node` where C computes in a wider one."""
        if node.dtype.is_integer and isinstance(node, PROMOTING):
            kind = self.ctype(node.dtype)
            if kind.promoted:
                return Term(f"({kind.name}){term.at(UNARY)}", UNARY)
        return term

    def _unconverted(self, node: Expr) -> Term:
        if isinstance(node, Min | Max):
            return self._named("min" if isinstance(node, Min) else "max", node)
        if isinstance(node, Binary):
            return self.infix(BINARY[type(node)], node)
        return Term(self.text(node), ARGUMENT)

    def _cast(self, node: Cast) -> Term:
        return self.converted(self.term(node.value), node.value.dtype, node.dtype)

    def converted(self, value: Term, source: DType, target: DType) -> Term:
        """A value of type `source` as `target`."""
        function = self.conversion(source, target)
        if function:
            return Term(f"{function}({value.text})", POSTFIX)
        between = self._between(source, target)
        if between is not None:
            return self.converted(self.converted(value, source, between), between, target)
        if target.is_bool and source.name in self.dialect.bridges:
            wide = DType(self.dialect.bridges[source.name])
            return self.converted(self.converted(value, source, wide), wide, target)
        if target.is_bool and not source.is_bool:
            zero = self.term(const(0, source)).text
            return Term(f"{value.at(BINARY[NE].left)} != {zero}", BINARY[NE].level)
        if isinstance(target, PointerType) or isinstance(source, PointerType):
            return Term(f"({self.type(target)}){value.at(UNARY)}", UNARY)
        bridge = self.dialect.bridges.get(source.name) if target.name in self.dialect.bridges else None
        if bridge is not None and source is not target:
            value = Term(f"({self.type(DType(bridge))}){value.at(UNARY)}", UNARY)
        return Term(f"({self.type(target)}){value.at(UNARY)}", UNARY)

    def conversion(self, source: DType, target: DType) -> str:
        """The function that converts, where a cast does not."""
        name = self.dialect.calls.get(f"cast.{source.name}.{target.name}", "")
        return self.filled(name) if name else ""

    def _between(self, source: DType, target: DType) -> DType | None:
        """The type by way of which two types convert, where functions convert one of them."""
        calls, bridges = self.dialect.calls, self.dialect.bridges
        for dtype, path in ((source, "cast.{0}.{1}"), (target, "cast.{1}.{0}")):
            other = bridges.get(dtype.name)
            if other is not None and source is not target and path.format(dtype.name, other) in calls:
                return DType(other)
        return None

    def _select(self, node: Select) -> Term:
        return self.conditional(node.condition, node.true_value, node.false_value)

    def conditional(self, condition: Expr, true: Expr, false: Expr) -> Term:
        """`condition ? true : false`."""
        head = self.text(condition, TERNARY + 1)
        return Term(f"{head} ? {self.text(true, TERNARY + 1)} : {self.text(false, TERNARY)}", TERNARY)

    def _let(self, node: Let) -> Term:
        """The statement printer hoists lets; one that must not be evaluated early is written out."""
        return self.term(substitute(node.body, {node.var: node.value}))

    def _shuffle(self, node: Shuffle) -> Term:
        return lanes.lane_term(self, node, 0)

    def _call(self, node: Call) -> Term:
        return call_term(self, node)


def _is_mask(value: int) -> bool:
    """Whether a number is read as bits: a large one whose ones are neighbours."""
    return value >> 31 != 0 and (value ^ value >> 1).bit_count() <= 2


def points_to(pointer: DType, dtype: DType) -> bool:
    """Whether a pointer's type says that elements of `dtype` are behind it."""
    pointee = pointer.pointee if isinstance(pointer, PointerType) else None
    return pointee is not None and pointee.unit is dtype.unit


def _refuse_vector(printer: ExprPrinter, node: Expr) -> Term:
    return lanes.vector_term(printer, node)


_RULES: dict[type[Expr], Callable[[ExprPrinter, Any], Term]] = {
    IntImm: ExprPrinter._int,
    FloatImm: ExprPrinter._float,
    StringImm: ExprPrinter._string,
    Var: ExprPrinter._var,
    BufferLoad: ExprPrinter._load,
    FloorDiv: ExprPrinter._floor,
    FloorMod: ExprPrinter._floor,
    Mod: ExprPrinter._truncated,
    Min: ExprPrinter._minmax,
    Max: ExprPrinter._minmax,
    Neg: ExprPrinter._unary,
    BitwiseNot: ExprPrinter._unary,
    Not: ExprPrinter._unary,
    Cast: ExprPrinter._cast,
    Select: ExprPrinter._select,
    Let: ExprPrinter._let,
    Shuffle: ExprPrinter._shuffle,
    Call: ExprPrinter._call,
    Ramp: _refuse_vector,
    Broadcast: _refuse_vector,
    **dict.fromkeys((kind for kind in BINARY if kind is not Mod), ExprPrinter._binary),
}
