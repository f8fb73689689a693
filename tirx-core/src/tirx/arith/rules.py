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
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    BufferLoad,
    Cast,
    Compare,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    LShift,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    RShift,
    Select,
    Sub,
    binary,
    cast,
    const,
    mask_of,
    rewrite,
)  # fmt: skip
from .bits import bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift
from .division import divide, folded, remainder, scalar_integer
from .facts import OPPOSITE
from .key import key_of
from .linear import fitted

if TYPE_CHECKING:
    from .analyzer import Analyzer

__all__ = ["simplified"]

Rule = Callable[[Any, "Analyzer"], Expr | None]


def simplified(expr: Expr, analyzer: Analyzer, memo: dict[int, tuple[Expr, Expr]]) -> Expr:
    """`expr` after all rules; `memo` remembers whole expressions."""
    if not expr.mask & _WANTED:
        return expr
    found = memo.get(id(expr))
    if found is not None:
        return found[1]
    if not analyzer.table:
        analyzer.table.update((kind, _bound_rule(rule, analyzer)) for kind, rule in _RULES.items())
    result = rewrite(expr, analyzer.table, enter={BufferLoad: lambda node: _indices(node, analyzer)}, mask=_WANTED)
    memo[id(expr)] = (expr, result)
    return result


def _indices(node: BufferLoad, analyzer: Analyzer) -> BufferLoad | None:
    """An access with simple indices; `coords` stay what the author wrote."""
    made = tuple(map(analyzer.simplify, node.indices))
    return None if all(a is b for a, b in zip(made, node.indices, strict=True)) else node.rebuild(indices=made)


def _bound_rule(rule: Rule, analyzer: Analyzer) -> Callable[[Any], Expr | None]:
    return lambda node: rule(node, analyzer)


def _sum(node: Expr, analyzer: Analyzer) -> Expr | None:
    """Merge like terms; keep the author's form when nothing merges."""
    if not scalar_integer(node):
        return None
    form = analyzer.linear(node)
    joined = form.recombine()
    count = len(form.atoms) + (form.constant != 0)
    return form.to_expr(node.dtype) if joined or count < form.leaves else None


def _product(node: Mul, analyzer: Analyzer) -> Expr | None:
    if not scalar_integer(node):
        return None
    for factor, other in ((node.a, node.b), (node.b, node.a)):
        if isinstance(factor, IntImm):
            if factor.value == 0:
                return factor
            if factor.value == 1:
                return other
    if isinstance(node.b, IntImm) and isinstance(node.a, Mul) and isinstance(node.a.b, IntImm):
        return binary(Mul, node.a.a, fitted(node.a.b.value * node.b.value, node.dtype))
    return folded(node)


def _truncating(kind: type[Any]) -> Rule:
    """On non-negative operands truncation and rounding down agree; the floor forms have the rules."""

    def rule(node: Any, analyzer: Analyzer) -> Expr | None:
        if not scalar_integer(node):
            return None
        a, b = analyzer.bounds(node.a), analyzer.bounds(node.b)
        if a.low is None or b.low is None or a.low < 0 or b.low <= 0:
            return folded(node)
        floor = binary(kind, node.a, node.b)
        better = analyzer.simplify(floor)
        return better if better is not floor else None

    return rule


def _extreme(smaller: bool) -> Rule:
    """The side that is always the smaller (larger) one; constants of nested ones fold."""

    def rule(node: Any, analyzer: Analyzer) -> Expr | None:
        if not scalar_integer(node):
            return None
        gap = analyzer.difference(node.a, node.b)
        if gap.high is not None and gap.high <= 0:
            return node.a if smaller else node.b  # type: ignore[no-any-return]
        if gap.low is not None and gap.low >= 0:
            return node.b if smaller else node.a  # type: ignore[no-any-return]
        if isinstance(node.b, IntImm) and type(node.a) is type(node) and isinstance(node.a.b, IntImm):
            ends = (node.b.value, node.a.b.value)
            return binary(type(node), node.a.a, const(min(ends) if smaller else max(ends), node.dtype))
        return folded(node)

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
    opposite = OPPOSITE.get(type(node.a))
    if opposite is not None and isinstance(node.a, Compare) and not node.a.a.dtype.is_float:
        flipped: Expr = opposite(node.a.a, node.a.b, span=node.span)
        return flipped
    return None


def _choice(node: Select, analyzer: Analyzer) -> Expr | None:
    if isinstance(node.condition, IntImm):
        return node.true_value if node.condition.value else node.false_value
    return node.true_value if key_of(node.true_value) == key_of(node.false_value) else None


def _conversion(node: Cast, analyzer: Analyzer) -> Expr | None:
    return cast(node.value, node.dtype) if isinstance(node.value, IntImm) else None


_RULES: dict[type[Any], Rule] = {
    Add: _sum,
    Sub: _sum,
    Neg: _sum,
    Mul: _product,
    FloorDiv: divide,
    FloorMod: remainder,
    BitwiseAnd: bitwise_and,
    BitwiseOr: bitwise_or,
    BitwiseXor: bitwise_xor,
    LShift: left_shift,
    RShift: right_shift,
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
_WANTED = mask_of(*_RULES, BufferLoad)
