"""Calling one function from another: `helper(A, i)` inside a kernel is a call of `helper` in the same module."""

from __future__ import annotations

from ...ir import (
    FLOAT32,
    INT32,
    VOID,
    Buffer,
    Call,
    Expr,
    FloatImm,
    GlobalVar,
    IntImm,
    PointerType,
    Scalar,
    active_builder,
    as_expr,
    current_span,
    late,
)  # fmt: skip
from ...ir.build import cast
from ...ir.convert import is_lossless
from ...support.words import an
from .state import builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ...ir import DType, Param, PrimFunc
    from ...support.span import Span

__all__ = ["call_function", "call_later", "call_prim_func", "matched"]


def call_function(func: PrimFunc, args: Sequence[Any]) -> Any:
    """`func(*args)`: inside a kernel a call of it, outside compile for the current target and run."""
    if active_builder() is not None:
        return call_prim_func(func, args)
    return late("run_function")(func, args)


def call_prim_func(func: PrimFunc, args: Sequence[Any]) -> Expr:
    """The call of `func`, which the module of the function that is being built will hold too."""
    owner = builder(f"the call of {func.name}()")
    known = owner.function.callees.setdefault(func.name, func)
    if known is not func:
        refuse(f"two functions named `{func.name}` are called", "give one of them another name")
    result = None if func.result is VOID else func.result
    span = current_span()
    made = Call(func.result, GlobalVar(func.name, result), _arguments(func, args, span), span=span)
    owner.note(made)
    return made


def call_later(name: str, result: DType, args: Sequence[Any]) -> Expr:
    """The call of a function that is not built yet; `matched` gives its arguments their types."""
    owner = builder(f"the call of {name}()")
    if name == owner.function.name:
        refuse(
            f"`{name}` calls itself",
            "kernels have no recursion: write a loop, or @Tx.inline with a condition of Python",
        )
    values = tuple(item.data if isinstance(item, Buffer) else as_expr(item) for item in args)
    made = Call(result, GlobalVar(name, None if result is VOID else result), values, span=current_span())
    owner.note(made)
    return made


def matched(func: PrimFunc, call: Call) -> Call:
    """A call from `call_later`, now that `func` is there."""
    types = [param.dtype for param in func.params]
    args = map(_number, call.args, types) if len(types) == len(call.args) else call.args
    return call.rebuild(args=_arguments(func, tuple(args), call.span))


def _number(value: Expr, wanted: DType) -> Any:
    """A constant as the number that the author wrote, where the parameter can take it."""
    fits = isinstance(value, IntImm) and value.dtype is INT32 and not wanted.is_bool
    fits = fits or (isinstance(value, FloatImm) and value.dtype is FLOAT32 and wanted.is_float)
    return value.value if fits and isinstance(value, IntImm | FloatImm) else value


def _arguments(func: PrimFunc, args: Sequence[Any], span: Span | None) -> tuple[Expr, ...]:
    if len(args) != len(func.params):
        names = ", ".join(func.names)
        refuse(f"{func.name}({names}) is called with {len(args)} argument{'s' if len(args) != 1 else ''}", span=span)
    given = zip(func.names, func.params, args, strict=True)
    return tuple(_argument(func, name, param, value, span) for name, param, value in given)


def _argument(func: PrimFunc, name: str, param: Param, value: Any, span: Span | None) -> Expr:
    """A buffer goes as its pointer; a number in the parameter's type where nothing is lost."""
    wanted = param.data.dtype if isinstance(param, Buffer) else param.dtype
    if wanted.is_handle:
        return _pointer(func, name, wanted, value, span)
    number = isinstance(value, bool | int | float)
    expr = as_expr(value, wanted) if number else as_expr(value)
    if expr.dtype is not wanted and not is_lossless(expr.dtype, wanted):
        refuse(
            f"`{name}` of {func.name}() is {an(wanted)}, and gets {an(expr.dtype)}",
            f'convert it: Tx.cast(x, "{wanted}")',
            span,
        )
    return cast(expr, wanted)


def _pointer(func: PrimFunc, name: str, wanted: Any, value: Any, span: Span | None) -> Expr:
    if isinstance(value, Scalar):
        value = value.buffer
    expr = value.data if isinstance(value, Buffer) else as_expr(value)
    if not expr.dtype.is_handle:
        refuse(
            f"`{name}` of {func.name}() is a pointer, and gets {an(expr.dtype)}", "give a buffer or an address", span
        )
    given = expr.dtype.pointee if isinstance(expr.dtype, PointerType) else None
    if given is not None and wanted.pointee is not None and given is not wanted.pointee:
        refuse(f"`{name}` of {func.name}() points to {wanted.pointee}, and gets a pointer to {given}", span=span)
    return expr
