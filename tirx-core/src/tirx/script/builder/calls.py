"""Calling one function from another: `helper(A, i)` inside a kernel is a call of `helper` in the same module."""

from __future__ import annotations

from ...ir import VOID, Buffer, Call, Expr, GlobalVar, PointerType, Scalar, active_builder, as_expr, current_span, late
from ...ir.build import cast
from ...ir.convert import is_lossless
from ...support.words import an
from .state import builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...ir import Param, PrimFunc

__all__ = ["call_function", "call_prim_func"]


def call_function(func: PrimFunc, args: Sequence[Any]) -> Any:
    """`func(*args)`: inside a kernel a call of it, outside compile for the current target and run."""
    if active_builder() is not None:
        return call_prim_func(func, args)
    return late("run_function")(func, args)


def call_prim_func(func: PrimFunc, args: Sequence[Any]) -> Expr:
    """The call of `func`, which the module of the function that is being built will hold too."""
    owner = builder(f"the call of {func.name}()")
    if len(args) != len(func.params):
        names = ", ".join(func.names)
        refuse(f"{func.name}({names}) is called with {len(args)} argument{'s' if len(args) != 1 else ''}")
    known = owner.function.callees.setdefault(func.name, func)
    if known is not func:
        refuse(f"two functions named `{func.name}` are called", "give one of them another name")
    result = None if func.result is VOID else func.result
    values = tuple(_argument(func, name, *pair) for name, *pair in zip(func.names, func.params, args, strict=True))
    made = Call(func.result, GlobalVar(func.name, result), values, span=current_span())
    owner.note(made)
    return made


def _argument(func: PrimFunc, name: str, param: Param, value: Any) -> Expr:
    """A buffer goes as its pointer; a number in the parameter's type where nothing is lost."""
    wanted = param.data.dtype if isinstance(param, Buffer) else param.dtype
    if wanted.is_handle:
        return _pointer(func, name, wanted, value)
    number = isinstance(value, bool | int | float)
    expr = as_expr(value, wanted) if number else as_expr(value)
    if expr.dtype is not wanted and not is_lossless(expr.dtype, wanted):
        refuse(
            f"`{name}` of {func.name}() is {an(wanted)}, and gets {an(expr.dtype)}",
            f'convert it: Tx.cast(x, "{wanted}")',
        )
    return cast(expr, wanted)


def _pointer(func: PrimFunc, name: str, wanted: Any, value: Any) -> Expr:
    if isinstance(value, Scalar):
        value = value.buffer
    expr = value.data if isinstance(value, Buffer) else as_expr(value)
    if not expr.dtype.is_handle:
        refuse(f"`{name}` of {func.name}() is a pointer, and gets {an(expr.dtype)}", "give a buffer or an address")
    given = expr.dtype.pointee if isinstance(expr.dtype, PointerType) else None
    if given is not None and wanted.pointee is not None and given is not wanted.pointee:
        refuse(f"`{name}` of {func.name}() points to {wanted.pointee}, and gets a pointer to {given}")
    return expr
