"""Rules of `& | ^ << >>`.

A mask of low bits is a remainder, a shift to the right a division; of an exclusive or only the bits that both sides have are
left inside: `(i * 64 + j) ^ ((i & 7) * 8)` is `i * 64 + (j ^ (i & 7) * 8)` where j stays below 64, and with `k * 8` for j it is
`i * 64 + (k ^ i & 7) * 8`: rows of swizzled tiles as people write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..ir import Add, BitwiseAnd, BitwiseOr, BitwiseXor, Expr, FloorMod, IntImm, LShift, RShift, binary, const
from .division import common_parts, folded, quotient, scalar_integer
from .key import key_of
from .linear import Linear
from .modular import Residue

if TYPE_CHECKING:
    from .analyzer import Analyzer

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]


# ---- shifts -------------------------------------------------------------------------------------------------------


def left_shift(node: LShift, analyzer: Analyzer) -> Expr | None:
    """`a << constant`."""
    if not scalar_integer(node) or not isinstance(node.b, IntImm):
        return None
    if node.b.value == 0:
        return node.a
    inner = node.a
    if isinstance(inner, LShift) and isinstance(inner.b, IntImm) and inner.b.value + node.b.value < node.dtype.bits:
        return analyzer.simplify(binary(LShift, inner.a, const(inner.b.value + node.b.value, node.dtype)))
    return folded(node)


def right_shift(node: RShift, analyzer: Analyzer) -> Expr | None:
    """`a >> constant` rounds down, as division does."""
    if not scalar_integer(node) or not isinstance(node.b, IntImm) or not 0 <= node.b.value < node.dtype.bits:
        return None
    inner = node.a
    if isinstance(inner, RShift) and isinstance(inner.b, IntImm) and inner.b.value + node.b.value < node.dtype.bits:
        return analyzer.simplify(_shifted(inner.a, inner.b.value + node.b.value))
    return quotient(node, 1 << node.b.value, analyzer, lambda a, by: _shifted(a, by.bit_length() - 1))


def _shifted(expr: Expr, by: int) -> Expr:
    return binary(RShift, expr, const(by, expr.dtype))


# ---- and ----------------------------------------------------------------------------------------------------------


def bitwise_and(node: BitwiseAnd, analyzer: Analyzer) -> Expr | None:
    """`a & constant`; a run of ones is a remainder, or the middle digits of one."""
    if not scalar_integer(node):
        return None
    if isinstance(node.a, IntImm) and not isinstance(node.b, IntImm):
        return analyzer.simplify(binary(BitwiseAnd, node.b, node.a))
    if key_of(node.a) == key_of(node.b):
        return node.a
    if not isinstance(node.b, IntImm):
        return None
    mask = node.b.value
    if mask < 0:
        return node.a if _is_power(-mask) and analyzer.divides(-mask, node.a) else folded(node)
    if mask == 0:
        return node.b
    found = folded(node)
    return _masked(node, mask, analyzer) if found is None else found


def _is_power(value: int) -> bool:
    return value > 0 and value & (value - 1) == 0


def _masked(node: BitwiseAnd, mask: int, analyzer: Analyzer) -> Expr | None:
    low, top = _zeros(mask), mask.bit_length()
    if (mask >> low) & ((mask >> low) + 1):  # the ones are no neighbours
        return None
    if low == 0 and analyzer.bounds(node.a).within(0, mask):
        return node.a
    inner = node.a
    if isinstance(inner, BitwiseAnd) and isinstance(inner.b, IntImm):
        return analyzer.simplify(binary(BitwiseAnd, inner.a, const(inner.b.value & mask, node.dtype)))
    form = analyzer.linear(inner)
    whole = _without_masks(form, top)
    if whole is not None:
        return analyzer.simplify(binary(BitwiseAnd, whole.to_expr(node.dtype), node.b))
    dropped, rest = analyzer.multiples(form, 1 << top)
    for factor, part, small in _digits(rest, low, top, analyzer):
        digits = analyzer.simplify(binary(BitwiseAnd, part.to_expr(node.dtype), const(mask // factor, node.dtype)))
        whole = Linear().plus(digits, factor)
        return (whole if low else whole.plus_form(small)).to_expr(node.dtype)
    if dropped.atoms or dropped.constant:
        return analyzer.simplify(binary(BitwiseAnd, rest.to_expr(node.dtype), node.b))
    return None


def _without_masks(form: Linear, top: int) -> Linear | None:
    """The sum without masks and remainders that only drop bits from `top` on; None where there are none."""
    outer = [(atom, factor) for atom, factor in form.items() if (factor * _period(atom)) % (1 << top) == 0]
    outer = [(atom, factor) for atom, factor in outer if factor % (1 << top)]
    if not outer:
        return None
    made = form.scaled(1)
    for atom, factor in outer:
        made.add(atom, -factor)
        made.plus(atom.a, factor)  # type: ignore[attr-defined]  # what has a period has operands
    return made


def _period(atom: Expr) -> int:
    """After how much an operand repeats in `x & ones` or `x % n`; 1 of anything else."""
    if isinstance(atom, FloorMod) and isinstance(atom.b, IntImm):
        return max(atom.b.value, 1)
    if isinstance(atom, BitwiseAnd) and isinstance(atom.b, IntImm) and _is_power(atom.b.value + 1):
        return atom.b.value + 1
    return 1


def _digits(rest: Linear, low: int, top: int, analyzer: Analyzer) -> Iterator[tuple[int, Linear, Linear]]:
    """`(f, part, small)` as `common_parts` answers them, f dividing the mask where that has zeros below its ones."""
    if low:
        part, small = rest.split(1 << low)
        if analyzer.linear_bounds(small).within(0, (1 << low) - 1):
            yield 1 << low, part, small
    for factor, part, small in common_parts(rest, 1 << top, analyzer):
        if not low or factor < 1 << low:
            yield factor, part, small


# ---- or, exclusive or ---------------------------------------------------------------------------------------------


def bitwise_or(node: BitwiseOr, analyzer: Analyzer) -> Expr | None:
    """`a | b`: only what is plain."""
    return _plain(node, analyzer) if scalar_integer(node) else None


def _plain(node: BitwiseOr | BitwiseXor, analyzer: Analyzer) -> Expr | None:
    """Constants fold, zeros vanish."""
    if isinstance(node.a, IntImm):
        found = folded(node)
        return analyzer.simplify(binary(type(node), node.b, node.a)) if found is None else found
    if isinstance(node.b, IntImm):
        if node.b.value == 0:
            return node.a
        if type(node.a) is type(node) and isinstance(node.a.b, IntImm):
            return analyzer.simplify(binary(type(node), node.a.a, binary(type(node), node.a.b, node.b)))
    if key_of(node.a) == key_of(node.b):
        return node.a if isinstance(node, BitwiseOr) else const(0, node.dtype)
    return None


def bitwise_xor(node: BitwiseXor, analyzer: Analyzer) -> Expr | None:
    """`a ^ b`: a sum where no bit is set in both; else only the digits that both have stay inside."""
    if not scalar_integer(node):
        return None
    found = _plain(node, analyzer)
    if found is not None:
        return found
    if analyzer.disjoint(node.a, node.b):
        return analyzer.simplify(binary(Add, node.a, node.b))
    found = _windowed(node.a, node.b, analyzer)
    return _windowed(node.b, node.a, analyzer) if found is None else found


def _windowed(outer: Expr, inner: Expr, analyzer: Analyzer) -> Expr | None:
    """`outer ^ inner` with the parts of `outer` outside of the bits of `inner` added afterwards."""
    bound = analyzer.bounds(inner)
    if bound.low is None or bound.low < 0 or bound.high is None:
        return None
    high, rest = _above(analyzer.linear(outer), bound.high.bit_length(), analyzer)
    unit, dtype = _unit(analyzer.residue(inner)), outer.dtype
    upper, low = analyzer.multiples(rest, unit)
    if not analyzer.linear_bounds(low).within(0, unit - 1):
        upper, low = rest, Linear()
    (part, odd), (digits, left) = upper.split(unit), analyzer.linear(inner).split(unit)
    if any(form.atoms or form.constant for form in (odd, left)):  # multiples of the unit, but not written so
        part, digits, unit = upper, analyzer.linear(inner), 1
    if unit == 1 and not (high.atoms or high.constant or low.atoms or low.constant):
        return None
    core = analyzer.simplify(binary(BitwiseXor, part.to_expr(dtype), digits.to_expr(dtype)))
    return high.plus(core, unit).plus_form(low, 1).to_expr(dtype)


def _above(form: Linear, top: int, analyzer: Analyzer) -> tuple[Linear, Linear]:
    """`(high, rest)`: terms of `form` that are multiples of 2**k, and others in [0, 2**k), for the least k >= top."""
    while top < 64:
        high, rest = form.split(1 << top)
        span = analyzer.linear_bounds(rest)
        if span.low is None or span.low < 0 or span.high is None:
            break
        if span.high < 1 << top:
            return high.scaled(1 << top), rest
        top = span.high.bit_length()
    return Linear(), form


def _unit(found: Residue) -> int:
    """The largest power of two that divides all values."""
    return 1 << min(_zeros(found.modulus), _zeros(found.base))


def _zeros(value: int) -> int:
    """Trailing zero bits; 64 of zero."""
    return (value & -value).bit_length() - 1 if value else 64
