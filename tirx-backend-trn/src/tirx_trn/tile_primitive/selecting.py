"""`select`: `affine_select` of the GpSimd engine, for predicates that compare sums of indices with numbers.

    one comparison, one value a number     affine_select; where the number is the true value, of the opposite comparison
    anything else                          a mask of ones and zeros by affine_select, then tensor_copy_predicated

A predicate is one comparison, or several with `and` between all, or `or` between all. NKI: nisa.affine_select.
"""

from __future__ import annotations

from typing import Any

from tirx.arith import simplify
from tirx.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    And,
    BufferRegion,
    Compare,
    Expr,
    IndexFunction,
    Not,
    Or,
    TileCall,
    as_expr,
    const,
    substitute,
)
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import loops

from .. import script as nki
from ..box import constant
from ..hardware import PSUM
from ..transform.predicate import COMPARISONS
from .rules import MAX_INST_SIZE, covered, declining, in_memory, regions, split, types
from .work import Work, is_exact

__all__ = ["VARIANTS"]

_OPPOSITE: dict[type[Compare], type[Compare]] = {EQ: NE, NE: EQ, GE: LT, LT: GE, GT: LE, LE: GT}


def _terms(condition: Expr, join: type[Compare]) -> list[Expr]:
    if isinstance(condition, join):
        return [*_terms(condition.a, join), *_terms(condition.b, join)]
    return [condition]


def _negated(term: Expr) -> Compare:
    assert isinstance(term, Compare)
    return _OPPOSITE[type(term)](term.a, term.b)


def _parts(call: TileCall) -> tuple[list[Compare], bool]:
    """The comparisons of the predicate, and whether all of them have to hold (else one)."""
    function = call.operand("pred")
    assert isinstance(function, IndexFunction)
    condition = function.body
    if isinstance(condition, Not):
        condition = condition.a.a if isinstance(condition.a, Not) else _opposite(condition.a)
    join: type[Compare] = Or if isinstance(condition, Or) else And
    terms = _terms(condition, join)
    for term in terms:
        if type(term) not in _OPPOSITE:
            decline(
                "the predicate is no comparison, nor several with `and` or `or` between all (nisa.affine_select)",
                predicate=function.body.script(),
            )
        _linear(function, term)
    return [term for term in terms if isinstance(term, Compare)], join is And


def _opposite(condition: Expr) -> Expr:
    """The opposite of a condition, joined the other way round."""
    if isinstance(condition, And | Or):
        join = Or if isinstance(condition, And) else And
        made: Expr = join(_opposite(condition.a), _opposite(condition.b))
        return made
    if type(condition) not in _OPPOSITE:
        decline("the predicate negates what is no comparison (nisa.affine_select)", predicate=condition.script())
    return _negated(condition)


def _linear(function: IndexFunction, term: Expr) -> tuple[Expr, list[int]]:
    """The constant part of `a - b`, and its factor for each index."""
    assert isinstance(term, Compare)

    def at(**values: int) -> Expr:
        chosen: dict[Any, Expr] = {var: const(values.get(f"v{number}", 0)) for number, var in enumerate(function.vars)}
        made: Expr = substitute(term.a - term.b, chosen)
        return made

    factors: list[int] = []
    for number in range(len(function.vars)):
        one, two = (constant(simplify(at(**{f"v{number}": value}) - at())) for value in (1, 2))
        if one is None or two is None or two != 2 * one:
            decline("the predicate is not linear in the indices (nisa.affine_select)", predicate=term.script())
        factors.append(one)
    together = at(**{f"v{number}": 1 for number in range(len(function.vars))})
    if constant(simplify(together - at())) != sum(factors):
        decline("the predicate multiplies indices with each other (nisa.affine_select)", predicate=term.script())
    return simplify(at()), factors


class _Select:
    """One instruction, or as many as it takes; `starts` is where it starts in each dimension of the tile."""

    def __init__(self, work: Work, starts: list[int | Expr]) -> None:
        self.work = work
        self.starts = starts
        function = work.call.operand("pred")
        assert isinstance(function, IndexFunction)
        self.function = function
        self.result: BufferRegion = work.reached["dst"]
        self.dtype = self.result.buffer.dtype

    def emit(self) -> None:
        """Into the destination, over a tile of SBUF where that is in PSUM."""
        terms, every = _parts(self.work.call)
        out: Any = self.result
        if self.result.buffer.scope_name == PSUM:
            out = self.work.scratch(dtype=self.dtype)
        if (every or len(terms) == 1) and self.work.number("false_value") is not None:
            self._chain(out, "true_value", "false_value", terms)
        elif (not every or len(terms) == 1) and self.work.number("true_value") is not None:
            self._chain(out, "false_value", "true_value", [_negated(term) for term in terms])
        else:
            self._masked(out, terms, every)
        if out is not self.result:
            nki.tensor_copy(self.result, out)

    def _chain(self, out: Any, kept: str, other: str, terms: list[Compare]) -> None:
        """`kept` where all `terms` hold, else the number `other`."""
        data = self._in_sbuf(self.work.tile(kept, self.dtype))
        for term in terms:
            self._where(out, term, data, self.work.number(other))
            data = out

    def _where(self, out: Any, term: Compare, data: Any, other: Any) -> None:
        """`out` becomes `data` where `term` holds, else the number `other`."""
        offset, factors = _linear(self.function, term)
        for start, factor in zip(self.starts, factors, strict=True):
            offset = offset + as_expr(start) * factor
        piece = self.work.piece
        steps = [number for digit in piece.elements for number in (factors[digit.dim] * digit.step, digit.size)]
        comparison = COMPARISONS[type(term)]
        nki.select_pattern(
            out, data, other, comparison, simplify(as_expr(offset)), self._per_partition(factors), *(steps or (0, 1))
        )

    def _per_partition(self, factors: list[int]) -> int:
        side = self.work.piece.sides[0]
        found = set()
        for digit in self.work.piece.lanes:
            place = side.place(digit)
            assert place is not None
            found.add(factors[digit.dim] * digit.step // place.stride)
        if len(found) > 1:
            decline("the predicate does not grow evenly along the partitions", steps=sorted(found))
        return found.pop() if found else 0

    def _masked(self, out: Any, terms: list[Compare], every: bool) -> None:
        """Both values are tiles, or the predicate is joined the other way round: a mask says which is copied."""
        mask, bits = self.work.scratch(), self.work.scratch(dtype="uint8")
        nki.memset(mask, 1.0 if every else 0.0)
        for term in terms:
            self._where(mask, term if every else _negated(term), mask, 0.0 if every else 1.0)
        nki.tensor_copy(bits, mask)
        chosen: Any = self.work.scratch(dtype=self.dtype)
        nki.tensor_copy(chosen, self.work.tile("true_value", self.dtype))
        kept: Any = self.work.scratch(dtype=self.dtype)
        nki.tensor_copy(kept, self.work.tile("false_value", self.dtype))
        nki.tensor_copy_predicated(kept, chosen, bits)
        nki.tensor_copy(out, kept)

    def _in_sbuf(self, tile: Any) -> Any:
        """GpSimd does not reach PSUM."""
        buffer = tile.buffer if isinstance(tile, BufferRegion) else tile
        if buffer.scope_name != PSUM:
            return tile
        made = self.work.scratch(dtype=buffer.dtype)
        nki.tensor_copy(made, tile)
        return made


def _emit(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "dst", context):
        with loops([(turn.turns, False) for turn in piece.turns], context) as steps:
            work = Work(piece, piece.regions(steps), call, context)
            _Select(work, piece.starts(steps)).emit()


def _affine(call: TileCall, context: DispatchContext) -> Verdict:
    terms, every = _parts(call)
    return accept(comparisons=len(terms), joined="and" if every else "or")


def _exact(call: TileCall, context: DispatchContext) -> Verdict:
    for name, region in regions(call).items():
        if not is_exact(region.buffer.dtype):
            decline(f"`{name}` holds {region.buffer.dtype}, which GpSimd selects in float32", dtype=region.buffer.dtype)
    return accept()


VARIANTS = (
    Variant(
        "select",
        "trn",
        "default",
        priority=10,
        emit=declining(_emit),
        predicates=(in_memory(), types, Predicate("predicate", _affine), Predicate("integers", _exact), covered("dst")),
        config=(MAX_INST_SIZE,),
        doc="affine_select where one value is a number; else a mask and tensor_copy_predicated",
    ),
)
