"""Residues: what an integer expression is modulo what."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from ..ir import (
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Cast,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    LShift,
    Max,
    Min,
    Mul,
    RShift,
    Select,
    Var,
)  # fmt: skip
from ..ir.integers import EXACT
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

Known = Callable[[Expr], Residue | None]


def residue_of(expr: Expr, known: Known) -> Residue:
    """Residue of `expr`; `known` answers for variables that it knows."""
    form = linear_of(expr)
    modulus, base = 0, form.constant
    for atom, factor in form.items():
        part = _atom(atom, known)
        modulus, base = gcd(modulus, part.modulus * factor), base + part.base * factor
    return _wrapped(expr, Residue(modulus, base))


def _wrapped(expr: Expr, found: Residue) -> Residue:
    """Unsigned results wrap: only what is known modulo a power of two survives."""
    if not expr.dtype.is_uint or isinstance(expr, Var | IntImm):
        return found
    return Residue(gcd(found.modulus, 1 << expr.dtype.bits), found.base)


def _atom(expr: Expr, known: Known) -> Residue:
    found = known(expr)
    if found is not None:
        return found
    rule = _RULES.get(type(expr))
    return UNKNOWN if rule is None else rule(expr, known)


def _multiple(expr: Mul, known: Known) -> Residue:
    return _product(residue_of(expr.a, known), residue_of(expr.b, known))


def _shifted_left(expr: LShift, known: Known) -> Residue:
    """The bits that a shift may lose are the upper ones."""
    by = _amount(expr)
    if by is None:
        return UNKNOWN
    found = _product(residue_of(expr.a, known), Residue(0, 1 << by))
    return Residue(gcd(found.modulus, 1 << expr.dtype.bits), found.base)


def _shifted_right(expr: RShift, known: Known) -> Residue:
    by = _amount(expr)
    return UNKNOWN if by is None else _quotient(residue_of(expr.a, known), 1 << by)


def _amount(expr: LShift | RShift) -> int | None:
    """By how many bits a shift moves, where that is known and makes sense."""
    return expr.b.value if isinstance(expr.b, IntImm) and 0 <= expr.b.value < expr.dtype.bits else None


def _remainder(expr: FloorMod, known: Known) -> Residue:
    if not isinstance(expr.b, IntImm):
        return UNKNOWN
    inner = residue_of(expr.a, known)
    return Residue(gcd(inner.modulus, expr.b.value), inner.base)


def _divided(expr: FloorDiv, known: Known) -> Residue:
    if not isinstance(expr.b, IntImm) or expr.b.value <= 0:
        return UNKNOWN
    return _quotient(residue_of(expr.a, known), expr.b.value)


def _chosen(expr: Select, known: Known) -> Residue:
    return _either(residue_of(expr.true_value, known), residue_of(expr.false_value, known))


def _extreme(expr: Min | Max, known: Known) -> Residue:
    return _either(residue_of(expr.a, known), residue_of(expr.b, known))


def _converted(expr: Cast, known: Known) -> Residue:
    """A conversion of integers keeps the low bits that both types have."""
    old, new = expr.value.dtype, expr.dtype
    if not (old.is_integer and new.is_integer) or old.lanes != 1:
        return UNKNOWN
    inner = residue_of(expr.value, known)
    exact = new.min_int <= old.min_int and old.max_int <= new.max_int
    return inner if exact else Residue(gcd(inner.modulus, 1 << min(old.bits, new.bits)), inner.base)


def _bitwise(expr: Any, known: Known) -> Residue:
    """Low bits follow from low bits; those that a constant clears or sets are known whatever the other side is."""
    if expr.dtype.is_bool:
        return UNKNOWN
    a, b = _low_bits(residue_of(expr.a, known)), _low_bits(residue_of(expr.b, known))
    count = min(a[0], b[0])
    if not isinstance(expr, BitwiseXor):
        lazy = [_decided(side, isinstance(expr, BitwiseOr)) for side in (a, b)]
        count = max(count, *lazy)
    value = EXACT[type(expr)](a[1], b[1])
    return Residue(1 << count, value & ((1 << count) - 1))


def _low_bits(found: Residue) -> tuple[int, int]:
    """How many of the low bits are known, and their values."""
    if not found.modulus:
        return 64, found.base
    return _zeros(found.modulus), found.base


def _decided(side: tuple[int, int], ones: bool) -> int:
    """How many low bits of `x & y` (with `ones`: `x | y`) one side decides alone: those where it is 0 (1)."""
    count, value = side
    return min(count, _zeros(~value if ones else value))


def _zeros(value: int) -> int:
    """Trailing zero bits; 64 of zero."""
    return (value & -value).bit_length() - 1 if value else 64


def _complement(expr: BitwiseNot, known: Known) -> Residue:
    inner = residue_of(expr.a, known)
    return Residue(inner.modulus, -1 - inner.base) if expr.dtype.is_int else UNKNOWN


def _product(a: Residue, b: Residue) -> Residue:
    modulus = gcd(gcd(a.modulus * b.modulus, a.modulus * b.base), b.modulus * a.base)
    return Residue(modulus, a.base * b.base)


def _quotient(a: Residue, divisor: int) -> Residue:
    """`(m * x + b) // d` is `m // d * x + b // d` where d divides m."""
    if a.modulus % divisor == 0:
        return Residue(a.modulus // divisor, a.base // divisor)
    return UNKNOWN


def _either(a: Residue, b: Residue) -> Residue:
    return Residue(gcd(gcd(a.modulus, b.modulus), a.base - b.base), a.base)


_RULES: dict[type[Any], Callable[[Any, Known], Residue]] = {
    Mul: _multiple,
    LShift: _shifted_left,
    RShift: _shifted_right,
    FloorMod: _remainder,
    FloorDiv: _divided,
    Select: _chosen,
    Min: _extreme,
    Max: _extreme,
    Cast: _converted,
    BitwiseAnd: _bitwise,
    BitwiseOr: _bitwise,
    BitwiseXor: _bitwise,
    BitwiseNot: _complement,
}
