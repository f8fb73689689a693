"""What conditions say, taken apart: `i * 4 < n and j % 8 == 0` are two facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    And,
    BitwiseAnd,
    Compare,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    Not,
    Or,
    RShift,
    Var,
)  # fmt: skip

OPPOSITE: dict[type[Any], type[Any]] = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}

__all__ = ["OPPOSITE", "conjuncts", "dividend", "residue_said", "sides"]


def conjuncts(condition: Expr, holds: bool = True) -> Iterator[Expr]:
    """The parts of a conjunction, in order; with `holds=False`, of what is true where the condition is not."""
    stack = [(condition, holds)]
    while stack:
        part, wanted = stack.pop()
        if isinstance(part, Not):
            stack.append((part.a, not wanted))
        elif isinstance(part, And if wanted else Or):
            stack += [(part.b, wanted), (part.a, wanted)]
        elif wanted:
            yield part
        elif type(part) in OPPOSITE and isinstance(part, Compare) and not part.a.dtype.is_float:
            yield OPPOSITE[type(part)](part.a, part.b, span=part.span)


def sides(condition: Compare) -> list[tuple[Expr, Expr, int]]:
    """`(a, b, gap)` for each `a + gap <= b` that a comparison says."""
    a, b = condition.a, condition.b
    if isinstance(condition, EQ):
        return [(a, b, 0), (b, a, 0)]
    strict = isinstance(condition, LT | GT)
    return [(a, b, int(strict))] if isinstance(condition, LT | LE) else [(b, a, int(strict))]


def residue_said(condition: Expr) -> tuple[Var, int, int] | None:
    """`(var, modulus, rest)` of `var % modulus == rest`, also written with a mask."""
    if not isinstance(condition, EQ) or not isinstance(condition.b, IntImm) or not condition.a.dtype.is_int:
        return None
    part = condition.a
    if not isinstance(part, FloorMod | BitwiseAnd) or not isinstance(part.a, Var) or not isinstance(part.b, IntImm):
        return None
    modulus = part.b.value + isinstance(part, BitwiseAnd)
    if modulus < 1 or (isinstance(part, BitwiseAnd) and modulus & (modulus - 1)):
        return None
    return (part.a, modulus, condition.b.value) if 0 <= condition.b.value < modulus else None


def dividend(expr: Expr) -> tuple[Expr, int] | None:
    """`(x, d)` of `x // d`, also written as a shift."""
    if not isinstance(expr, FloorDiv | RShift) or not isinstance(expr.b, IntImm) or expr.dtype.is_uint:
        return None
    if isinstance(expr, RShift):
        return (expr.a, 1 << expr.b.value) if 0 <= expr.b.value < expr.dtype.bits else None
    return (expr.a, expr.b.value) if expr.b.value > 0 else None
