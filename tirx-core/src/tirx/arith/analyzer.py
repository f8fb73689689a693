"""The analyzer: known ranges in, simpler expressions and proofs out.

Sound: what it proves holds for all values in the known ranges. Signed index arithmetic is taken as exact (a kernel whose
indices overflow is wrong anyway, and the verifier says so where it can); unsigned arithmetic wraps.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any

from ..ir import (
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
    Call,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    LShift,
    Mul,
    Not,
    Or,
    RShift,
    Var,
    const,
    mask_of,
)  # fmt: skip
from .bounds import Interval, bounds_of
from .facts import conjuncts, dividend, residue_said, sides
from .key import key_of
from .linear import Linear, linear_of
from .modular import Residue, residue_of
from .rules import simplified

__all__ = ["Analyzer", "simplify"]


_CHANGING = mask_of(BufferLoad, Call)
_ADDING = mask_of(LShift, BitwiseOr, BitwiseXor)
_DIGITS = mask_of(FloorDiv, FloorMod, BitwiseAnd, BitwiseOr, BitwiseXor, LShift, RShift)


class Analyzer:
    """Reasons about integer expressions under ranges of variables.

    `bind(var, low, high)` says that `low <= var <= high` (either may be None), `bind_residue(var, modulus, base)` that it is
    `base` modulo `modulus`, `assume(condition)` that a condition holds. Inner scopes copy: `analyzer.child()`.
    """

    __slots__ = ("_facts", "_memo", "_ranges", "_residues", "_simplified", "table")

    def __init__(self) -> None:
        self._ranges: dict[int, tuple[Var, Interval]] = {}
        self._residues: dict[int, Residue] = {}
        self._memo: dict[int, tuple[Expr, Interval]] = {}
        self._simplified: dict[int, tuple[Expr, Expr]] = {}
        self._facts: list[Linear] = []
        self.table: dict[type[Any], Any] = {}  # the rules of simplification, bound to this analyzer at its first use

    def child(self) -> Analyzer:
        """An analyzer that knows the same and can learn more."""
        made = Analyzer()
        made._ranges, made._residues = dict(self._ranges), dict(self._residues)
        made._facts = list(self._facts)
        return made

    def bind(self, var: Var, low: int | None, high: int | None) -> None:
        """`low <= var <= high`; narrows what was known."""
        old = self._ranges.get(id(var))
        self._ranges[id(var)] = (var, Interval(low, high) if old is None else old[1].meet(low, high))
        self._forget()

    def bind_residue(self, var: Var, modulus: int, base: int = 0) -> None:
        """`var` is `base` modulo `modulus`."""
        self._residues[id(var)] = Residue(modulus, base)
        self._forget()

    def bind_value(self, var: Var, value: Expr) -> None:
        """`var` is another name for `value`."""
        found, residue = self.bounds(value), self.residue(value)
        self.bind(var, found.low, found.high)
        self._residues[id(var)] = residue

    def assume(self, condition: Expr, holds: bool = True) -> None:
        """Take over what a condition that holds (or does not) says: limits and residues of variables, and of sums."""
        for part in conjuncts(condition, holds):
            found = residue_said(part)
            if found is not None:
                self.bind_residue(*found)
            for form in self._not_negative(part):
                self._narrow(form)
                if len(form.atoms) > 1:
                    self._facts.append(form)
                    self._forget()

    def _not_negative(self, condition: Expr) -> Iterator[Linear]:
        """Sums that are at least 0 where a comparison holds. Values from memory may change and wrap: only their limits count."""
        if not isinstance(condition, EQ | LT | LE | GT | GE) or not condition.a.dtype.is_int:
            return
        if condition.a.dtype.lanes != 1:
            return
        for less, more, gap in sides(condition):
            high, low = self._side(more, False), self._side(less, True)
            if high is not None and low is not None:
                form = high.plus_form(low, -1)
                form.constant -= gap
                yield form

    def _side(self, expr: Expr, least: bool) -> Linear | None:
        """One side of a comparison; where it comes from memory, the constant that it is at least (at most)."""
        if not expr.mask & _CHANGING:
            return self.linear(expr)
        found = self.bounds(expr)
        end = found.low if least else found.high
        return None if end is None else Linear(end)

    def _narrow(self, form: Linear) -> None:
        """Limits of variables that follow from `form >= 0` and what is known of the other terms."""
        for atom, factor in form.items():
            limit = self._limit(form, atom, factor)
            if limit is not None:
                self._narrow_atom(atom, limit, factor > 0)

    def _limit(self, form: Linear, atom: Expr, factor: int) -> int | None:
        """The least (for a negative factor: largest) value of an atom for which `form` can be 0 or more."""
        high: int | None = form.constant
        if len(form.atoms) > 1:
            others = form.scaled(1)
            others.add(atom, -factor)
            high = self.linear_bounds(others).high
        if high is None:
            return None
        return -(high // factor) if factor > 0 else high // -factor

    def _narrow_atom(self, atom: Expr, limit: int, from_below: bool) -> None:
        if isinstance(atom, Var):
            self.bind(atom, *((limit, None) if from_below else (None, limit)))
        divided = dividend(atom)
        if divided is not None:  # x // d <= n is x <= n * d + d - 1
            inner, divisor = divided
            form = Linear().plus_form(self.linear(inner), 1 if from_below else -1)
            form.constant += -limit * divisor if from_below else limit * divisor + divisor - 1
            self._narrow(form)

    def bounds(self, expr: Expr | int) -> Interval:
        """Constant bounds."""
        if isinstance(expr, int):
            return Interval(expr, expr)
        found = self._memo.get(id(expr))
        return bounds_of(expr, self._known, self._memo) if found is None else found[1]

    def residue(self, expr: Expr | int) -> Residue:
        """What the expression is modulo what."""
        return Residue(0, expr) if isinstance(expr, int) else residue_of(expr, self._known_residue)

    def simplify(self, expr: Expr) -> Expr:
        """An equal expression, shorter where rules apply, the same object where none does."""
        return simplified(expr, self, self._simplified)

    def linear(self, expr: Expr) -> Linear:
        """The canonical sum; shifts and bits that only add up are part of it."""
        return linear_of(expr, self._look if expr.mask & _ADDING else None)

    def multiples(self, form: Linear, divisor: int) -> tuple[Linear, Linear]:
        """`form` as a sum of terms that `divisor` provably divides, and a rest with a constant in [0, divisor)."""
        whole, rest = Linear(), Linear()
        for atom, factor in form.items():
            divided = factor % divisor == 0 or self.divides(divisor // gcd(divisor, factor), atom)
            (whole if divided else rest).add(atom, factor)
        rest.constant = form.constant % divisor
        whole.constant = form.constant - rest.constant
        return whole, rest

    def _look(self, node: Expr) -> Expr | None:
        """What a node that is no sum may be taken for."""
        if isinstance(node, LShift):
            return self._as_product(node)
        if isinstance(node, BitwiseOr | BitwiseXor) and node.dtype.is_integer and self.disjoint(node.a, node.b):
            return Add(node.a, node.b)
        return None

    def _as_product(self, node: LShift) -> Expr | None:
        """A shift to the left that loses no bits."""
        if not isinstance(node.b, IntImm) or not 0 <= node.b.value < node.dtype.bits - 1:
            return None
        found = self.bounds(node.a)
        factor = const(1 << node.b.value, node.dtype)
        if node.dtype.is_uint or (found.low is not None and found.low >= 0 and found.high is None):
            return Mul(node.a, factor)
        if found.low is None or found.high is None:
            return None
        ends = found.low << node.b.value, found.high << node.b.value
        fits = node.dtype.min_int <= ends[0] and ends[1] <= node.dtype.max_int
        return Mul(node.a, factor) if fits else None

    def disjoint(self, a: Expr, b: Expr) -> bool:
        """Whether provably no bit is set in both, so that `a ^ b` and `a | b` are `a + b`."""
        return self._below(a, b) or self._below(b, a)

    def _below(self, low: Expr, high: Expr) -> bool:
        found = self.bounds(low)
        if found.low is None or found.low < 0 or found.high is None:
            return False
        return self.divides(1 << found.high.bit_length(), high)

    def divides(self, divisor: int, expr: Expr | int) -> bool:
        """Whether `divisor` provably divides `expr`."""
        return self.residue(expr).is_multiple_of(divisor)

    def equal(self, a: Expr | int, b: Expr | int) -> bool:
        """Whether two integer expressions are provably equal."""
        if self.difference(a, b).within(0, 0):
            return True
        mask = (0 if isinstance(a, int) else a.mask) | (0 if isinstance(b, int) else b.mask)
        if not mask & _DIGITS:
            return False
        left, right = (side if isinstance(side, int) else self.simplify(side) for side in (a, b))
        return self.difference(left, right).within(0, 0)

    def prove(self, condition: Expr) -> bool:
        """Whether a condition provably holds."""
        if isinstance(condition, IntImm):
            return bool(condition.value)
        if isinstance(condition, And):
            return self.prove(condition.a) and self.prove(condition.b)
        if isinstance(condition, Or):
            return self.prove(condition.a) or self.prove(condition.b)
        if isinstance(condition, Not):
            return self.refute(condition.a)
        return self._compare(condition) is True

    def refute(self, condition: Expr) -> bool:
        """Whether a condition provably fails."""
        if isinstance(condition, IntImm):
            return not condition.value
        if isinstance(condition, And):
            return self.refute(condition.a) or self.refute(condition.b)
        if isinstance(condition, Or):
            return self.refute(condition.a) and self.refute(condition.b)
        if isinstance(condition, Not):
            return self.prove(condition.a)
        return self._compare(condition) is False

    def _compare(self, node: Expr) -> bool | None:
        rule = _COMPARE.get(type(node))
        if (
            rule is None
            or not isinstance(node, EQ | NE | LT | LE | GT | GE)
            or not node.a.dtype.is_integer
            or node.a.dtype.lanes != 1
            or self._overflows(node.a)
            or self._overflows(node.b)
        ):
            return None
        answer: bool | None = rule(self.difference(node.a, node.b))
        if answer is None and isinstance(node, EQ | NE) and self._never_equal(node.a, node.b):
            return isinstance(node, NE)
        return answer

    def _overflows(self, expr: Expr) -> bool:
        """Whether a sum has a constant beyond its type, such as `-(-2**31)`: what it gives is for who runs it to say."""
        if isinstance(expr, Var | IntImm) or not expr.dtype.is_int:
            return False
        constant = linear_of(expr).constant
        return not expr.dtype.min_int <= constant <= expr.dtype.max_int

    def _never_equal(self, a: Expr, b: Expr) -> bool:
        if a.dtype.is_uint:
            return False
        residue = residue_of(a - b, self._known_residue)
        return residue.base != 0

    def difference(self, a: Expr | int, b: Expr | int) -> Interval:
        """Bounds of `a - b`, taken as integers."""
        left = const(a, b.dtype if isinstance(b, Expr) else None) if isinstance(a, int) else a
        right = const(b, left.dtype) if isinstance(b, int) else b
        if left.dtype.is_uint:  # a difference of unsigned values wraps: compare their bounds
            x, y = self.bounds(left), self.bounds(right)
            if key_of(left) == key_of(right):
                return Interval(0, 0)
            low = None if x.low is None or y.high is None else x.low - y.high
            high = None if x.high is None or y.low is None else x.high - y.low
            return Interval(low, high)
        return self.bounds_of_sum(self.linear(left - right))

    def bounds_of_sum(self, form: Linear, depth: int = 2) -> Interval:
        """Bounds of a sum, narrowed by other sums that are not negative: `form - fact >= c` says `form >= c`."""
        found = self.linear_bounds(form)
        for fact in self._facts if depth else ():
            shared = next((key for key in form.coefficients if key in fact.coefficients), None)
            if shared is None:
                continue
            times = max(1, abs(form.coefficients[shared]) // abs(fact.coefficients[shared]))
            for sign in (-times, times):
                rest = form.scaled(1).plus_form(fact, sign)
                if len(rest.atoms) <= len(form.atoms):
                    ends = self.bounds_of_sum(rest, depth - 1)
                    found = found.meet(ends.low, None) if sign < 0 else found.meet(None, ends.high)
        return found

    def linear_bounds(self, form: Linear) -> Interval:
        """Bounds of a canonical sum."""
        low: int | None = form.constant
        high: int | None = form.constant
        for atom, factor in form.items():
            part = self.bounds(atom)
            ends = (part.low, part.high) if factor > 0 else (part.high, part.low)
            low = None if low is None or ends[0] is None else low + factor * ends[0]
            high = None if high is None or ends[1] is None else high + factor * ends[1]
        return Interval(low, high)

    def _known(self, expr: Expr) -> Interval | None:
        if isinstance(expr, Var):
            found = self._ranges.get(id(expr))
            return found[1] if found is not None else None
        return None

    def _known_residue(self, expr: Expr) -> Residue | None:
        return self._residues.get(id(expr)) if isinstance(expr, Var) else None

    def _forget(self) -> None:
        self._memo.clear()
        self._simplified.clear()


def _sign(test_true: Any, test_false: Any) -> Any:
    def decide(gap: Interval) -> bool | None:
        return True if test_true(gap) else False if test_false(gap) else None

    return decide


def _below(gap: Interval, limit: int) -> bool:
    return gap.high is not None and gap.high <= limit


def _above(gap: Interval, limit: int) -> bool:
    return gap.low is not None and gap.low >= limit


_COMPARE: dict[type[Any], Any] = {
    LT: _sign(lambda g: _below(g, -1), lambda g: _above(g, 0)),
    LE: _sign(lambda g: _below(g, 0), lambda g: _above(g, 1)),
    GT: _sign(lambda g: _above(g, 1), lambda g: _below(g, 0)),
    GE: _sign(lambda g: _above(g, 0), lambda g: _below(g, -1)),
    EQ: _sign(lambda g: g.within(0, 0), lambda g: _above(g, 1) or _below(g, -1)),
    NE: _sign(lambda g: _above(g, 1) or _below(g, -1), lambda g: g.within(0, 0)),
}


def simplify(expr: Expr) -> Expr:
    """`expr` simplified with nothing known about its variables."""
    return Analyzer().simplify(expr)
