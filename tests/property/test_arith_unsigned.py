"""Unsigned arithmetic wraps, and what the analyzer says holds all the same: on every value of an 8-bit variable."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.integers import COMPARISONS, OPERATIONS
from tirx import ir
from tirx.arith import Analyzer

BYTE = ir.DType("uint8")
X = ir.Var("x", BYTE)
few = settings(max_examples=150, deadline=None)

KINDS = (ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max, ir.BitwiseAnd, ir.BitwiseOr, ir.BitwiseXor)


def constants(low: int = 0, high: int = 255) -> st.SearchStrategy[ir.Expr]:
    return st.integers(low, high).map(lambda value: ir.IntImm(value, BYTE))


def _grow(inner: st.SearchStrategy[ir.Expr]) -> st.SearchStrategy[ir.Expr]:
    plain = st.builds(lambda kind, a, b: kind(a, b), st.sampled_from(KINDS), inner, inner)
    divided = st.builds(
        lambda kind, a, b: kind(a, b), st.sampled_from((ir.FloorDiv, ir.FloorMod)), inner, constants(1, 40)
    )
    shifted = st.builds(lambda kind, a, b: kind(a, b), st.sampled_from((ir.LShift, ir.RShift)), inner, constants(0, 7))
    return st.one_of(plain, divided, shifted, st.builds(ir.BitwiseNot, inner))


EXPRESSIONS = st.recursive(st.one_of(st.just(X), constants()), _grow, max_leaves=7)
COMPARED = st.builds(lambda kind, a, b: kind(a, b), st.sampled_from(COMPARISONS), EXPRESSIONS, EXPRESSIONS)


def evaluate(expr: ir.Expr, value: int) -> int:
    """Each operation modulo 256."""
    match expr:
        case ir.Var():
            return value
        case ir.IntImm():
            return expr.value
        case ir.BitwiseNot():
            return 255 - evaluate(expr.a, value)
        case ir.Not():
            return not evaluate(expr.a, value)
        case ir.Binary():
            return OPERATIONS[type(expr)](evaluate(expr.a, value), evaluate(expr.b, value)) & 255
    raise AssertionError(expr)


@few
@given(EXPRESSIONS, st.integers(0, 255), st.integers(0, 255))
def test_values(expr: ir.Expr, low: int, size: int) -> None:
    analyzer, high = Analyzer(), min(255, low + size)
    analyzer.bind(X, low, high)
    simpler, found, residue = analyzer.simplify(expr), analyzer.bounds(expr), analyzer.residue(expr)
    for value in range(low, high + 1):
        wanted = evaluate(expr, value)
        assert evaluate(simpler, value) == wanted
        assert found.low is not None
        assert found.high is not None
        assert found.low <= wanted <= found.high
        assert (wanted - residue.base) % residue.modulus == 0 if residue.modulus else wanted == residue.base


@few
@given(COMPARED, COMPARED)
def test_conditions(assumed: ir.Expr, asked: ir.Expr) -> None:
    analyzer, informed = Analyzer(), Analyzer()
    informed.assume(assumed)
    proven, refuted, later = analyzer.prove(asked), analyzer.refute(asked), informed.prove(asked)
    for value in range(256):
        truth = bool(evaluate(asked, value))
        assert truth or not proven
        assert not (truth and refuted)
        assert truth or not later or not evaluate(assumed, value)
