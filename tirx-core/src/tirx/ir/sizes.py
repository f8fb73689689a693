"""Sizes and positions: Python's integers where they are known, expressions where not."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from .build import binary
from .expr import Add, Expr, IntImm, Mul

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Size", "plus", "product", "size_of", "times"]

Size = int | Expr


def size_of(value: Any) -> Size:
    """Constants as Python's integers."""
    return value.value if isinstance(value, IntImm) else value


def plus(a: Size, b: Size) -> Size:
    """A + b without a zero."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if isinstance(a, int) and a == 0:
        return b
    return a if isinstance(b, int) and b == 0 else size_of(binary(Add, a, b))


def times(a: Size, b: Size) -> Size:
    """A * b without a one."""
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if isinstance(a, int) and a in (0, 1):
        return b if a else 0
    if isinstance(b, int) and b in (0, 1):
        return a if b else 0
    return size_of(binary(Mul, a, b))


def product(sizes: Iterable[Size]) -> Size:
    """The product, with one constant for all that are known behind the others."""
    known, rest = 1, list[Size]()
    for size in sizes:
        if isinstance(size, int):
            known *= size
        else:
            rest.append(size)
    return reduce(times, [*rest, known])
