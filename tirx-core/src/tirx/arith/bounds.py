"""Constant bounds of integer expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir import (
    Add,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    BufferLoad,
    Call,
    Cast,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    LShift,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    RShift,
    Select,
    Sub,
    Var,
)  # fmt: skip

__all__ = ["Interval", "bounds_of"]


class Interval:
    """Integers from `low` to `high`, both included; None means unbounded on that side."""

    __slots__ = ("high", "low")

    def __init__(self, low: int | None, high: int | None) -> None:
        self.low = low
        self.high = high

    def __repr__(self) -> str:
        return f"[{self.low}, {self.high}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interval) and (self.low, self.high) == (other.low, other.high)

    def __hash__(self) -> int:
        return hash((self.low, self.high))

    def within(self, low: int, high: int) -> bool:
        """Whether all values lie in [low, high]."""
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high

    def meet(self, low: int | None, high: int | None) -> Interval:
        """What lies in this interval and in [low, high]."""
        lows = [end for end in (self.low, low) if end is not None]
        highs = [end for end in (self.high, high) if end is not None]
        return Interval(max(lows) if lows else None, min(highs) if highs else None)

    @property
    def is_finite(self) -> bool:
        """Bounded on both sides."""
        return self.low is not None and self.high is not None


ANY = Interval(None, None)
TRUTH = Interval(0, 1)


def bounds_of(expr: Expr, known: Callable[[Expr], Interval | None], memo: dict[int, tuple[Expr, Interval]]) -> Interval:
    """Bounds of `expr`, where `known` answers bounds of variables and other expressions that it knows."""
    stack: list[tuple[Any, Any]] = [(expr, None)]  # with its operands, once their bounds are wanted
    while stack:
        node, operands = stack.pop()
        if id(node) in memo:
            continue
        if operands is None:
            operands = _operands(node)
            if operands:
                stack.append((node, operands))
                stack.extend([(child, None) for child in operands])
                continue
        found = known(node)
        if found is None:
            rule = _RULES.get(type(node))
            found = rule(node, [memo[id(child)][1] for child in operands]) if rule else _of_type(node)
        memo[id(node)] = (node, _clamped(node, found))  # the node stays alive, so its id stays its own
    return memo[id(expr)][1]


def _operands(node: Any) -> Sequence[Any]:
    kind = type(node)
    if kind is Call:
        return node.args if node.op.name in _TRANSPARENT else ()
    return node.children() if kind in _RULES else ()


def _of_type(node: Expr) -> Interval:
    dtype = node.dtype
    if dtype.is_bool:
        return TRUTH
    if dtype.is_uint or (dtype.is_int and isinstance(node, Var | BufferLoad | Call | Cast)):
        return Interval(dtype.min_int, dtype.max_int)
    return ANY


def _clamped(node: Expr, found: Interval) -> Interval:
    """A result that may leave its type and wrap says nothing: of unsigned types, and of values that come from memory.

    Other signed arithmetic is that of indices, which does not overflow.
    """
    dtype = node.dtype
    if dtype.kind == "uint" and not found.within(0, dtype.max_int):
        return Interval(0, dtype.max_int)
    if node.mask & BufferLoad.BIT and dtype.is_int and not found.within(dtype.min_int, dtype.max_int):
        return Interval(dtype.min_int, dtype.max_int)
    return found


def _add(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    return Interval(_plus(a.low, b.low), _plus(a.high, b.high))


def _sub(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    return Interval(_plus(a.low, _minus(b.high)), _plus(a.high, _minus(b.low)))


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _minus(a: int | None) -> int | None:
    return None if a is None else -a


def _mul(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    if a.low is not None and b.low is not None and a.low >= 0 and b.low >= 0:
        return Interval(a.low * b.low, None if a.high is None or b.high is None else a.high * b.high)
    if not (a.is_finite and b.is_finite):
        return ANY
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high) if x is not None and y is not None]
    return Interval(min(products), max(products))


def _floordiv(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    if b.low is None or b.low <= 0:
        return ANY
    ends = [b.low] if b.high is None else [b.low, b.high]
    low = None if a.low is None else min(a.low // end for end in ends)
    high = None if a.high is None else max(a.high // end for end in ends)
    if b.high is None:  # the quotient tends to 0, or to -1 from below
        low = None if low is None else min(low, 0 if a.low is not None and a.low >= 0 else -1)
        high = None if high is None else max(high, 0)
    return Interval(low, high)


def _floormod(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    if b.low is None or b.low <= 0:
        return ANY
    if a.low is not None and a.high is not None and a.low >= 0 and a.high < b.low:
        return a
    high = None if b.high is None else b.high - 1
    if a.low is not None and a.low >= 0 and a.high is not None:
        high = a.high if high is None else min(high, a.high)
    return Interval(0, high)


def _truncdiv(node: Expr, args: list[Interval]) -> Interval:
    return _floordiv(node, args) if args[0].low is not None and args[0].low >= 0 else ANY


def _truncmod(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    if a.low is not None and a.low >= 0:
        return _floormod(node, args)
    return ANY if b.low is None or b.low <= 0 or b.high is None else Interval(1 - b.high, b.high - 1)


def _min(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    highs = [x for x in (a.high, b.high) if x is not None]
    return Interval(low, min(highs) if highs else None)


def _max(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    lows = [x for x in (a.low, b.low) if x is not None]
    return Interval(max(lows) if lows else None, high)


def _union(a: Interval, b: Interval) -> Interval:
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    return Interval(low, high)


def _bitwise_and(node: Expr, args: list[Interval]) -> Interval:
    highs = [i.high for i in args if i.low is not None and i.low >= 0 and i.high is not None]
    if highs:
        return Interval(0, min(highs))
    return Interval(0, None) if any(i.low is not None and i.low >= 0 for i in args) else _of_type(node)


def _bitwise_or(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    most = _most_bits(a, b)
    if most is None or a.low is None or b.low is None:
        return _of_bits(node, args)
    return Interval(max(a.low, b.low), most)


def _bitwise_xor(node: Expr, args: list[Interval]) -> Interval:
    most = _most_bits(*args)
    return _of_bits(node, args) if most is None else Interval(0, most)


def _most_bits(a: Interval, b: Interval) -> int | None:
    """The largest `x | y` and `x ^ y` of two that are not negative."""
    if a.low is None or b.low is None or a.low < 0 or b.low < 0 or a.high is None or b.high is None:
        return None
    return min(a.high + b.high, (1 << max(a.high, b.high).bit_length()) - 1)


def _of_bits(node: Expr, args: list[Interval]) -> Interval:
    known = all(i.low is not None and i.low >= 0 for i in args)
    return Interval(0, None) if known else _of_type(node)


def _bitwise_not(node: Expr, args: list[Interval]) -> Interval:
    (a,) = args
    if node.dtype.is_bool:
        return TRUTH
    top = node.dtype.max_int if node.dtype.is_uint else -1
    return Interval(_plus(top, _minus(a.high)), _plus(top, _minus(a.low)))


def _rshift(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    if b.low is None or b.low < 0:
        return _of_type(node)
    shifts = [b.low, 64 if b.high is None else b.high]
    low = None if a.low is None else min(a.low >> by for by in shifts)
    return Interval(low, None if a.high is None else max(a.high >> by for by in shifts))


def _lshift(node: Expr, args: list[Interval]) -> Interval:
    a, b = args
    if a.low is None or b.low is None or b.low < 0 or a.high is None or b.high is None or b.high > 64:
        return Interval(0, None) if node.dtype.is_int and _is_index(a) else _of_type(node)
    ends = [end << by for end in (a.low, a.high) for by in (b.low, b.high)]
    found = Interval(min(ends), max(ends))
    return found if found.within(node.dtype.min_int, node.dtype.max_int) else _of_type(node)


def _is_index(found: Interval) -> bool:
    """Not negative and with an end that nobody knows, as launch indices are: arithmetic on those does not overflow."""
    return found.low is not None and found.low >= 0 and found.high is None


def _cast(node: Expr, args: list[Interval]) -> Interval:
    (a,) = args
    dtype = node.dtype
    if dtype.is_integer and a.within(dtype.min_int, dtype.max_int):
        return a
    return _of_type(node)


def _call(node: Call, args: list[Interval]) -> Interval:
    """A lazy choice is one of its sides; a value marked as shared by threads is that value."""
    if node.op.name not in _TRANSPARENT:
        return _of_type(node)
    return args[0] if len(args) == 1 else _union(args[1], args[2])


_TRANSPARENT = frozenset({"if_then_else", "tirx.uniform"})


_RULES: dict[type[Expr], Callable[[Any, list[Interval]], Interval]] = {
    IntImm: lambda node, args: Interval(node.value, node.value),
    Add: _add,
    Sub: _sub,
    Mul: _mul,
    Neg: lambda node, args: Interval(_minus(args[0].high), _minus(args[0].low)),
    FloorDiv: _floordiv,
    FloorMod: _floormod,
    Div: _truncdiv,
    Mod: _truncmod,
    Min: _min,
    Max: _max,
    BitwiseAnd: _bitwise_and,
    BitwiseOr: _bitwise_or,
    BitwiseXor: _bitwise_xor,
    BitwiseNot: _bitwise_not,
    RShift: _rshift,
    LShift: _lshift,
    Cast: _cast,
    Select: lambda node, args: _union(args[1], args[2]),
    Call: _call,
    Not: lambda node, args: TRUTH,
}
