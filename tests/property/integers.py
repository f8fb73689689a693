"""Random integer expressions over small ranges, with a brute-force evaluator: the oracle of `tirx.arith`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

from tirx import ir

VARIABLES = tuple(ir.Var(name, ir.INT32) for name in "xyz")
RANGES = st.tuples(st.integers(-6, 6), st.integers(0, 7)).map(lambda p: (p[0], p[0] + p[1]))


def _trunc_div(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: dict[type, Callable[[int, int], int]] = {
    ir.Add: operator.add,
    ir.Sub: operator.sub,
    ir.Mul: operator.mul,
    ir.FloorDiv: operator.floordiv,
    ir.FloorMod: operator.mod,
    ir.Div: _trunc_div,
    ir.Mod: lambda a, b: a - b * _trunc_div(a, b),
    ir.Min: min,
    ir.Max: max,
    ir.BitwiseAnd: operator.and_,
    ir.BitwiseOr: operator.or_,
    ir.BitwiseXor: operator.xor,
    ir.LShift: operator.lshift,
    ir.RShift: operator.rshift,
    ir.LT: operator.lt,
    ir.LE: operator.le,
    ir.GT: operator.gt,
    ir.GE: operator.ge,
    ir.EQ: operator.eq,
    ir.NE: operator.ne,
    ir.And: lambda a, b: bool(a and b),
    ir.Or: lambda a, b: bool(a or b),
}
DIVISIONS = (ir.FloorDiv, ir.FloorMod, ir.Div, ir.Mod)
ARITHMETIC = (ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max)
BITWISE = (ir.BitwiseAnd, ir.BitwiseOr, ir.BitwiseXor)
SHIFTS = (ir.LShift, ir.RShift)
POWERS = (1, 2, 4, 8, 16)
MASKS = (1, 3, 7, 8, 12, 15, 24, 56, 5, -8, -1, 0)
COMPARISONS = (ir.LT, ir.LE, ir.GT, ir.GE, ir.EQ, ir.NE)


def constants(low: int = -9, high: int = 9) -> st.SearchStrategy[ir.Expr]:
    return st.integers(low, high).map(lambda value: ir.IntImm(value, ir.INT32))


def _pair(
    kinds: tuple[type, ...], a: st.SearchStrategy[ir.Expr], b: st.SearchStrategy[ir.Expr]
) -> st.SearchStrategy[ir.Expr]:
    return st.builds(lambda kind, x, y: kind(x, y), st.sampled_from(kinds), a, b)


def _sampled(values: tuple[int, ...]) -> st.SearchStrategy[ir.Expr]:
    return st.sampled_from(values).map(lambda value: ir.IntImm(value, ir.INT32))


def _grow(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    plain = _pair(ARITHMETIC, inner, inner)
    scaled = _pair((ir.Mul,), inner, _sampled(POWERS))
    divided = _pair(DIVISIONS, inner, st.one_of(constants(1, 9), _sampled(POWERS)))
    bits = _pair(BITWISE, inner, st.one_of(inner, _sampled(MASKS)))
    shifted = _pair(SHIFTS, inner, constants(0, 4))
    chosen = st.builds(ir.Select, comparisons(inner), inner, inner)
    negated = st.builds(lambda kind, a: kind(a), st.sampled_from((ir.Neg, ir.BitwiseNot)), inner)
    return st.one_of(plain, scaled, divided, bits, shifted, plain, divided, bits, negated, chosen)


def comparisons(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    return st.builds(lambda kind, a, b: kind(a, b), st.sampled_from(COMPARISONS), inner, inner)


LEAVES = st.one_of(st.sampled_from(VARIABLES), constants())
EXPRESSIONS = st.recursive(LEAVES, _grow, max_leaves=8)
CONDITIONS = st.recursive(
    comparisons(EXPRESSIONS),
    lambda inner: st.one_of(st.builds(ir.And, inner, inner), st.builds(ir.Or, inner, inner), st.builds(ir.Not, inner)),
    max_leaves=3,
)


def evaluate(expr: ir.Expr, values: dict[int, int]) -> int:
    """The value of `expr` where variables (by id) have `values`."""
    match expr:
        case ir.Var():
            return values[id(expr)]
        case ir.IntImm():
            return expr.value
        case ir.Neg():
            return -evaluate(expr.a, values)
        case ir.BitwiseNot():
            return ~evaluate(expr.a, values)
        case ir.Not():
            return not evaluate(expr.a, values)
        case ir.Select():
            return evaluate(expr.true_value if evaluate(expr.condition, values) else expr.false_value, values)
        case ir.Binary():
            return OPERATIONS[type(expr)](evaluate(expr.a, values), evaluate(expr.b, values))
    raise AssertionError(expr)


def points(ranges: list[tuple[int, int]]) -> Iterator[dict[int, int]]:
    """Every assignment of the variables in their ranges."""
    for values in itertools.product(*(range(low, high + 1) for low, high in ranges)):
        yield {id(var): value for var, value in zip(VARIABLES, values, strict=True)}
