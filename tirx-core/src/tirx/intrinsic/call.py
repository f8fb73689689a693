"""Building calls of intrinsics: operands are converted and checked where the author writes the call."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from ..ir import (
    FLOAT32,
    Buffer,
    BufferLoad,
    BufferRegion,
    Call,
    DType,
    Expr,
    Scalar,
    StringImm,
    active_builder,
    as_expr,
    call_attrs,
    current_span,
)
from ..ir.build import refuse_region
from ..support.errors import ScriptError
from ..support.suggest import did_you_mean
from ..support.words import an
from .row import Intrinsic, Operand

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["call", "enter", "guard_calls"]

_NUMBERS = (bool, int, float)
_FAMILIES = {
    "int": lambda d: d.is_int,
    "uint": lambda d: d.is_uint,
    "integer": lambda d: d.is_integer,
    "float": lambda d: d.is_float,
    "number": lambda d: d.is_integer or d.is_float,
    "bool": lambda d: d.is_bool,
}


_guard: ContextVar[Callable[[Call], None] | None] = ContextVar("tirx_call_guard", default=None)


def guard_calls(check: Callable[[Call], None]) -> Callable[[], None]:
    """Have `check` look at each call that a kernel makes, and raise where it may not stand; call the result to go back."""
    token = _guard.set(check)
    return lambda: _guard.reset(token)


def call(row: Intrinsic, *args: Any, **attrs: Any) -> Call:
    """The call of `row` with `args`; `ScriptError` names the operand that does not fit and what would."""
    values = [_operand(row, operand, value) for operand, value in zip(_operands(row, len(args)), args, strict=True)]
    fixed = row.operands[:-1] if row.variadic else row.operands
    values += [as_expr(operand.default) for operand in fixed[len(args) :]]
    unknown = next((name for name in attrs if name not in row.attrs), None)
    if unknown is not None:
        _refuse(f"{row.name} has no keyword `{unknown}`", did_you_mean(unknown, row.attrs) or _known(row))
    full = {**row.attrs, **attrs}
    return enter(Call(_result(row, values, full), row, tuple(values), call_attrs(full), span=current_span()))


def enter(made: Call) -> Call:
    """A call that was built of checked operands becomes part of the kernel that is being built, if there is one."""
    builder = active_builder()
    if builder is None:
        return made
    guard = _guard.get()
    if guard is not None:
        guard(made)
    if not made.op.effect.is_silent:  # type: ignore[attr-defined]  # calls of rows
        builder.note(made)
    return made


def _known(row: Intrinsic) -> str:
    return f"its keywords are {', '.join(row.attrs)}" if row.attrs else "it takes no keywords"


def _operands(row: Intrinsic, count: int) -> list[Operand]:
    """The operand that each of `count` arguments is for."""
    listed = list(row.operands)
    least = sum(1 for item in listed if item.default is Operand.REQUIRED)
    if row.variadic:
        least -= 1
        listed += [listed[-1]] * (count - len(listed))
    if count < least or count > len(listed):
        names = ", ".join(item.name for item in row.operands) + (", ..." if row.variadic else "")
        _refuse(f"{row.name} takes ({names}), and is called with {count} argument{'s' if count != 1 else ''}", None)
    return listed[:count]


def _operand(row: Intrinsic, operand: Operand, value: Any) -> Expr:
    expr = _converted(row, operand, value)
    dtype = expr.dtype
    if operand.dtypes and not any(_fits(name, dtype) for name in operand.dtypes):
        _refuse(
            f"operand `{operand.name}` of {row.name} is of type {dtype}",
            f"it takes {' or '.join(operand.dtypes)}; cast it with Tx.cast(x, dtype)",
        )
    if operand.lanes and dtype.lanes not in operand.lanes:
        _refuse(
            f"operand `{operand.name}` of {row.name} has {dtype.lanes} lanes, not {' or '.join(map(str, operand.lanes))}",
            None,
        )
    scope = _scope(expr)
    if operand.scope and scope and scope not in operand.scope:
        _refuse(f"operand `{operand.name}` of {row.name} is in {scope} memory, not {' or '.join(operand.scope)}", None)
    return expr


def _converted(row: Intrinsic, operand: Operand, value: Any) -> Expr:
    if operand.kind == "region" and isinstance(value, Buffer | Scalar):
        return (value.buffer if isinstance(value, Scalar) else value).region()
    if operand.kind == "pointer" and isinstance(value, Buffer):
        return value.data
    if operand.kind == "text" and not isinstance(value, str | StringImm):
        _refuse(f"operand `{operand.name}` of {row.name} is text, not {type(value).__name__}", None)
    expr = as_expr(value, _literal_dtype(operand, value)) if isinstance(value, _NUMBERS) else as_expr(value)
    if operand.kind in ("value", "constant") and isinstance(expr, BufferRegion):
        refuse_region(expr)
    if operand.kind in ("place", "output") and not isinstance(expr, BufferLoad):
        _refuse(f"operand `{operand.name}` of {row.name} is written: give a scalar or a buffer element", None)
    if operand.kind == "pointer" and not expr.dtype.is_handle:
        _refuse(
            f"operand `{operand.name}` of {row.name} is a pointer, not {an(expr.dtype)} value",
            "take an address with buffer.ptr_to([i, j]) or Tx.address_of(buffer[i, j])",
        )
    return expr


def _literal_dtype(operand: Operand, value: bool | int | float) -> DType | None:
    """The type that a Python number gets: the first concrete type that the operand lists, float32 where it takes floats only."""
    names = [name for name in operand.dtypes if name not in _FAMILIES]
    if operand.kind not in ("value", "constant"):
        return None
    if names:
        return DType(names[0])
    return FLOAT32 if set(operand.dtypes) == {"float"} and not isinstance(value, bool) else None


def _fits(name: str, dtype: DType) -> bool:
    family = _FAMILIES.get(name)
    return family(dtype) if family is not None else dtype.element is DType(name).element


def _scope(expr: Expr) -> str:
    if isinstance(expr, BufferLoad | BufferRegion):
        return expr.buffer.scope_name
    return getattr(expr.dtype, "scope", "") if expr.dtype.is_handle else ""


def _result(row: Intrinsic, args: list[Expr], attrs: dict[str, Any]) -> DType:
    rule = row.result
    if callable(rule):
        return rule(args, attrs)
    if rule == "same":
        return args[0].dtype
    if rule.startswith("arg:"):
        position = [operand.name for operand in row.operands].index(rule[4:])
        return args[position].dtype
    return DType(rule)


def _refuse(message: str, hint: str | None) -> None:
    raise ScriptError(message, span=current_span(), hint=hint)
