"""Rules of division and remainder, written `//` and `%` or as shifts and masks.

`(i * 64 + j) // 64` is `i` where j stays below 64; `(i * 64 + j * 8 + k) // 8` is `i * 8 + j` where k stays below 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd
from typing import TYPE_CHECKING, Any

from ..ir import Expr, FloorDiv, FloorMod, IntImm, Mul, binary, const
from ..support.errors import ScriptError
from .key import key_of
from .linear import Linear

if TYPE_CHECKING:
    from .analyzer import Analyzer

__all__ = ["common_parts", "divide", "folded", "quotient", "remainder", "scalar_integer", "wraps"]

Make = Callable[[Expr, int], Expr]
"""Writes a division by a constant in the style of the author."""


def scalar_integer(node: Expr) -> bool:
    """Whether the rules of integers apply."""
    return node.dtype.is_integer and node.dtype.lanes == 1


def folded(node: Any) -> Expr | None:
    """The constant that an operation on constants is; None where it overflows or traps: that is left for who runs it."""
    if isinstance(node.a, IntImm) and isinstance(node.b, IntImm):
        try:
            made = binary(type(node), node.a, node.b)
        except ScriptError:
            return None
        return made if isinstance(made, IntImm) else None
    return None


def fits(value: int, node: Expr) -> bool:
    """Whether a constant has the type of `node`."""
    return node.dtype.min_int <= value <= node.dtype.max_int


def divide(node: FloorDiv, analyzer: Analyzer) -> Expr | None:
    """`a // b`."""
    if not scalar_integer(node):
        return None
    if not isinstance(node.b, IntImm):
        found = _by_symbol(node, analyzer)
        return None if found is None else found[0].to_expr(node.dtype)
    if node.b.value <= 0:
        return None
    if isinstance(node.a, FloorDiv) and isinstance(node.a.b, IntImm) and node.a.b.value > 0:
        whole = node.a.b.value * node.b.value
        return analyzer.simplify(binary(FloorDiv, node.a.a, const(whole, node.dtype))) if fits(whole, node) else None
    return quotient(node, node.b.value, analyzer, lambda a, by: binary(FloorDiv, a, const(by, a.dtype)))


def quotient(node: Any, divisor: int, analyzer: Analyzer, make: Make) -> Expr | None:
    """`node.a` divided by `divisor`, or None when nothing becomes simpler; `make` writes what is left to divide."""
    if divisor == 1:
        return node.a  # type: ignore[no-any-return]
    if wraps(node.a, analyzer):
        return folded(node)
    found = analyzer.bounds(node.a)
    if found.low is not None and found.high is not None:
        low, high = found.low // divisor, found.high // divisor
        if low == high and fits(low, node):
            return const(low, node.dtype)
    result, rest = analyzer.linear(node.a).split(divisor)
    if analyzer.linear_bounds(rest).within(0, divisor - 1):
        return result.to_expr(node.dtype)
    shared = next(common_parts(rest, divisor, analyzer), None)
    if shared is not None:
        factor, part, _ = shared
        return result.plus(_made(part.to_expr(node.dtype), divisor // factor, analyzer, make)).to_expr(node.dtype)
    if len(rest.atoms) + (rest.constant != 0) > 1:
        upper, small = analyzer.multiples(rest, divisor)
        if upper.atoms and (small.atoms or small.constant) and analyzer.linear_bounds(small).within(0, divisor - 1):
            return result.plus(_made(upper.to_expr(node.dtype), divisor, analyzer, make)).to_expr(node.dtype)
    if result.atoms or result.constant:
        return result.plus(_made(rest.to_expr(node.dtype), divisor, analyzer, make)).to_expr(node.dtype)
    return None


def _made(expr: Expr, divisor: int, analyzer: Analyzer, make: Make) -> Expr:
    return expr if divisor == 1 else analyzer.simplify(make(expr, divisor))


def common_parts(rest: Linear, divisor: int, analyzer: Analyzer) -> Iterator[tuple[int, Linear, Linear]]:
    """`(f, part, small)` with `rest == f * part + small`, f dividing `divisor`, and small in [0, f): largest f first."""
    factors = {gcd(factor, divisor) for _, factor in rest.items()}
    for factor in sorted(factors, reverse=True):
        if factor < 2:
            continue
        part, small = rest.split(factor)
        if analyzer.linear_bounds(small).within(0, factor - 1):
            yield factor, part, small


def remainder(node: FloorMod, analyzer: Analyzer) -> Expr | None:
    """`a % b`."""
    if not scalar_integer(node):
        return None
    if not isinstance(node.b, IntImm):
        found = _by_symbol(node, analyzer)
        return None if found is None else found[1].to_expr(node.dtype)
    if node.b.value <= 0:
        return None
    divisor = node.b.value
    if divisor == 1:
        return const(0, node.dtype)
    if wraps(node.a, analyzer):
        return folded(node)
    if analyzer.bounds(node.a).within(0, divisor - 1):
        return node.a
    form = analyzer.linear(node.a)
    for apart in (Linear.split, analyzer.multiples):
        whole, rest = apart(form, divisor)
        if analyzer.linear_bounds(rest).within(0, divisor - 1):
            return rest.to_expr(node.dtype)
    for factor, part, small in common_parts(rest, divisor, analyzer):
        if small.atoms or small.constant:
            inner = binary(FloorMod, part.to_expr(node.dtype), const(divisor // factor, node.dtype))
            return Linear().plus(analyzer.simplify(inner), factor).plus_form(small).to_expr(node.dtype)
    if whole.atoms or whole.constant:
        return binary(FloorMod, rest.to_expr(node.dtype), node.b)
    if isinstance(node.a, FloorMod) and isinstance(node.a.b, IntImm) and node.a.b.value % divisor == 0:
        return binary(FloorMod, node.a.a, node.b)
    return None


def _by_symbol(node: FloorDiv | FloorMod, analyzer: Analyzer) -> tuple[Linear, Linear] | None:
    """Quotient and rest of `(i * n + j) / n` where `0 <= j < n` is known; None of others."""
    divisor = analyzer.linear(node.b)
    if not node.dtype.is_int or divisor.constant or len(divisor.atoms) != 1:
        return None
    ((symbol, times),) = divisor.items()
    key, form = key_of(symbol), analyzer.linear(node.a)
    whole, rest = Linear(), Linear(form.constant)
    for atom, factor in form.items():
        other = _cofactor(atom, key) if factor % times == 0 else None
        if other is None:
            rest.add(atom, factor)
        else:
            whole.plus(other, factor // times)
    low, gap = analyzer.bounds_of_sum(rest).low, analyzer.bounds_of_sum(divisor.plus_form(rest, -1)).low
    return (whole, rest) if low is not None and low >= 0 and gap is not None and gap > 0 else None


def _cofactor(atom: Expr, key: Any) -> Expr | None:
    """What is multiplied in `atom` with the expression that has this key."""
    if key_of(atom) == key:
        return const(1, atom.dtype)
    if isinstance(atom, Mul):
        for one, other in ((atom.a, atom.b), (atom.b, atom.a)):
            if key_of(one) == key:
                return other
    return None


def wraps(expr: Expr, analyzer: Analyzer) -> bool:
    """Whether unsigned arithmetic may have wrapped, so that division rules of the integers do not hold."""
    if not expr.dtype.is_uint:
        return False
    form = analyzer.linear(expr)
    plain = not form.constant and list(form.coefficients.values()) in ([], [1])
    return not plain and not analyzer.linear_bounds(form).within(0, expr.dtype.max_int)
