"""The analyzer: known ranges in, simpler expressions and proofs out.

Sound: what it proves holds for all values in the known ranges. Signed index arithmetic is taken as exact (a kernel whose
indices overflow is wrong anyway, and the verifier says so where it can); unsigned arithmetic wraps.
"""

from __future__ import annotations

from typing import Any

from ..ir import EQ, GE, GT, LE, LT, NE, And, Expr, IntImm, Not, Or, Var, const
from .bounds import Interval, bounds_of
from .key import key_of
from .linear import Linear, linear_of
from .modular import Residue, residue_of
from .rules import simplified

__all__ = ["Analyzer", "simplify"]


class Analyzer:
    """Reasons about integer expressions under ranges of variables.

    `bind(var, low, high)` says that `low <= var <= high` (either may be None), `bind_residue(var, modulus, base)` that it is
    `base` modulo `modulus`. Inner scopes copy: `analyzer.child()`.
    """

    __slots__ = ("_memo", "_ranges", "_residues", "_simplified")

    def __init__(self) -> None:
        self._ranges: dict[int, tuple[Var, Interval]] = {}
        self._residues: dict[int, Residue] = {}
        self._memo: dict[int, tuple[Expr, Interval]] = {}
        self._simplified: dict[int, tuple[Expr, Expr]] = {}

    def child(self) -> Analyzer:
        """An analyzer that knows the same and can learn more."""
        made = Analyzer()
        made._ranges, made._residues = dict(self._ranges), dict(self._residues)
        return made

    def bind(self, var: Var, low: int | None, high: int | None) -> None:
        """`low <= var <= high`; narrows what was known."""
        old = self._ranges.get(id(var))
        if old is not None:
            low = old[1].low if low is None or (old[1].low is not None and old[1].low > low) else low
            high = old[1].high if high is None or (old[1].high is not None and old[1].high < high) else high
        self._ranges[id(var)] = (var, Interval(low, high))
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

    def bounds(self, expr: Expr | int) -> Interval:
        """Constant bounds."""
        if isinstance(expr, int):
            return Interval(expr, expr)
        return bounds_of(expr, self._known, self._memo)

    def residue(self, expr: Expr | int) -> Residue:
        """What the expression is modulo what."""
        return Residue(0, expr) if isinstance(expr, int) else residue_of(expr, self._known_residue)

    def simplify(self, expr: Expr) -> Expr:
        """An equal expression, shorter where rules apply, the same object where none does."""
        return simplified(expr, self, self._simplified)

    def divides(self, divisor: int, expr: Expr | int) -> bool:
        """Whether `divisor` provably divides `expr`."""
        return self.residue(expr).is_multiple_of(divisor)

    def equal(self, a: Expr | int, b: Expr | int) -> bool:
        """Whether two integer expressions are provably equal."""
        return self._difference(a, b).within(0, 0)

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
        ):
            return None
        answer: bool | None = rule(self._difference(node.a, node.b))
        if answer is None and isinstance(node, EQ | NE) and self._never_equal(node.a, node.b):
            return isinstance(node, NE)
        return answer

    def _never_equal(self, a: Expr, b: Expr) -> bool:
        if a.dtype.is_uint:
            return False
        residue = residue_of(a - b, self._known_residue)
        return residue.base != 0

    def _difference(self, a: Expr | int, b: Expr | int) -> Interval:
        left = const(a, b.dtype if isinstance(b, Expr) else None) if isinstance(a, int) else a
        right = const(b, left.dtype) if isinstance(b, int) else b
        if left.dtype.is_uint:  # a difference of unsigned values wraps: compare their bounds
            x, y = self.bounds(left), self.bounds(right)
            if key_of(left) == key_of(right):
                return Interval(0, 0)
            low = None if x.low is None or y.high is None else x.low - y.high
            high = None if x.high is None or y.low is None else x.high - y.low
            return Interval(low, high)
        return self.linear_bounds(linear_of(left - right))

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
