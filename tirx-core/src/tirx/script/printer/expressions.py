"""Expressions as text, with as few parentheses as Python needs.

Operators are used where reading them back gives the same node; where an operator would fold constants or change types, the
node's own constructor is written (`T.Add(1, 2)`). The walk is iterative, so that a long sum is no deeper than a short one.
"""

from __future__ import annotations

from ...ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Broadcast,
    BufferLoad,
    BufferRegion,
    Call,
    Cast,
    Compare,
    Div,
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
    Tuple,
    Var,
)  # fmt: skip
from .calls import call_text
from .literals import constant, is_number, number, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from ...ir import Buffer, DType

    Piece = tuple[str, int]  # text, precedence

__all__ = ["ATOM", "ExpressionPrinter"]

OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(12)

_OPERATORS: dict[type[Expr], tuple[str, int]] = {
    Add: ("+", SUM), Sub: ("-", SUM), Mul: ("*", PRODUCT), Div: ("/", PRODUCT), FloorDiv: ("//", PRODUCT),
    FloorMod: ("%", PRODUCT), BitwiseAnd: ("&", BIT_AND), BitwiseOr: ("|", BIT_OR), BitwiseXor: ("^", BIT_XOR),
    LShift: ("<<", SHIFT), RShift: (">>", SHIFT), EQ: ("==", COMPARE), NE: ("!=", COMPARE), LT: ("<", COMPARE), LE: ("<=", COMPARE),
    GT: (">", COMPARE), GE: (">=", COMPARE), And: ("and", AND), Or: ("or", OR),
}  # fmt: skip
_FUNCTIONS = {Min: "min", Max: "max", Mod: "truncmod"}
_INTEGER_ONLY = (FloorDiv, FloorMod, LShift, RShift)
_BITS = (BitwiseAnd, BitwiseOr, BitwiseXor)


class ExpressionPrinter:
    """Text of expressions. `name` gives names of variables and buffers."""

    def __init__(
        self, name: Callable[[Any], str], pointer: Callable[[Var], str], before: Callable[[Let], None]
    ) -> None:
        self.name = name
        self.pointer = pointer
        self.before = before

    def text(self, expr: Expr | int, expected: DType | None = None) -> str:
        """The expression as it stands alone. A constant is plain where Python's number becomes `expected`."""
        if isinstance(expr, int):
            return str(expr)
        if is_number(expr):
            return number(expr, expected)
        return self.piece(expr)[0]

    def piece(self, root: Expr) -> Piece:
        """Text and precedence of `root`."""
        stack: list[tuple[Any, bool]] = [(root, False)]
        done: list[Piece] = []
        while stack:
            node, ready = stack.pop()
            if ready:
                count = sum(1 for _ in node.children())
                parts = done[len(done) - count :]
                del done[len(done) - count :]
                done.append(self._node(node, parts))
                continue
            if isinstance(node, Let):
                self.before(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(node.children())))
        (result,) = done
        return result

    def _node(self, node: Any, parts: list[Piece]) -> Piece:
        rule = _RULES.get(type(node))
        if rule is not None:
            made: Piece = rule(self, node, parts)
            return made
        if isinstance(node, Binary):
            return self._binary(node, parts)
        raise TypeError(f"the printer does not know {type(node).__name__}")

    # ---- operators --------------------------------------------------------------------------------------------------

    def _binary(self, node: Binary, parts: list[Piece]) -> Piece:
        kind = type(node)
        if kind in _FUNCTIONS and not _both_numbers(node):
            return self._function(f"T.{_FUNCTIONS[kind]}", node, parts)
        if kind is Div and node.a.dtype.is_integer and not _both_numbers(node):
            return self._function("T.truncdiv", node, parts)
        if kind not in _OPERATORS or not _is_operator(node):
            return self._function(f"T.{kind.__name__}", node, parts)
        symbol, level = _OPERATORS[kind]
        left = self._operand(node, node.a, parts[0], first=True)
        right = self._operand(node, node.b, parts[1], first=False)
        tight = isinstance(node, Compare) and level == COMPARE
        return f"{_closed(left, level + tight)} {symbol} {_closed(right, level + 1)}", level

    def _operand(self, node: Binary, item: Expr, piece: Piece, *, first: bool) -> Piece:
        """An operand; constants are plain where the other side gives them their type."""
        if not is_number(item):
            return piece
        if first and isinstance(node, Compare):
            return constant(item), ATOM  # a plain number would let Python turn the comparison round
        return self._plain(item, (node.b if first else node.a).dtype)

    def _plain(self, item: Expr, other: DType) -> Piece:
        text = number(item, item.dtype if item.dtype is other else None)
        return text, UNARY if text.startswith("-") else ATOM

    def _function(self, name: str, node: Binary, parts: list[Piece]) -> Piece:
        a, b = parts[0][0], parts[1][0]
        if is_number(node.a) and not is_number(node.b):
            a = self._plain(node.a, node.b.dtype)[0]
        elif is_number(node.b) and not is_number(node.a):
            b = self._plain(node.b, node.a.dtype)[0]
        return f"{name}({a}, {b})", ATOM

    # ---- the other nodes --------------------------------------------------------------------------------------------

    def _number(self, node: Expr, parts: list[Piece]) -> Piece:
        return number(node, None), ATOM

    def _string(self, node: StringImm, parts: list[Piece]) -> Piece:
        return quoted(node.value), ATOM

    def _var(self, node: Var, parts: list[Piece]) -> Piece:
        return (self.pointer(node) if node.dtype.is_handle else self.name(node)), ATOM

    def _not(self, node: Not, parts: list[Piece]) -> Piece:
        if is_number(node.a):
            return f"T.Not({parts[0][0]})", ATOM
        return f"not {_closed(parts[0], NOT)}", NOT

    def _neg(self, node: Neg, parts: list[Piece]) -> Piece:
        return (f"T.Neg({parts[0][0]})", ATOM) if is_number(node.a) else (f"-{_closed(parts[0], UNARY)}", UNARY)

    def _bit_not(self, node: BitwiseNot, parts: list[Piece]) -> Piece:
        return (f"T.BitwiseNot({parts[0][0]})", ATOM) if is_number(node.a) else (f"~{_closed(parts[0], UNARY)}", UNARY)

    def _cast(self, node: Cast, parts: list[Piece]) -> Piece:
        return f'T.Cast("{node.dtype}", {parts[0][0]})', ATOM

    def _select(self, node: Select, parts: list[Piece]) -> Piece:
        return f"T.Select({', '.join(text for text, _ in parts)})", ATOM

    def _let(self, node: Let, parts: list[Piece]) -> Piece:
        return f"T.Let({parts[1][0]}, where={{{self.name(node.var)}: {parts[0][0]}}})", ATOM

    def _ramp(self, node: Ramp, parts: list[Piece]) -> Piece:
        stride = number(node.stride, node.base.dtype) if isinstance(node.stride, IntImm) else parts[1][0]
        return f"T.Ramp({parts[0][0]}, {stride}, {node.lanes})", ATOM

    def _broadcast(self, node: Broadcast, parts: list[Piece]) -> Piece:
        return f"T.Broadcast({parts[0][0]}, {node.lanes})", ATOM

    def _shuffle(self, node: Shuffle, parts: list[Piece]) -> Piece:
        return f"T.Shuffle([{', '.join(text for text, _ in parts)}], {list(node.indices)})", ATOM

    def _load(self, node: BufferLoad, parts: list[Piece]) -> Piece:
        texts = [
            text for text, _ in parts[: len(node.indices)]
        ]  # the author's own indices follow; they are not program
        return self.element(node.buffer, node.indices, texts), ATOM

    def element(self, buffer: Buffer, indices: Sequence[Expr], texts: Sequence[str]) -> str:
        """A buffer element; a scalar by its name alone."""
        if buffer.is_scalar and len(indices) == 1 and isinstance(indices[0], IntImm) and indices[0].value == 0:
            return self.name(buffer)
        return f"{self.name(buffer)}[{', '.join(texts) or '()'}]"

    def _region(self, node: BufferRegion, parts: list[Piece]) -> Piece:
        ranges = []
        for start, extent in zip(node.starts, node.extents, strict=True):
            if isinstance(extent, IntImm) and extent.value == 1:
                ranges.append(self.text(start))
            else:
                stop = extent if isinstance(start, IntImm) and start.value == 0 else start + extent
                ranges.append(f"{self.text(start)}:{self.text(stop)}")
        return f"{self.name(node.buffer)}[{', '.join(ranges) or '()'}]", ATOM

    def _tuple(self, node: Tuple, parts: list[Piece]) -> Piece:
        return f"T.tvm_tuple({', '.join(text for text, _ in parts)})", ATOM

    def _call(self, node: Call, parts: list[Piece]) -> Piece:
        return call_text(node, [text for text, _ in parts]), ATOM


def _both_numbers(node: Binary) -> bool:
    return is_number(node.a) and is_number(node.b)


def _is_operator(node: Binary) -> bool:
    """Whether Python's operator between the operands gives this node."""
    kind = type(node)
    if kind in (And, Or):  # a constant would decide while the text is read
        return node.a.dtype.is_bool and node.b.dtype.is_bool and not (is_number(node.a) or is_number(node.b))
    if _both_numbers(node):
        return False
    if node.a.dtype is not node.b.dtype:
        return node.a.dtype.is_handle and node.b.dtype.is_handle
    if kind in _INTEGER_ONLY:
        return node.a.dtype.is_integer
    if kind in _BITS:
        return node.a.dtype.is_integer or node.a.dtype.is_bool
    return True


def _closed(piece: Piece, level: int) -> str:
    """Text of a piece as an operand that binds at least as tightly as `level`."""
    text, own = piece
    return text if own >= level else f"({text})"


_RULES: dict[type[Any], Callable[..., Any]] = {
    IntImm: ExpressionPrinter._number, FloatImm: ExpressionPrinter._number, StringImm: ExpressionPrinter._string,
    Var: ExpressionPrinter._var, Not: ExpressionPrinter._not, Neg: ExpressionPrinter._neg, BitwiseNot: ExpressionPrinter._bit_not,
    Cast: ExpressionPrinter._cast, Select: ExpressionPrinter._select, Let: ExpressionPrinter._let, Ramp: ExpressionPrinter._ramp,
    Broadcast: ExpressionPrinter._broadcast, Shuffle: ExpressionPrinter._shuffle, BufferLoad: ExpressionPrinter._load,
    BufferRegion: ExpressionPrinter._region, Tuple: ExpressionPrinter._tuple, Call: ExpressionPrinter._call,
}  # fmt: skip
