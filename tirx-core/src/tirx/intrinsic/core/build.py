"""From rows to the functions that kernels call: `exp(x)` is the call of row `exp`."""

from __future__ import annotations

from ...ir import FLOAT32, Call, DType, Expr, as_expr, cast, current_span, unify
from ...support.errors import ScriptError
from ..call import call
from ..row import Intrinsic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = ["builtin", "by_dtype", "named_dtype", "refuse", "unified", "unify_all"]


def builtin(row: Intrinsic) -> Callable[..., Call]:
    """The function that builds calls of `row`."""

    def build(*args: Any, **attrs: Any) -> Call:
        return call(row, *args, **attrs)

    return _dressed(build, row)


def unified(row: Intrinsic) -> Callable[..., Call]:
    """As `builtin`, with all operands promoted to one type first: `pow(x, 2)`."""

    def build(*args: Any, **attrs: Any) -> Call:
        return call(row, *unify_all(args), **attrs)

    return _dressed(build, row)


def by_dtype(row: Intrinsic) -> Callable[..., Call]:
    """As `builtin`, for rows whose result type comes first: `reinterpret("float32", x)`; it is kept as attribute `dtype`."""

    def build(dtype: DType | str, *args: Any, **attrs: Any) -> Call:
        named = named_dtype(dtype, f'the type of the result comes first: {row.name}("float32", ...)')
        return call(row, *args, dtype=named, **attrs)

    return _dressed(build, row)


def _dressed(build: Any, row: Intrinsic) -> Callable[..., Call]:
    build.__name__ = build.__qualname__ = row.name
    build.__doc__ = f"{row.name}({', '.join(item.name for item in row.operands)}): {row.doc}"
    function: Callable[..., Call] = build
    return function


def named_dtype(dtype: Any, what: str = 'a dtype is written as text such as "float32"') -> str:
    """The canonical name of a dtype; `ScriptError` when there is none of that name."""
    try:
        return DType(dtype).name
    except ValueError as error:
        message, semicolon, near = str(error).partition("; ")
        refuse(message, near if semicolon else what)


def unify_all(args: Sequence[Any]) -> list[Expr]:
    """All operands as expressions of one type; Python numbers follow the others, or are float32 among themselves."""
    typed = [as_expr(arg) for arg in args if not isinstance(arg, bool | int | float)]
    if not typed:
        return [as_expr(float(arg), FLOAT32) for arg in args]
    common = typed[0]
    for item in typed[1:]:
        common = unify(common, item)[0]
    return [cast(unify(arg, common)[0], common.dtype) for arg in args]


def refuse(message: str, hint: str | None = None) -> NoReturn:
    """Raise `ScriptError` at the author's line."""
    raise ScriptError(message, span=current_span(), hint=hint)
