"""Sums in one canonical form: integer coefficients of atoms, plus a constant.

Valid in the ring of integers, and for unsigned types in the ring modulo 2**bits, because only `+ - *` by constants are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..ir import Add, DType, Expr, FloorDiv, FloorMod, IntImm, Mul, Neg, Sub, Var, const
from .key import key_of

__all__ = ["Linear", "fitted", "linear_of"]

_DIGITS = (FloorDiv, FloorMod)


class Linear:
    """`sum(coefficient * atom) + constant`; atoms in order of first appearance, never with coefficient zero."""

    __slots__ = ("atoms", "coefficients", "constant", "leaves")

    def __init__(self, constant: int = 0) -> None:
        self.atoms: dict[Any, Expr] = {}
        self.coefficients: dict[Any, int] = {}
        self.constant = constant
        self.leaves = 0  # terms before merging: tells whether canonical form is any shorter

    def add(self, atom: Expr, factor: int) -> None:
        """Add `factor * atom`."""
        self._put(key_of(atom), atom, factor)

    def _put(self, key: Any, atom: Expr, factor: int) -> None:
        total = self.coefficients.get(key, 0) + factor
        if total:
            self.atoms[key] = atom
            self.coefficients[key] = total
        else:
            self.atoms.pop(key, None)
            self.coefficients.pop(key, None)

    def plus(self, expr: Expr, factor: int = 1) -> Linear:
        """`factor` times a whole expression added; answers itself."""
        return self.plus_form(linear_of(expr), factor)

    def plus_form(self, other: Linear, factor: int = 1) -> Linear:
        """`factor` times another sum added; answers itself."""
        for key, inner in list(other.coefficients.items()):
            self._put(key, other.atoms[key], factor * inner)
        self.constant += factor * other.constant
        return self

    def scaled(self, factor: int) -> Linear:
        """`factor` times this sum."""
        return Linear().plus_form(self, factor)

    def items(self) -> list[tuple[Expr, int]]:
        """Atoms with their coefficients, as they are now."""
        return list(zip(self.atoms.values(), self.coefficients.values(), strict=True))

    def split(self, divisor: int) -> tuple[Linear, Linear]:
        """`(quotient, rest)` with `self == divisor * quotient + rest`; the rest's constant lies in [0, divisor)."""
        quotient, rest = Linear(), Linear()
        for key, factor in self.coefficients.items():
            if factor % divisor == 0:
                quotient._put(key, self.atoms[key], factor // divisor)
            else:
                rest._put(key, self.atoms[key], factor)
        quotient.constant, rest.constant = divmod(self.constant, divisor)
        return quotient, rest

    def recombine(self) -> bool:
        """Quotients and remainders of one value become the value again: `x // 4 * 4 + x % 4` is `x`. Whether any did."""
        if not _has_digits(self.atoms.values()):
            return False
        joined = False
        for atom, factor in self.items():
            if not (isinstance(atom, FloorMod) and isinstance(atom.b, IntImm) and atom.b.value > 0):
                continue
            quotient = key_of(FloorDiv(atom.a, atom.b))
            if self.coefficients.get(quotient) == factor * atom.b.value:
                self.add(self.atoms[quotient], -factor * atom.b.value)
                self.add(atom, -factor)
                self.plus(atom.a, factor)
                joined = True
        self._recognise_remainders()
        return joined

    def _recognise_remainders(self) -> None:
        """A value less its multiples is a remainder, less its remainder a multiple: `x - x // 4 * 4` is `x % 4`."""
        for atom, factor in self.items():
            if not (isinstance(atom, _DIGITS) and isinstance(atom.b, IntImm) and atom.b.value > 0):
                continue
            size = atom.b.value
            times, rest = divmod(-factor, size if isinstance(atom, FloorDiv) else 1)
            if not times or rest:
                continue
            whole = linear_of(atom.a)
            coefficients = self.coefficients
            if not whole.atoms or any(coefficients.get(key) != times * n for key, n in whole.coefficients.items()):
                continue
            self.add(atom, -factor)
            self.plus_form(whole, -times)
            if isinstance(atom, FloorDiv):
                self.add(FloorMod(atom.a, atom.b), times)
            else:
                self.add(FloorDiv(atom.a, atom.b), times * size)

    def to_expr(self, dtype: DType) -> Expr:
        """The sum as an expression: positive terms first, then negative ones, then the constant."""
        terms = [(atom, _reduced(factor, dtype)) for atom, factor in self.items()]
        constant = _reduced(self.constant, dtype)
        positive = [(atom, factor) for atom, factor in terms if factor > 0 or _is_least(factor, dtype)]
        negative = [(atom, factor) for atom, factor in terms if factor < 0 and not _is_least(factor, dtype)]
        result: Expr | None = None
        for atom, factor in positive:
            term = atom if factor == 1 else Mul(atom, const(factor, dtype), span=atom.span)
            result = term if result is None else Add(result, term, span=atom.span)
        for atom, factor in negative:
            term = atom if factor == -1 else Mul(atom, const(-factor, dtype), span=atom.span)
            if result is None:
                result = Sub(fitted(constant, dtype), term, span=atom.span)
                return _with_rest(result, negative[1:], 0, dtype)
            result = Sub(result, term, span=atom.span)
        if result is None:
            return fitted(constant, dtype)
        return _plus(result, constant, dtype)


def _has_digits(atoms: Iterable[Expr]) -> bool:
    """Whether there is a quotient or a remainder."""
    return any(type(atom) in _DIGITS for atom in atoms)


def _with_rest(result: Expr, rest: list[tuple[Expr, int]], constant: int, dtype: DType) -> Expr:
    for atom, factor in rest:
        term = atom if factor == -1 else Mul(atom, const(-factor, dtype), span=atom.span)
        result = Sub(result, term, span=atom.span)
    return _plus(result, constant, dtype)


def fitted(value: int, dtype: DType) -> Expr:
    """The constant that `value` wraps to in `dtype`."""
    value %= 1 << dtype.bits
    return const(value - (1 << dtype.bits) if dtype.is_int and value > dtype.max_int else value, dtype)


def _reduced(value: int, dtype: DType) -> int:
    """The same number modulo 2**bits, near zero when it is out of range: constants of values that wrap may be."""
    if -dtype.max_int <= value <= dtype.max_int:
        return value
    half = 1 << (dtype.bits - 1)
    return (value + half) % (2 * half) - half


def _is_least(value: int, dtype: DType) -> bool:
    """The number whose negative has no constant."""
    return dtype.is_int and value == dtype.min_int


def _plus(expr: Expr, constant: int, dtype: DType) -> Expr:
    if constant > 0 or _is_least(constant, dtype):
        return Add(expr, const(constant, dtype), span=expr.span)
    if constant < 0:
        return Sub(expr, const(-constant, dtype), span=expr.span)
    return expr


def linear_of(expr: Expr, look: Callable[[Expr], Expr | None] | None = None) -> Linear:
    """Canonical form of an integer expression; anything but `+ - * -x` with constants is an atom.

    `look` may answer an equal expression that is to be taken apart instead of an atom.
    """
    result = Linear()
    stack: list[tuple[Any, int]] = [(expr, 1)]
    while stack:
        node, factor = stack.pop()
        kind = type(node)  # nodes have no subclasses
        if kind is Add:
            stack += [(node.b, factor), (node.a, factor)]
        elif kind is IntImm:
            result.constant += factor * node.value
            result.leaves += 1
        elif kind is Mul and type(node.b) is IntImm:
            stack.append((node.a, factor * node.b.value))
        elif kind is Mul and type(node.a) is IntImm:
            stack.append((node.b, factor * node.a.value))
        elif kind is Sub:
            stack += [(node.b, -factor), (node.a, factor)]
        elif kind is Neg:
            stack.append((node.a, -factor))
        else:
            seen = look(node) if look is not None and kind is not Var else None
            if seen is not None:
                stack.append((seen, factor))
                continue
            result.leaves += 1
            result._put(key_of(node), node, factor)
    return result
