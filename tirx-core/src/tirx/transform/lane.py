"""Single lanes of vector expressions, and conditions that are provably the same in all of them.

`tx * 4 + lane < 200` is one of those: `tx * 4 - 200` is a multiple of 4, and adding 0 to 3 to such a number never changes
its sign. The condition of lane 0 stands for all.
"""

from __future__ import annotations

from ..arith import Analyzer
from ..ir import EQ, GE, GT, LE, LT, NE, And, Broadcast, Compare, Expr, Not, Or, Ramp, const, rewrite, walk

__all__ = ["as_ramp", "lane_of", "shared_condition"]


def lane_of(expr: Expr, number: int) -> Expr:
    """One lane of an expression over ramps and broadcasts."""
    return rewrite(
        expr,
        {Ramp: lambda node: node.base + node.stride * number, Broadcast: lambda node: node.value},
        mask=-1,
    )


def as_ramp(index: Expr, analyzer: Analyzer) -> Ramp | None:
    """A vector of indices whose lanes are provably neighbours, such as `ramp // 4` never is and `ramp % 64` may be."""
    lanes = [analyzer.simplify(lane_of(index, number)) for number in range(index.dtype.lanes)]
    if not all(analyzer.equal(lane, lanes[0] + number) for number, lane in enumerate(lanes)):
        return None
    return Ramp(lanes[0], const(1, lanes[0].dtype), len(lanes), span=index.span)


def shared_condition(condition: Expr, lanes: int, analyzer: Analyzer) -> Expr | None:
    """The condition of all lanes as one of lane 0; None where lanes may differ."""
    if not _is_shared(condition, lanes, analyzer):
        return None
    first = lane_of(condition, 0)
    return analyzer.simplify(first) if first.dtype.lanes == 1 else None


def _is_shared(condition: Expr, lanes: int, analyzer: Analyzer) -> bool:
    if condition.dtype.lanes == 1 or isinstance(condition, Broadcast):
        return True
    if isinstance(condition, And | Or):
        return _is_shared(condition.a, lanes, analyzer) and _is_shared(condition.b, lanes, analyzer)
    if isinstance(condition, Not):
        return _is_shared(condition.a, lanes, analyzer)
    return isinstance(condition, EQ | NE | LT | LE | GT | GE) and _is_shared_comparison(condition, lanes, analyzer)


def _is_shared_comparison(node: Compare, lanes: int, analyzer: Analyzer) -> bool:
    """Whether the sign of `a - b` is the same in all lanes."""
    if not node.a.dtype.is_int:  # unsigned differences wrap
        return False
    gaps = [analyzer.simplify(lane_of(node.a, number) - lane_of(node.b, number)) for number in range(lanes)]
    if any(isinstance(item, Expr) and item.dtype.lanes != 1 for gap in gaps for item in walk(gap)):
        return False
    ahead = [analyzer.bounds(analyzer.simplify(gap - gaps[0])) for gap in gaps]
    offsets = [found.low for found in ahead if found.low is not None and found.low == found.high]
    if len(offsets) < lanes:
        return False
    if not any(offsets):
        return True
    residue = analyzer.residue(gaps[0])
    if isinstance(node, EQ | NE) or residue.modulus < 1:
        return False
    start = residue.base - isinstance(node, LE | GT)  # d <= 0 is d - 1 < 0
    return len({(start + offset) // residue.modulus for offset in offsets}) == 1
