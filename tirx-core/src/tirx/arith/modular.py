"""Residues: what an integer expression is modulo what."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd

from ..ir import Expr, FloorDiv, FloorMod, IntImm, LShift, Mul, Select
from .linear import linear_of

__all__ = ["Residue", "residue_of"]


class Residue:
    """All values are `base` modulo `modulus`; modulus 0 means exactly `base`, 1 that nothing is known."""

    __slots__ = ("base", "modulus")

    def __init__(self, modulus: int, base: int) -> None:
        self.modulus = abs(modulus)
        self.base = base % self.modulus if self.modulus else base

    def __repr__(self) -> str:
        return f"{self.base} mod {self.modulus}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Residue) and (self.modulus, self.base) == (other.modulus, other.base)

    def __hash__(self) -> int:
        return hash((self.modulus, self.base))

    def is_multiple_of(self, divisor: int) -> bool:
        """Whether `divisor` divides every value."""
        return gcd(self.modulus, self.base) % divisor == 0 if (self.modulus or self.base) else True


UNKNOWN = Residue(1, 0)


def residue_of(expr: Expr, known: Callable[[Expr], Residue | None]) -> Residue:
    """Residue of `expr`; `known` answers for variables that it knows."""
    form = linear_of(expr)
    modulus, base = 0, form.constant
    for atom, factor in form.items():
        part = _atom(atom, known)
        modulus, base = gcd(modulus, part.modulus * factor), base + part.base * factor
    return Residue(modulus, base)


def _atom(expr: Expr, known: Callable[[Expr], Residue | None]) -> Residue:
    found = known(expr)
    if found is not None:
        return found
    if isinstance(expr, Mul):
        return _product(residue_of(expr.a, known), residue_of(expr.b, known))
    if isinstance(expr, LShift) and isinstance(expr.b, IntImm) and expr.dtype.is_int:
        return _product(residue_of(expr.a, known), Residue(0, 1 << expr.b.value))
    if isinstance(expr, FloorMod) and isinstance(expr.b, IntImm):
        inner = residue_of(expr.a, known)
        return Residue(gcd(inner.modulus, expr.b.value), inner.base)
    if isinstance(expr, FloorDiv) and isinstance(expr.b, IntImm) and expr.b.value > 0:
        return _quotient(residue_of(expr.a, known), expr.b.value)
    if isinstance(expr, Select):
        return _either(residue_of(expr.true_value, known), residue_of(expr.false_value, known))
    return UNKNOWN


def _product(a: Residue, b: Residue) -> Residue:
    modulus = gcd(gcd(a.modulus * b.modulus, a.modulus * b.base), b.modulus * a.base)
    return Residue(modulus, a.base * b.base)


def _quotient(a: Residue, divisor: int) -> Residue:
    if a.modulus % divisor == 0 and a.base % divisor == 0:
        return Residue(a.modulus // divisor, a.base // divisor)
    return UNKNOWN


def _either(a: Residue, b: Residue) -> Residue:
    return Residue(gcd(gcd(a.modulus, b.modulus), a.base - b.base), a.base)
