"""Building expressions from mixed operands: constants, promotion, folding of integer constants, errors at the author's line.

Promotion: a Python number takes the other side's dtype; integers widen to the wider, of equal width to the signed one;
an integer meets a float as that float; floats widen to the wider; a scalar meets a vector as a broadcast.
"""

from __future__ import annotations

from collections.abc import Callable

from ..support.errors import ScriptError
from ..support.words import an
from .context import current_span
from .dtype import BOOL, FLOAT32, INT32, DType
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
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Broadcast,
    BufferRegion,
    Cast,
    Div,
    Expr,
    FloatImm,
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
    Or,
    RShift,
    StringImm,
    Sub,
    Unary,
)  # fmt: skip
from .integers import DIVISIONS, EXACT
from .ops import BINARY, UNARY

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = [
    "as_expr",
    "binary",
    "cast",
    "const",
    "logical_and",
    "logical_not",
    "logical_or",
    "refuse_region",
    "unary",
    "unify",
]

_NUMBERS = (bool, int, float)


def const(value: bool | int | float, dtype: DType | str | None = None) -> Expr:
    """A constant of `dtype` (default: bool, int32 or float32 by the Python type).

    Raises `ScriptError` when an integer does not fit, or a fraction is given for an integer type.
    """
    if dtype is None:
        dtype = BOOL if isinstance(value, bool) else INT32 if isinstance(value, int) else FLOAT32
    kind = dtype if type(dtype) is DType else DType(dtype)
    if type(value) is int and kind.kind == "int" and kind.lanes == 1 and kind.min_int <= value <= kind.max_int:
        return IntImm(value, kind, span=current_span())  # nearly all of them
    if kind.lanes > 1:
        return Broadcast(const(value, kind.element), kind.lanes, span=current_span())
    if kind.is_float:
        return FloatImm(float(value), kind, span=current_span())
    if not (kind.is_integer or kind.is_bool):
        raise ScriptError(f"a number cannot become a constant of type {kind}", span=current_span())
    if isinstance(value, float) and not value.is_integer():
        raise ScriptError(
            f"{value!r} is not a value of {kind}", span=current_span(), hint="cast explicitly, e.g. Tx.int32(round(x))"
        )
    number = int(value)
    if not kind.min_int <= number <= kind.max_int:
        raise ScriptError(
            f"{number} does not fit {kind} ({kind.min_int} to {kind.max_int})",
            span=current_span(),
            hint="give it a wider type, e.g. Tx.int64(...)" if kind.bits < 64 else None,
        )
    return IntImm(number, kind, span=current_span())


def as_expr(value: Any, dtype: DType | str | None = None) -> Expr:
    """`value` as an expression: nodes as they are, Python numbers as constants of `dtype`, stand-ins through `__tirx_expr__`.

    NumPy scalars count as Python numbers. Raises `ScriptError` for anything else.
    """
    if isinstance(value, Expr):
        return value
    if isinstance(value, _NUMBERS):
        return const(value, dtype)
    convert = getattr(value, "__tirx_expr__", None)
    if convert is not None:
        found: Expr = convert()
        return found
    if isinstance(value, str):
        return StringImm(value, span=current_span())
    item = getattr(value, "item", None)
    if item is not None and getattr(value, "ndim", None) == 0:
        return const(item(), dtype)
    if value is None:
        raise ScriptError(
            "None is not a kernel value",
            span=current_span(),
            hint="a call that gives nothing, or a helper without `return`? compare with None by `is None`",
        )
    raise ScriptError(
        f"{type(value).__name__} {_short(value)} is not a kernel value",
        span=current_span(),
        hint="an array comes into a kernel as a parameter: x: Tx.Buffer(shape, dtype)"
        if getattr(value, "ndim", 0)
        else "kernel values are numbers, scalars, buffer elements and expressions of them",
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def cast(value: Any, dtype: DType | str) -> Expr:
    """`value` converted to `dtype`; constants are converted at once, an equal type changes nothing."""
    kind = DType(dtype)
    expr = as_expr(value, None)
    if type(expr) is BufferRegion:
        refuse_region(expr)
    if expr.dtype is kind:
        return expr
    if kind.lanes != expr.dtype.lanes:
        if expr.dtype.lanes != 1:
            raise ScriptError(f"a cast keeps the number of lanes: {expr.dtype} to {kind}", span=current_span())
        return Broadcast(cast(expr, kind.element), kind.lanes, span=current_span())
    if isinstance(expr, IntImm) and kind.is_integer:
        return IntImm(_wrap(expr.value, kind), kind, span=current_span())
    narrow = isinstance(expr, FloatImm) and expr.dtype.bits < kind.bits and not expr.dtype.holds(expr.value)
    if (
        isinstance(expr, IntImm | FloatImm) and kind.is_float and not narrow
    ):  # a number that its type rounds keeps its cast
        return FloatImm(float(expr.value), kind, span=current_span())
    return Cast(kind, expr, span=current_span())


def _wrap(value: int, kind: DType) -> int:
    value &= (1 << kind.bits) - 1
    return value - (1 << kind.bits) if kind.is_int and value > kind.max_int else value


def common_dtype(a: DType, b: DType) -> DType | None:
    """The type that both operands are promoted to, or None when there is none."""
    if a is b:
        return a
    if a.is_float and b.is_float:
        return None if a.bits == b.bits else (a if a.bits > b.bits else b)
    if a.is_float or b.is_float:
        number, other = (a, b) if a.is_float else (b, a)
        return number if other.is_integer or other.is_bool else None
    if a.is_bool or b.is_bool:
        other = b if a.is_bool else a
        return other if other.is_integer else None
    if a.is_integer and b.is_integer:
        if a.bits != b.bits:
            wide = a if a.bits > b.bits else b
            return wide
        return a if a.is_int else b
    return None


def unify(a: Any, b: Any) -> tuple[Expr, Expr]:
    """Both operands as expressions of one type; `ScriptError` when no promotion exists."""
    if isinstance(b, _NUMBERS):
        left = as_expr(a)
        right = as_expr(b) if isinstance(a, _NUMBERS) else _literal(b, left.dtype)
    else:
        right = as_expr(b)
        left = _literal(a, right.dtype) if isinstance(a, _NUMBERS) else as_expr(a)
    if type(left) is BufferRegion or type(right) is BufferRegion:
        refuse_region(left if type(left) is BufferRegion else right)
    if left.dtype is right.dtype:
        return left, right
    if isinstance(left, StringImm) or isinstance(right, StringImm):
        raise ScriptError(
            "text and a kernel value do not mix",
            span=current_span(),
            hint="the value is known only when the kernel runs",
        )
    if left.dtype.is_handle or right.dtype.is_handle:
        raise ScriptError(
            f"a pointer and a value of type {right.dtype if left.dtype.is_handle else left.dtype} do not mix",
            span=current_span(),
            hint="the address of an element is x.ptr_to([i]); Tx.ptr_byte_offset(pointer, bytes, dtype) moves a pointer",
        )
    kind = common_dtype(left.dtype.element, right.dtype.element)
    lanes = max(left.dtype.lanes, right.dtype.lanes)
    if kind is None or (min(left.dtype.lanes, right.dtype.lanes) not in (1, lanes)):
        raise ScriptError(
            f"operands of type {left.dtype} and {right.dtype} do not mix",
            span=current_span(),
            hint='cast one of them, e.g. Tx.cast(x, "float32")',
        )
    kind = kind.with_lanes(lanes)
    return cast(left, kind), cast(right, kind)


def refuse_region(value: Any) -> NoReturn:
    """A part of a buffer stands where one value is needed."""
    name = value.buffer.name
    raise ScriptError(
        f"a region of `{name}` is many elements, not one value",
        span=current_span(),
        hint=f"index one element, e.g. {name}[i]; read a vector with {name}.vload([i], dtype); or use a tile operation, e.g. Tx.tile.add",
    )


def _literal(value: bool | int | float, other: DType) -> Expr:
    """A Python number beside an operand of type `other`."""
    if other.is_float:
        return const(value, other.element)
    if other.is_integer and not isinstance(value, float):
        return const(value, other.element)
    return const(value)


def binary(kind: type[Binary], a: Any, b: Any) -> Expr:
    """The node `kind(a, b)` after promotion; two integer constants fold."""
    left, right = unify(a, b)
    if left.dtype.is_handle:
        return _pointer_compare(kind, left, right)
    if isinstance(left, IntImm) and isinstance(right, IntImm):
        folded = _fold(kind, left, right)
        if folded is not None:
            return folded
    return kind(left, right, span=current_span())


def _pointer_compare(kind: type[Binary], left: Expr, right: Expr) -> Expr:
    if kind in (EQ, NE):
        return kind(left, right, span=current_span())
    raise ScriptError(
        f"{kind.__name__} is not defined on pointers",
        span=current_span(),
        hint="use Tx.ptr_byte_offset(pointer, bytes, dtype) or index the buffer",
    )


def _fold(kind: type[Binary], a: IntImm, b: IntImm) -> Expr | None:
    if kind in DIVISIONS and b.value == 0:
        raise ScriptError("division by the constant zero", span=current_span())
    if kind in (LShift, RShift) and not 0 <= b.value < b.dtype.bits:
        raise ScriptError(
            f"shift of {an(a.dtype)} by {b.value}", span=current_span(), hint=f"shift by 0 to {a.dtype.bits - 1}"
        )
    value = EXACT[kind](a.value, b.value)
    if (isinstance(value, bool) and not a.dtype.is_integer) or kind in (EQ, NE, LT, LE, GT, GE, And, Or):
        return IntImm(int(value), BOOL, span=current_span())
    if a.dtype.is_uint or kind is LShift:
        return IntImm(_wrap(int(value), a.dtype), a.dtype, span=current_span())
    return const(int(value), a.dtype)


def unary(kind: type[Unary], a: Any) -> Expr:
    """The node `kind(a)`; constants fold."""
    value = as_expr(a)
    if type(value) is BufferRegion:
        refuse_region(value)
    if kind is Neg and isinstance(value, IntImm):
        return const(-value.value, value.dtype)
    if kind is Neg and isinstance(value, FloatImm):
        return FloatImm(-value.value, value.dtype, span=current_span())
    return kind(value, span=current_span())


def logical_not(a: Any) -> Any:
    """`not a` on a kernel value; Python's own result on a Python value."""
    return (not a) if _is_python(a) else Not(truth(a), span=current_span())


def logical_and(a: Any, b: Any) -> Any:
    """`a and b` of two kernel values."""
    return And(truth(a), truth(b), span=current_span())


def logical_or(a: Any, b: Any) -> Any:
    """`a or b` of two kernel values."""
    return Or(truth(a), truth(b), span=current_span())


def truth(a: Any) -> Expr:
    """`a` as a bool expression: numbers compare with zero, as in Python."""
    value = as_expr(a)
    if type(value) is BufferRegion:
        refuse_region(value)
    if value.dtype.is_bool:
        return value
    if value.dtype.is_integer or value.dtype.is_float:
        return NE(value, const(0, value.dtype), span=current_span())
    raise ScriptError(f"a value of type {value.dtype} is no condition", span=current_span())


def _is_python(value: Any) -> bool:
    return not isinstance(value, Expr) and not hasattr(value, "__tirx_expr__")


def _div(a: Any, b: Any) -> Expr:
    left, right = unify(a, b)
    if left.dtype.is_integer:
        raise ScriptError(
            "`/` on integers is ambiguous",
            span=current_span(),
            hint="write `//` (rounds down), Tx.truncdiv(a, b) (rounds to zero), or cast to a float first",
        )
    return binary(Div, left, right)


def _integral(kind: type[Binary], symbol: str, hint: str) -> Callable[[Any, Any], Expr]:
    def build(a: Any, b: Any) -> Expr:
        left, right = unify(a, b)
        if not (left.dtype.is_integer or (left.dtype.is_bool and kind in (BitwiseAnd, BitwiseOr, BitwiseXor))):
            raise ScriptError(f"`{symbol}` needs integers, not {left.dtype}", span=current_span(), hint=hint)
        return binary(kind, left, right)

    return build


def _shift(kind: type[Binary], symbol: str) -> Callable[[Any, Any], Expr]:
    """A shift keeps the type of its left side, whatever the type of the amount."""

    def build(a: Any, b: Any) -> Expr:
        left = as_expr(a) if not isinstance(a, _NUMBERS) else const(a, as_expr(b).dtype)
        right = const(b, left.dtype.element) if isinstance(b, _NUMBERS) else as_expr(b)
        if not (left.dtype.is_integer and right.dtype.is_integer):
            raise ScriptError(
                f"`{symbol}` needs integers, not {left.dtype} and {right.dtype}",
                span=current_span(),
                hint='multiply or divide by a power of two; the bits of a float are Tx.reinterpret("int32", x)',
            )
        return binary(kind, left, cast(right, left.dtype))

    return build


def _inverted(a: Any) -> Expr:
    value = as_expr(a)
    if not (value.dtype.is_integer or value.dtype.is_bool or type(value) is BufferRegion):
        raise ScriptError(
            f"`~` needs integers, not {value.dtype}", span=current_span(), hint="use `-x`, or `not condition`"
        )
    return unary(BitwiseNot, value)


def _absolute(a: Any) -> Expr:
    from .context import late  # `abs` is an intrinsic, whose row lives above

    found: Expr = late("abs")(a)
    return found


def _simple(kind: type[Binary]) -> Callable[[Any, Any], Expr]:
    return lambda a, b: binary(kind, a, b)


BINARY.update(
    {name: _simple(kind) for name, kind in {
        "add": Add, "sub": Sub, "mul": Mul, "eq": EQ, "ne": NE, "lt": LT, "le": LE, "gt": GT, "ge": GE, "min": Min, "max": Max,
        "truncdiv": Div, "truncmod": Mod,
    }.items()},
    cast=cast,
    div=_div,
    floordiv=_integral(FloorDiv, "//", "use Tx.floor(a / b)"),
    floormod=_integral(FloorMod, "%", "use Tx.fmod(a, b)"),
    bitwise_and=_integral(BitwiseAnd, "&", "combine conditions with `and`"),
    bitwise_or=_integral(BitwiseOr, "|", "combine conditions with `or`"),
    bitwise_xor=_integral(BitwiseXor, "^", "use Tx.pow for powers"),
    shift_left=_shift(LShift, "<<"),
    shift_right=_shift(RShift, ">>"),
)  # fmt: skip
UNARY.update(neg=lambda a: unary(Neg, a), bitwise_not=_inverted, abs=_absolute)
