"""What operations on integers mean, exactly: on Python's integers, before any width wraps the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    Div,
    FloorDiv,
    FloorMod,
    LShift,
    Max,
    Min,
    Mod,
    Mul,
    Or,
    RShift,
    Sub,
)  # fmt: skip

__all__ = ["DIVISIONS", "EXACT", "trunc_div"]

DIVISIONS = (Div, Mod, FloorDiv, FloorMod)


def trunc_div(a: int, b: int) -> int:
    """A / b rounded to zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


EXACT: Mapping[type[Binary], Callable[[int, int], int | bool]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    Div: trunc_div,
    Mod: lambda a, b: a - b * trunc_div(a, b),
    FloorDiv: lambda a, b: a // b,
    FloorMod: lambda a, b: a % b,
    Min: min,
    Max: max,
    BitwiseAnd: lambda a, b: a & b,
    BitwiseOr: lambda a, b: a | b,
    BitwiseXor: lambda a, b: a ^ b,
    LShift: lambda a, b: a << b,
    RShift: lambda a, b: a >> b,
    EQ: lambda a, b: a == b,
    NE: lambda a, b: a != b,
    LT: lambda a, b: a < b,
    LE: lambda a, b: a <= b,
    GT: lambda a, b: a > b,
    GE: lambda a, b: a >= b,
    And: lambda a, b: bool(a and b),
    Or: lambda a, b: bool(a or b),
}
