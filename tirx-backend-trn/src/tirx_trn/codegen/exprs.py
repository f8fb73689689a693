"""Index expressions and conditions as Python: they are evaluated while NKI unrolls the loops."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

from tirx.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Call,
    Cast,
    Div,
    Expr,
    FloatImm,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mul,
    Neg,
    Node,
    Not,
    Or,
    Select,
    Sub,
    Var,
)  # fmt: skip
from tirx.support.errors import VerifyError

from ..kernel import CHOICE
from .names import Names

__all__ = ["Exprs", "number"]

# Operator, precedence of the result, least precedence of the operands without parentheses.
_BINARY: dict[type[Node], tuple[str, int, int, int]] = {
    Or: ("or", 1, 1, 2), And: ("and", 2, 2, 3),
    EQ: ("==", 4, 5, 5), NE: ("!=", 4, 5, 5), LT: ("<", 4, 5, 5), LE: ("<=", 4, 5, 5), GT: (">", 4, 5, 5), GE: (">=", 4, 5, 5),
    Add: ("+", 6, 6, 7), Sub: ("-", 6, 6, 7), Mul: ("*", 7, 7, 8), FloorDiv: ("//", 7, 7, 8), FloorMod: ("%", 7, 7, 8),
}  # fmt: skip
_ATOM = 10


def number(value: float, *, integer: bool = False) -> str:
    """A constant; infinities as `math` names them."""
    if integer:
        return str(int(value))
    if math.isinf(value):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(float(value))


class Exprs:
    """Writes expressions with the fewest parentheses."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def text(self, expr: int | Expr) -> str:
        """`expr` as Python."""
        return str(expr) if isinstance(expr, int) else self._write(expr)[0]

    def _write(self, expr: Expr) -> tuple[str, int]:
        """Text and its precedence."""
        if isinstance(expr, IntImm):
            return (str(bool(expr.value)) if expr.dtype.is_bool else str(expr.value)), _ATOM if expr.value >= 0 else 8
        if isinstance(expr, FloatImm):
            return number(expr.value), _ATOM if expr.value >= 0 else 8
        if isinstance(expr, Var):
            return self.names.of(expr), _ATOM
        row = _BINARY.get(type(expr))
        if row is not None:
            return self._binary(expr, row)
        rule = _OTHER.get(type(expr))
        return rule(self, expr) if rule is not None else self._refuse(expr)

    def _refuse(self, expr: Expr) -> NoReturn:
        raise VerifyError(
            f"`{expr.script()}` has no place in the index arithmetic of an NKI kernel",
            span=expr.span,
            hint="use + - * // % and comparisons of loop variables and sizes",
        )

    def _binary(self, expr: Any, row: tuple[str, int, int, int]) -> tuple[str, int]:
        symbol, precedence, left, right = row
        if isinstance(expr, Sub) and isinstance(expr.a, IntImm) and expr.a.value == 0:
            return f"-{self._inside(expr.b, 7)}", 6
        a, b = _promoted(expr.a, expr.b), _promoted(expr.b, expr.a)
        return f"{self._inside(a, left)} {symbol} {self._inside(b, right)}", precedence

    def _inside(self, expr: Expr, least: int) -> str:
        text, precedence = self._write(expr)
        return text if precedence >= least else f"({text})"

    def _neg(self, expr: Any) -> tuple[str, int]:
        return f"-{self._inside(expr.a, 8)}", 8

    def _not(self, expr: Any) -> tuple[str, int]:
        return f"not {self._inside(expr.a, 3)}", 3

    def _min(self, expr: Any) -> tuple[str, int]:
        return f"min({self.text(expr.a)}, {self.text(expr.b)})", _ATOM

    def _max(self, expr: Any) -> tuple[str, int]:
        return f"max({self.text(expr.a)}, {self.text(expr.b)})", _ATOM

    def _cast(self, expr: Any) -> tuple[str, int]:
        """Python's numbers have no width: integers stay what they are, and become floats by a product."""
        if expr.dtype.is_integer and expr.value.dtype.is_integer:
            return self._write(expr.value)
        if not expr.dtype.is_float:
            raise VerifyError(
                f"a conversion to {expr.dtype} has no place in an NKI kernel's arithmetic",
                span=expr.span,
                hint="scalars of instructions are floats; indices are integers from the start",
            )
        if expr.value.dtype.is_float:
            return self._write(expr.value)
        return f"{self._inside(expr.value, 7)} * 1.0", 7

    def _div(self, expr: Any) -> tuple[str, int]:
        """By a number, a product: floats are all that has this division."""
        if not isinstance(expr.b, FloatImm) or expr.b.value == 0:
            raise VerifyError(
                f"`{expr.script()}` divides by what is no number, or zero",
                span=expr.span,
                hint="divide by a constant, or take // of integers",
            )
        return self._write(Mul(expr.a, FloatImm(1.0 / expr.b.value, expr.b.dtype)))

    def _select(self, expr: Any) -> tuple[str, int]:
        return self._chosen(expr.condition, expr.true_value, expr.false_value)

    def _call(self, expr: Any) -> tuple[str, int]:
        if expr.op.name != CHOICE:
            self._refuse(expr)
        return self._chosen(*expr.args)

    def _chosen(self, condition: Expr, first: Expr, second: Expr) -> tuple[str, int]:
        return f"{self._inside(first, 1)} if {self._inside(condition, 1)} else {self._inside(second, 0)}", 0


def _promoted(expr: Expr, other: Expr) -> Expr:
    """An integer beside a float becomes one by itself."""
    if isinstance(expr, Cast) and expr.dtype.is_float and expr.value.dtype.is_integer and not isinstance(other, Cast):
        return expr.value
    return expr


_OTHER: dict[type[Node], Callable[[Exprs, Any], tuple[str, int]]] = {
    Neg: Exprs._neg, Not: Exprs._not, Min: Exprs._min, Max: Exprs._max, Cast: Exprs._cast, Div: Exprs._div,
    Select: Exprs._select, Call: Exprs._call,
}  # fmt: skip
