"""The predicate of an affine_select as numbers.

before  Tx.nki.affine_select(y, Tx.nki.index(0) >= Tx.nki.index(1), x, 0.0)
after   Tx.nki.select_pattern(y, x, 0.0, "greater_equal", 0, 1, -1, 64)     0 + 1 * p - 1 * f >= 0 for 64 elements f
"""

from __future__ import annotations

from typing import NoReturn

from tirx.arith import simplify
from tirx.intrinsic import call as make_call
from tirx.ir import EQ, GE, GT, LE, LT, NE, BufferRegion, Call, Compare, Expr, IntImm, as_expr, const, rewrite
from tirx.support.errors import VerifyError

from ..box import Box, box_of, constant, extents_of
from ..op import INDEX, ROWS
from .tiles import Tiles

__all__ = ["COMPARISONS", "select_pattern"]

COMPARISONS = {EQ: "equal", NE: "not_equal", GE: "greater_equal", GT: "greater", LE: "less_equal", LT: "less"}


def select_pattern(node: Call, tiles: Tiles) -> Call:
    """An affine_select whose predicate is `offset + p * channel_multiplier + sum(i * step) <comparison> 0`."""
    result, predicate, true_value, false_value = node.args
    assert isinstance(result, BufferRegion)
    assert isinstance(true_value, BufferRegion)
    if not isinstance(predicate, Compare) or type(predicate) not in COMPARISONS:
        _refuse(
            node,
            "the predicate of nki.affine_select is not one comparison",
            "where two must hold, select twice: the second time from the result of the first",
        )
    form = predicate.a - predicate.b
    offset, factors = _affine(node, form, result.buffer.ndim)
    box = box_of(result)
    steps = _steps(node, box, factors, extents_of(result))
    lead = box.place.partition_dim
    free = [dim for dim, extent in enumerate(box.extents) if dim != lead and extent != 1] or [len(box.extents) - 1]
    pattern = [number for dim in free for number in (steps.get(dim, 0), box.extents[dim])]
    name = COMPARISONS[type(predicate)]
    made = make_call(
        ROWS["select_pattern"],
        tiles.box(result),
        tiles.box(true_value),
        false_value,
        name,
        offset,
        steps.get(lead, 0),
        *pattern,
    )
    made.span = node.span
    return made


def _affine(node: Call, form: Expr, rank: int) -> tuple[Expr, list[int]]:
    """The constant part of `form` and its factor per index, when it is a sum of multiples of indices."""
    base = _at(node, form, {}, rank)
    factors = []
    for dim in range(rank):
        one, two = (constant(simplify(_at(node, form, {dim: value}, rank) - base)) for value in (1, 2))
        if one is None or two is None or two != 2 * one:
            _refuse(node, f"the predicate of nki.affine_select is not linear in index({dim})")
        factors.append(one)
    together = constant(simplify(_at(node, form, dict.fromkeys(range(rank), 1), rank) - base))
    if together != sum(factors):
        _refuse(node, "the predicate of nki.affine_select multiplies indices with each other")
    return base, factors


def _at(node: Call, form: Expr, values: dict[int, int], rank: int) -> Expr:
    """`form` with numbers for the indices."""

    def rule(item: Call) -> Expr | None:
        if item.op.name != INDEX.name:
            return None
        dim = item.args[0]
        if not isinstance(dim, IntImm) or not 0 <= dim.value < rank:
            _refuse(node, f"an index of nki.affine_select is outside the {rank} dimensions of its result")
        return const(values.get(dim.value, 0))

    return simplify(as_expr(rewrite(form, {Call: rule})))


def _steps(node: Call, box: Box, factors: list[int], extents: tuple[int, ...]) -> dict[int, int]:
    """The step along each physical dimension.

    Dimensions that share the partitions count on: the outer one's factor must be the inner one's times its extent.
    """
    steps: dict[int, int] = {}
    spans: dict[int, int] = {}
    for dims, factor, extent in zip(reversed(box.sources), reversed(factors), reversed(extents), strict=True):
        step = factor
        for dim in reversed(dims):
            if steps.setdefault(dim, step) * spans.setdefault(dim, 1) != step:
                _refuse(
                    node, "the predicate of nki.affine_select does not grow evenly along the partitions of this tile"
                )
            spans[dim] *= extent if len(dims) == 1 else box.extents[dim]
            step *= box.extents[dim]
    return steps


def _refuse(node: Call, message: str, hint: str = "") -> NoReturn:
    known = "compare sums such as Tx.nki.index(0) * 2 + i - Tx.nki.index(1) with numbers"
    raise VerifyError(message, span=node.span, hint=hint or known)
