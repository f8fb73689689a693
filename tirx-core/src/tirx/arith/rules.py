"""Simplification rules: one function per node type, applied bottom-up by the shared rewriting driver.

A rule answers a simpler node or None. The form that the author wrote is kept unless something really becomes shorter, because
people read the result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ir import (
    BOOL,
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    BufferLoad,
    Cast,
    Compare,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    Select,
    Sub,
    binary,
    cast,
    const,
    rewrite,
)  # fmt: skip
from ..support.errors import ScriptError
from .key import key_of
from .linear import fitted, linear_of

if TYPE_CHECKING:
    from .analyzer import Analyzer

__all__ = ["simplified"]

Rule = Callable[[Any, "Analyzer"], Expr | None]


def simplified(expr: Expr, analyzer: Analyzer, memo: dict[int, tuple[Expr, Expr]]) -> Expr:
    """`expr` after all rules; `memo` remembers whole expressions."""
    found = memo.get(id(expr))
    if found is not None:
        return found[1]
    rules = {kind: _bound_rule(rule, analyzer) for kind, rule in _RULES.items()}
    result = rewrite(expr, rules, enter={BufferLoad: lambda node: _indices(node, analyzer)})
    memo[id(expr)] = (expr, result)
    return result


def _indices(node: BufferLoad, analyzer: Analyzer) -> BufferLoad | None:
    """An access with simple indices; `coords` stay what the author wrote."""
    made = tuple(map(analyzer.simplify, node.indices))
    return None if all(a is b for a, b in zip(made, node.indices, strict=True)) else node.rebuild(indices=made)


def _bound_rule(rule: Rule, analyzer: Analyzer) -> Callable[[Any], Expr | None]:
    return lambda node: rule(node, analyzer)


def _scalar_int(node: Expr) -> bool:
    return node.dtype.is_integer and node.dtype.lanes == 1


def _sum(node: Expr, analyzer: Analyzer) -> Expr | None:
    """Merge like terms; keep the author's form when nothing merges."""
    if not _scalar_int(node):
        return None
    form = linear_of(node)
    form.recombine()
    count = len(form.atoms) + (form.constant != 0)
    return form.to_expr(node.dtype) if count < form.leaves else None


def _product(node: Mul, analyzer: Analyzer) -> Expr | None:
    if not _scalar_int(node):
        return None
    for factor, other in ((node.a, node.b), (node.b, node.a)):
        if isinstance(factor, IntImm):
            if factor.value == 0:
                return factor
            if factor.value == 1:
                return other
    if isinstance(node.b, IntImm) and isinstance(node.a, Mul) and isinstance(node.a.b, IntImm):
        return binary(Mul, node.a.a, fitted(node.a.b.value * node.b.value, node.dtype))
    return _folded(node)


def _folded(node: Any) -> Expr | None:
    if isinstance(node.a, IntImm) and isinstance(node.b, IntImm):
        try:
            made = binary(type(node), node.a, node.b)
        except ScriptError:  # it overflows or divides by zero: left as it is, for who runs it
            return None
        return made if isinstance(made, IntImm) else None
    return None


def _fits(value: int, node: Expr) -> bool:
    return node.dtype.min_int <= value <= node.dtype.max_int


def _divide(node: FloorDiv, analyzer: Analyzer) -> Expr | None:
    if not _scalar_int(node) or not isinstance(node.b, IntImm) or node.b.value <= 0:
        return None
    divisor = node.b.value
    if divisor == 1:
        return node.a
    if isinstance(node.a, FloorDiv) and isinstance(node.a.b, IntImm) and node.a.b.value > 0:
        whole = node.a.b.value * divisor
        return analyzer.simplify(binary(FloorDiv, node.a.a, const(whole, node.dtype))) if _fits(whole, node) else None
    if _wraps(node.a, analyzer):
        return _folded(node)
    found = analyzer.bounds(node.a)
    if (
        found.is_finite
        and found.low is not None
        and found.high is not None
        and found.low // divisor == found.high // divisor
        and _fits(found.low // divisor, node)
    ):
        return const(found.low // divisor, node.dtype)
    quotient, rest = linear_of(node.a).split(divisor)
    span = analyzer.linear_bounds(rest)
    if span.within(0, divisor - 1):
        return quotient.to_expr(node.dtype)
    if quotient.atoms or quotient.constant:
        inner = binary(FloorDiv, rest.to_expr(node.dtype), node.b)
        quotient.add(_divide_small(inner, analyzer), 1)
        return quotient.to_expr(node.dtype)
    return None


def _divide_small(node: Expr, analyzer: Analyzer) -> Expr:
    return node if isinstance(node, IntImm) else analyzer.simplify(node)


def _remainder(node: FloorMod, analyzer: Analyzer) -> Expr | None:
    if not _scalar_int(node) or not isinstance(node.b, IntImm) or node.b.value <= 0:
        return None
    divisor = node.b.value
    if divisor == 1:
        return const(0, node.dtype)
    if _wraps(node.a, analyzer):
        return _folded(node)
    if analyzer.bounds(node.a).within(0, divisor - 1):
        return node.a
    form = linear_of(node.a)
    quotient, rest = form.split(divisor)
    if analyzer.linear_bounds(rest).within(0, divisor - 1):
        return rest.to_expr(node.dtype)
    if quotient.atoms or quotient.constant:
        return binary(FloorMod, rest.to_expr(node.dtype), node.b)
    if isinstance(node.a, FloorMod) and isinstance(node.a.b, IntImm) and node.a.b.value % divisor == 0:
        return binary(FloorMod, node.a.a, node.b)
    return None


def _wraps(expr: Expr, analyzer: Analyzer) -> bool:
    """Whether an unsigned sum may have wrapped, so that division rules of the integers do not hold."""
    if not expr.dtype.is_uint:
        return False
    form = linear_of(expr)
    return len(form.atoms) + (form.constant != 0) > 1 and not analyzer.linear_bounds(form).within(0, expr.dtype.max_int)


def _truncating(kind: type[Any]) -> Rule:
    """On non-negative operands truncation and rounding down agree; the floor forms have the rules."""

    def rule(node: Any, analyzer: Analyzer) -> Expr | None:
        if not _scalar_int(node):
            return None
        a, b = analyzer.bounds(node.a), analyzer.bounds(node.b)
        if a.low is None or b.low is None or a.low < 0 or b.low <= 0:
            return _folded(node)
        floor = binary(kind, node.a, node.b)
        better = analyzer.simplify(floor)
        return better if better is not floor else None

    return rule


def _extreme(smaller: bool) -> Rule:
    def rule(node: Any, analyzer: Analyzer) -> Expr | None:
        if not _scalar_int(node):
            return None
        if key_of(node.a) == key_of(node.b):
            return node.a  # type: ignore[no-any-return]
        a, b = analyzer.bounds(node.a), analyzer.bounds(node.b)
        if a.high is not None and b.low is not None and a.high <= b.low:
            return node.a if smaller else node.b  # type: ignore[no-any-return]
        if b.high is not None and a.low is not None and b.high <= a.low:
            return node.b if smaller else node.a  # type: ignore[no-any-return]
        return None

    return rule


def _comparison(node: Compare, analyzer: Analyzer) -> Expr | None:
    if node.a.dtype.lanes != 1 or not node.a.dtype.is_integer:
        return None
    if analyzer.prove(node):
        return const(True)
    if analyzer.refute(node):
        return const(False)
    return None


def _conjunction(node: And, analyzer: Analyzer) -> Expr | None:
    for one, other in ((node.a, node.b), (node.b, node.a)):
        if isinstance(one, IntImm) and one.dtype is BOOL:
            if one.value:
                return other
            if one is node.a:
                return one
    return None


def _disjunction(node: Or, analyzer: Analyzer) -> Expr | None:
    for one, other in ((node.a, node.b), (node.b, node.a)):
        if isinstance(one, IntImm) and one.dtype is BOOL:
            if not one.value:
                return other
            if one is node.a:
                return one
    return None


def _negation(node: Not, analyzer: Analyzer) -> Expr | None:
    if isinstance(node.a, IntImm):
        return const(not node.a.value)
    if isinstance(node.a, Not):
        return node.a.a
    opposite = _OPPOSITE.get(type(node.a))
    if opposite is not None and isinstance(node.a, Compare) and not node.a.a.dtype.is_float:
        flipped: Expr = opposite(node.a.a, node.a.b, span=node.span)
        return flipped
    return None


def _choice(node: Select, analyzer: Analyzer) -> Expr | None:
    if isinstance(node.condition, IntImm):
        return node.true_value if node.condition.value else node.false_value
    return None


def _conversion(node: Cast, analyzer: Analyzer) -> Expr | None:
    return cast(node.value, node.dtype) if isinstance(node.value, IntImm) else None


_OPPOSITE: dict[type[Any], type[Any]] = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}

_RULES: dict[type[Any], Rule] = {
    Add: _sum,
    Sub: _sum,
    Neg: _sum,
    Mul: _product,
    FloorDiv: _divide,
    FloorMod: _remainder,
    Div: _truncating(FloorDiv),
    Mod: _truncating(FloorMod),
    Min: _extreme(True),
    Max: _extreme(False),
    LT: _comparison,
    LE: _comparison,
    GT: _comparison,
    GE: _comparison,
    EQ: _comparison,
    NE: _comparison,
    And: _conjunction,
    Or: _disjunction,
    Not: _negation,
    Select: _choice,
    Cast: _conversion,
}
