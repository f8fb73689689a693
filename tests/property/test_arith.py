"""What the analyzer says holds for every value in the known ranges."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.integers import CONDITIONS, EXPRESSIONS, RANGES, VARIABLES, evaluate, points
from tirx import ir
from tirx.arith import Analyzer

ranges = st.lists(RANGES, min_size=3, max_size=3)
few = settings(max_examples=150, deadline=None)


def analyzer_for(known: list[tuple[int, int]]) -> Analyzer:
    analyzer = Analyzer()
    for var, (low, high) in zip(VARIABLES, known, strict=True):
        analyzer.bind(var, low, high)
    return analyzer


@few
@given(EXPRESSIONS, ranges)
def test_bounds_hold(expr: ir.Expr, known: list[tuple[int, int]]) -> None:
    found = analyzer_for(known).bounds(expr)
    for values in points(known):
        value = evaluate(expr, values)
        assert found.low is None or found.low <= value
        assert found.high is None or value <= found.high


@few
@given(EXPRESSIONS, ranges)
def test_simplify_keeps_the_value(expr: ir.Expr, known: list[tuple[int, int]]) -> None:
    simpler = analyzer_for(known).simplify(expr)
    for values in points(known):
        assert evaluate(simpler, values) == evaluate(expr, values)


@few
@given(CONDITIONS, ranges)
def test_simplify_keeps_conditions(condition: ir.Expr, known: list[tuple[int, int]]) -> None:
    simpler = analyzer_for(known).simplify(condition)
    for values in points(known):
        assert bool(evaluate(simpler, values)) == bool(evaluate(condition, values))


@few
@given(CONDITIONS, ranges)
def test_proofs_hold(condition: ir.Expr, known: list[tuple[int, int]]) -> None:
    analyzer = analyzer_for(known)
    proven, refuted = analyzer.prove(condition), analyzer.refute(condition)
    for values in points(known):
        truth = bool(evaluate(condition, values))
        assert truth or not proven
        assert not (truth and refuted)


@few
@given(EXPRESSIONS, ranges)
def test_residues_hold(expr: ir.Expr, known: list[tuple[int, int]]) -> None:
    residue = analyzer_for(known).residue(expr)
    for values in points(known):
        value = evaluate(expr, values)
        assert value == residue.base if residue.modulus == 0 else value % residue.modulus == residue.base


@few
@given(EXPRESSIONS)
def test_simplify_settles(expr: ir.Expr) -> None:
    analyzer = Analyzer()
    once = analyzer.simplify(expr)
    assert ir.structural_equal(Analyzer().simplify(once), once, map_free=True)


@few
@given(CONDITIONS, CONDITIONS, EXPRESSIONS, ranges, st.booleans())
def test_what_conditions_say_holds_where_they_hold(
    assumed: ir.Expr, asked: ir.Expr, expr: ir.Expr, known: list[tuple[int, int]], holds: bool
) -> None:
    analyzer = analyzer_for(known)
    analyzer.assume(assumed, holds)
    proven, refuted = analyzer.prove(asked), analyzer.refute(asked)
    found, residue, simpler = analyzer.bounds(expr), analyzer.residue(expr), analyzer.simplify(expr)
    for values in points(known):
        if bool(evaluate(assumed, values)) != holds:
            continue
        truth, value = bool(evaluate(asked, values)), evaluate(expr, values)
        assert truth or not proven
        assert not (truth and refuted)
        assert found.low is None or found.low <= value
        assert found.high is None or value <= found.high
        assert (value - residue.base) % residue.modulus == 0 if residue.modulus else value == residue.base
        assert evaluate(simpler, values) == value


@few
@given(
    EXPRESSIONS,
    ranges,
    st.lists(st.tuples(st.sampled_from([1, 2, 3, 4, 8]), st.integers(0, 7)), min_size=3, max_size=3),
)
def test_residues_of_variables_are_used(
    expr: ir.Expr, known: list[tuple[int, int]], said: list[tuple[int, int]]
) -> None:
    analyzer = analyzer_for(known)
    for var, (modulus, base) in zip(VARIABLES, said, strict=True):
        analyzer.bind_residue(var, modulus, base)
    simpler, residue = analyzer.simplify(expr), analyzer.residue(expr)
    for values in points(known):
        if any((values[id(var)] - base) % modulus for var, (modulus, base) in zip(VARIABLES, said, strict=True)):
            continue
        value = evaluate(expr, values)
        assert evaluate(simpler, values) == value
        assert (value - residue.base) % residue.modulus == 0 if residue.modulus else value == residue.base


@few
@given(
    st.lists(st.integers(-4, 8), min_size=4, max_size=4),
    st.integers(1, 3),
    st.sampled_from([ir.FloorDiv, ir.FloorMod]),
    CONDITIONS,
    ranges,
)
def test_divisions_by_symbols(
    factors: list[int], times: int, kind: type[ir.Binary], assumed: ir.Expr, known: list[tuple[int, int]]
) -> None:
    x, y, z = VARIABLES
    known = [*known[:2], (1, max(1, known[2][1]))]
    analyzer = analyzer_for(known)
    analyzer.assume(assumed)
    analyzer.assume(y < z)
    a, b, c, d = factors
    expr = kind(x * z * a + y * b + z * c + d, z * times)
    simpler = analyzer.simplify(expr)
    for values in points(known):
        if evaluate(assumed, values) and values[id(y)] < values[id(z)]:
            assert evaluate(simpler, values) == evaluate(expr, values)
