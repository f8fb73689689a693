"""Implicit conversion of stored values: only where nothing can be lost."""

from __future__ import annotations

from collections.abc import Sequence

from ..support.errors import ScriptError
from ..support.words import an
from .build import as_expr, cast, const, refuse_region
from .context import current_span
from .dtype import DType
from .expr import BufferRegion, Expr

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["is_lossless", "store_value"]


def is_lossless(source: DType, target: DType) -> bool:
    """Whether a stored value loses nothing: it is the same in scalar type `target`, or the same bits.

    Signed and unsigned integers of one width hold the same bits, and arithmetic mixes them freely, so they count.
    """
    if source is target or (source.is_bool and (target.is_integer or target.is_float)):
        return True
    if source.is_integer and target.is_integer:
        return source.bits == target.bits or (target.min_int <= source.min_int and source.max_int <= target.max_int)
    if source.is_integer and target.is_float:
        return source.bits - source.is_int <= target.mantissa + 1
    if source.is_float and target.is_float:
        return source.mantissa <= target.mantissa and source.exponent <= target.exponent and target.bits > source.bits
    return False


def _wider(name: str, value: DType, dtype: DType) -> str:
    """What to do about a scalar variable that got its type from its first value."""
    return f'let `{name}` start with the type that it needs, e.g. {name}: Tx.{value} = 0, or convert: Tx.cast(value, "{dtype}")'


def store_value(value: Any, dtype: DType, indices: Sequence[Expr], name: str, *, is_scalar: bool = False) -> Expr:
    """`value` as it is stored to an element (or a vector of elements) of type `dtype` of `name`, which may be a scalar variable."""
    lanes = dtype.lanes * (indices[-1].dtype.lanes if indices else 1)
    target = dtype.with_lanes(lanes)
    expr = (
        const(value, dtype) if isinstance(value, bool | int | float) and not dtype.is_handle else as_expr(value, dtype)
    )
    if type(expr) is BufferRegion:
        refuse_region(expr)
    if expr.dtype is target or (dtype.is_handle and expr.dtype.is_handle):
        return expr
    if expr.dtype.lanes not in (1, lanes):
        raise ScriptError(
            f"{expr.dtype.lanes} lanes of {expr.dtype.element} are stored where `{name}` takes {lanes}",
            span=current_span(),
            hint="index with a Ramp or use vstore for vectors",
        )
    if not is_lossless(expr.dtype.element, dtype.element):
        raise ScriptError(
            f"{an(expr.dtype)} value is stored to `{name}` of type {dtype}, which may change it",
            span=current_span(),
            hint=_wider(name, expr.dtype.element, dtype.element)
            if is_scalar
            else f'convert explicitly: Tx.cast(value, "{dtype.element}")',
        )
    return cast(expr, target)
