"""Iters, the atoms of layouts, and small arithmetic on ints that may be expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..arith import Analyzer, simplify
from ..arith.key import key_of
from ..ir import Expr, IntImm, as_expr, current_span, sizes
from ..support.errors import LayoutError

__all__ = ["Iter", "Number", "number", "product", "row_major_strides", "same"]

Number = int | Expr


class Iter:
    """`extent` steps of `stride` on an axis. Value semantics; symbolic parts compare structurally."""

    __slots__ = ("axis", "extent", "stride")

    def __init__(self, extent: Number, stride: Number, axis: Any = "m") -> None:
        self.extent = number(extent)
        self.stride = number(stride)
        self.axis: str = getattr(axis, "name", axis)
        if isinstance(self.extent, int) and self.extent < 1:
            raise LayoutError(f"extent {self.extent} of a layout is not positive", span=current_span())

    def key(self) -> Any:
        """Equal for equal iters."""
        return (_key(self.extent), _key(self.stride), self.axis)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Iter) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return f"Iter({self.extent}, {self.stride}, {self.axis!r})"


def _key(value: Number) -> Any:
    return value if isinstance(value, int) else key_of(value)


def number(value: Any) -> Number:
    """Constants as ints, other expressions simplified."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    expr = as_expr(value)
    if not expr.dtype.is_integer:
        raise LayoutError(f"a layout is made of integers, not {expr.dtype}", span=current_span())
    expr = simplify(expr)
    return expr.value if isinstance(expr, IntImm) else expr


def same(a: Number, b: Number) -> bool:
    """Whether two numbers are provably equal."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return Analyzer().equal(a, b)


def product(values: Iterable[Number]) -> Number:
    """Product of numbers."""
    return number(sizes.product(values))


def row_major_strides(extents: Sequence[Any]) -> tuple[Number, ...]:
    """Strides of a contiguous row-major array."""
    strides: list[Number] = []
    total: Number = 1
    for extent in reversed(list(extents)):
        strides.append(total)
        total = number(total * extent) if not (isinstance(total, int) and total == 1) else number(extent)
    return tuple(reversed(strides))
