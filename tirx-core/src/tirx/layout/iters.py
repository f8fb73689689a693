"""Iters, the atoms of layouts, and small arithmetic on ints that may be expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..arith import Analyzer, simplify
from ..arith.key import key_of
from ..ir import Expr, IntImm, Mul, as_expr, sizes
from .mistakes import mistake

__all__ = ["Iter", "Number", "cut", "divides", "number", "over", "product", "row_major_strides", "same"]

Number = int | Expr


class Iter:
    """`extent` steps of `stride` on an axis. Value semantics; symbolic parts compare structurally."""

    __slots__ = ("axis", "extent", "stride")

    def __init__(self, extent: Any, stride: Any, axis: Any = "m") -> None:
        self.extent = number(extent)
        self.stride = number(stride)
        self.axis: str = getattr(axis, "name", axis)
        if isinstance(self.extent, int) and self.extent < 1:
            raise mistake(
                f"extent {self.extent} of a layout is not positive",
                hint="leave out what holds no element",
            )
        if not isinstance(self.axis, str):
            raise mistake(f"{axis!r} is no axis", hint="write Axis.laneid, or its name")

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
    """Constants as ints, other expressions simplified; `LayoutError` for what is no integer."""
    if type(value) is int:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, bool | str | float) or value is None:
        raise mistake(f"{value!r} in a layout is no integer", hint="write an integer")
    expr = as_expr(value)
    if not expr.dtype.is_integer:
        raise mistake(f"a layout is made of integers, not {expr.dtype}", hint="cast it to an integer")
    expr = simplify(expr)
    return expr.value if isinstance(expr, IntImm) else expr


def same(a: Number, b: Number) -> bool:
    """Whether two numbers are provably equal."""
    if type(a) is int and type(b) is int:
        return a == b
    return Analyzer().equal(a, b)


def divides(divisor: Number, value: Number) -> bool:
    """Whether `divisor` provably divides `value`."""
    if isinstance(divisor, int) and divisor == 0:
        return same(value, 0)
    return _quotient(value, divisor) is not None


def over(value: Number, divisor: Number) -> Number:
    """The quotient of a division that leaves no rest."""
    found = _quotient(value, divisor)
    return number(value // divisor) if found is None else found


def _quotient(value: Number, divisor: Number) -> Number | None:
    """`value / divisor` where it is provably whole. Symbolic divisors are extents and steps, and so not zero."""
    if isinstance(divisor, int) and isinstance(value, int):
        return value // divisor if value % divisor == 0 else None
    if isinstance(divisor, int) and Analyzer().divides(divisor, value):
        return number(value // divisor)
    known, factors = _factors(value)
    by, others = _factors(divisor)
    rest = dict(enumerate(factors))
    for other in others:
        match = next((place for place, factor in rest.items() if key_of(factor) == key_of(other)), None)
        if match is None:
            return 1 if same(value, divisor) else None
        del rest[match]
    return product([*rest.values(), known // by]) if known % by == 0 else None


def _factors(value: Number) -> tuple[int, list[Expr]]:
    """A number as a constant times expressions."""
    if isinstance(value, int):
        return value, []
    if isinstance(value, IntImm):
        return value.value, []
    if not isinstance(value, Mul):
        return 1, [value]
    (a, left), (b, right) = _factors(value.a), _factors(value.b)
    return a * b, left + right


def product(values: Iterable[Any]) -> Number:
    """Product of numbers."""
    return number(sizes.product(values))


def cut(item: Iter, outer: Number) -> tuple[Iter, Iter]:
    """An iter as `outer` steps over the rest."""
    inner = over(item.extent, outer)
    return Iter(outer, number(item.stride * inner), item.axis), Iter(inner, item.stride, item.axis)


def row_major_strides(extents: Sequence[Any]) -> tuple[Number, ...]:
    """Strides of a contiguous row-major array."""
    strides: list[Number] = []
    total: Number = 1
    for extent in reversed(list(extents)):
        strides.append(total)
        total = number(total * extent) if not (isinstance(total, int) and total == 1) else number(extent)
    return tuple(reversed(strides))
