"""Atomic updates of memory, each giving the old value."""

from __future__ import annotations

from ...ir import Expr, PointerType, as_expr, cast
from ...support.words import an
from ..call import call
from ..row import Intrinsic, Operand
from .build import refuse
from .memory import address_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...ir import Call

__all__ = ["atomic_add", "atomic_cas", "atomic_exch", "atomic_max", "atomic_min"]

_NUMBERS = ("int", "uint", "float")


def _row(name: str, values: str, doc: str) -> Intrinsic:
    operands = [Operand("pointer", "pointer", rw="rw"), *(Operand(item, dtypes=_NUMBERS) for item in values.split())]
    return Intrinsic(
        name, operands, "arg:value", "atomic", doc=f"{doc}; the old value", meaning=f"tirx.sim.meanings.atomic:{name}"
    )


ROWS = (
    _row("atomic_add", "value", "memory += value as one step"),
    _row("atomic_max", "value", "memory = max(memory, value) as one step"),
    _row("atomic_min", "value", "memory = min(memory, value) as one step"),
    _row("atomic_exch", "value", "memory = value as one step"),
    _row("atomic_cas", "compare value", "memory = value as one step, where memory equals compare"),
)


def _function(row: Intrinsic) -> Callable[..., Call]:
    def build(place: Any, *values: Any) -> Call:
        pointer = as_expr(place) if _is_pointer(place) else address_of(place)
        if isinstance(pointer.dtype, PointerType) and pointer.dtype.scope == "local":
            refuse(f"{row.name}() of memory that each thread has for itself", "write the update as an assignment")
        return call(row, pointer, *(_typed(pointer, value) for value in values))

    build.__name__ = build.__qualname__ = row.name
    build.__doc__ = (
        f"{row.doc}. Takes a pointer or an element, then {', '.join(item.name for item in row.operands[1:])}."
    )
    return build


def _is_pointer(place: Any) -> bool:
    return isinstance(place, Expr) and place.dtype.is_handle


def _typed(pointer: Expr, value: Any) -> Expr:
    """`value` in the type that the pointer points to."""
    pointee = pointer.dtype.pointee if isinstance(pointer.dtype, PointerType) else None
    if pointee is None:
        return as_expr(value)
    expr = as_expr(value, pointee) if isinstance(value, bool | int | float) else as_expr(value)
    if expr.dtype is not pointee and expr.dtype.is_float and not pointee.is_float:
        refuse(f"{an(expr.dtype)} value is added to {pointee} memory", f'convert it with Tx.cast(x, "{pointee}")')
    return cast(expr, pointee)


atomic_add, atomic_max, atomic_min, atomic_exch, atomic_cas = map(_function, ROWS)
