"""Expressions: immutable values with a dtype, built by operators or by the classes below.

Integer `Div` and `Mod` truncate, `FloorDiv` and `FloorMod` round down; on floats `Div` is true division.
"""

from __future__ import annotations

from collections.abc import Mapping

from .dtype import DType
from .node import Node
from .ops import ExprOps

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .buffer import Buffer

__all__ = [
    "EQ", "GE", "GT", "LE", "LT", "NE", "Add", "And", "Binary", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor",
    "Broadcast", "BufferLoad", "BufferRegion", "Call", "Cast", "Compare", "Div", "Expr", "FloatImm", "FloorDiv",
    "FloorMod", "GlobalVar", "IndexFunction", "IntImm", "LShift", "Let", "Max", "Min", "Mod", "Mul", "Neg", "Not", "Op",
    "Or", "RShift", "Ramp", "Range", "Select", "Shuffle", "StringImm", "Sub", "Tuple", "Unary", "Var",
]  # fmt: skip


class Expr(Node, ExprOps, abstract=True):
    """Base of expressions. `dtype` is the type of the value; comparison operators build nodes, `is` compares objects."""

    _slots: ClassVar[tuple[str, ...]] = ("dtype",)

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DType:
            """The type of the value."""

    def __str__(self) -> str:
        """As authors write it: what `print(x[i])` shows while a kernel is built."""
        return self.script()


class IntImm(Expr):
    """An integer or bool constant; `value` fits `dtype` (the operators and `const` check that)."""

    value: int
    dtype: DType


class FloatImm(Expr):
    """A floating-point constant. `value` is the Python float; infinities and NaN are allowed."""

    value: float
    dtype: DType


class StringImm(Expr):
    """Text passed to an intrinsic (a format, a name); it has no place in arithmetic."""

    value: str
    _dtype: ClassVar[str] = "_HANDLE"


class Var(Expr):
    """A variable, compared by identity. Pointers have a `PointerType`."""

    name: str
    dtype: DType


class Unary(Expr, abstract=True):
    """One operand `a`, result of the same type."""

    a: Expr
    _dtype: ClassVar[str] = "a.dtype"


class Neg(Unary):
    """-a"""


class BitwiseNot(Unary):
    """~a"""


class Not(Unary):
    """not a; bool only"""


class Binary(Expr, abstract=True):
    """Two operands of one type, `a` and `b`."""

    a: Expr
    b: Expr
    _dtype: ClassVar[str] = "a.dtype"


class Add(Binary):
    """a + b"""


class Sub(Binary):
    """a - b"""


class Mul(Binary):
    """a * b"""


class Div(Binary):
    """a / b on floats; truncating division on integers"""


class Mod(Binary):
    """remainder of the truncating division; sign of a"""


class FloorDiv(Binary):
    """a // b"""


class FloorMod(Binary):
    """a % b; sign of b"""


class Min(Binary):
    """the smaller"""


class Max(Binary):
    """the larger"""


class BitwiseAnd(Binary):
    """a & b"""


class BitwiseOr(Binary):
    """a | b"""


class BitwiseXor(Binary):
    """a ^ b"""


class LShift(Binary):
    """a << b"""


class RShift(Binary):
    """a >> b; arithmetic on signed integers"""


class Compare(Binary, abstract=True):
    """A comparison; the result is bool with the lanes of the operands."""

    _dtype: ClassVar[str] = "_BOOL.with_lanes(a.dtype.lanes)"


class EQ(Compare):
    """a == b"""


class NE(Compare):
    """a != b"""


class LT(Compare):
    """a < b"""


class LE(Compare):
    """a <= b"""


class GT(Compare):
    """a > b"""


class GE(Compare):
    """a >= b"""


class And(Compare):
    """a and b; b is evaluated only where a is true"""


class Or(Compare):
    """a or b; b is evaluated only where a is false"""


class Cast(Expr):
    """`value` converted to `dtype`: floats to integers truncate, integers wrap, as in C."""

    dtype: DType
    value: Expr


class Select(Expr):
    """`true_value` where `condition`, else `false_value`; both are evaluated."""

    condition: Expr
    true_value: Expr
    false_value: Expr
    _dtype: ClassVar[str] = "true_value.dtype"


class Let(Expr):
    """`body` with `var` bound to `value`."""

    var: Var
    value: Expr
    body: Expr
    _dtype: ClassVar[str] = "body.dtype"


class Ramp(Expr):
    """The vector base, base + stride, ... of `lanes` elements."""

    base: Expr
    stride: Expr
    lanes: int
    _dtype: ClassVar[str] = "base.dtype.with_lanes(base.dtype.lanes * lanes)"


class Broadcast(Expr):
    """`value` in each of `lanes` lanes."""

    value: Expr
    lanes: int
    _dtype: ClassVar[str] = "value.dtype.with_lanes(value.dtype.lanes * lanes)"


class Shuffle(Expr):
    """Lanes `indices` of the concatenation of `vectors`; indices are Python ints."""

    vectors: tuple[Expr, ...]
    indices: tuple[int, ...]
    _dtype: ClassVar[str] = "vectors[0].dtype.with_lanes(len(indices))"


class BufferLoad(Expr):
    """An element (or vector, when the last index is one) of `buffer`.

    After layouts are lowered `buffer` is flat and `indices` has one entry; `source` and `coords` then hold the buffer
    and the logical indices that the author wrote, for checks and messages.
    """

    buffer: Buffer
    indices: tuple[Expr, ...]
    source: Buffer | None = None
    coords: tuple[Expr, ...] = ()
    _not_compared: ClassVar[tuple[str, ...]] = ("source", "coords")
    _dtype: ClassVar[str] = "buffer.dtype.with_lanes(buffer.dtype.lanes * (indices[-1].dtype.lanes if indices else 1))"


class BufferRegion(Expr):
    """A box of `buffer`: per dimension a start in `starts` and an extent in `extents` (1 for an index)."""

    buffer: Buffer
    starts: tuple[Expr, ...]
    extents: tuple[Expr, ...]
    _dtype: ClassVar[str] = "buffer.dtype"


class Tuple(Expr):
    """Several values as one operand."""

    items: tuple[Expr, ...]
    _dtype: ClassVar[str] = "_HANDLE"


class IndexFunction(Expr):
    """A function of a tile's indices: `body` in terms of `vars`, one per dimension."""

    vars: tuple[Var, ...]
    body: Expr
    _dtype: ClassVar[str] = "body.dtype"


class Op:
    """What a `Call` calls. `tirx.intrinsic.Intrinsic` rows and `GlobalVar` are the two kinds; identity is `name`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class GlobalVar(Op):
    """Another function of the module, by its exported name."""

    __slots__ = ("result",)

    def __init__(self, name: str, result: DType | None = None) -> None:
        super().__init__(name)
        self.result = result


class Call(Expr):
    """An intrinsic or function applied to `args`. `attrs` are its compile-time keywords (sorted pairs of plain values)."""

    dtype: DType
    op: Op
    args: tuple[Expr, ...] = ()
    attrs: tuple[tuple[str, Any], ...] = ()

    def attr(self, name: str, default: Any = None) -> Any:
        """Value of one compile-time keyword."""
        return next((value for key, value in self.attrs if key == name), default)


class Range:
    """A half-open interval by `min` and `extent`."""

    __slots__ = ("extent", "min")

    def __init__(self, min: Expr, extent: Expr) -> None:
        self.min = min
        self.extent = extent


def call_attrs(values: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Attributes of a `Call` in their canonical order."""
    return tuple(sorted(values.items()))
