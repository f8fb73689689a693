"""Keywords for the variant of a call: any plain value, expression, buffer or region, and lists and functions of them."""

from __future__ import annotations

from ..ir import Buffer, DType, Expr, IndexFunction, Scalar, StringImm, Tuple, as_expr, current_span
from ..support.errors import ScriptError
from ..support.words import an
from .functions import index_function

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["config_value"]


def config_value(what: str, key: str, value: Any) -> Expr:
    """`value` of keyword `key` as the call keeps it; lists become tuples, buffers whole regions."""
    if isinstance(value, Scalar):
        return as_expr(value)
    if isinstance(value, Buffer):
        return value.region()
    dtype = _element_type(value)
    if dtype is not None:
        return StringImm(str(dtype), span=current_span())
    if isinstance(value, list | tuple):
        return Tuple(tuple(config_value(what, key, item) for item in value), span=current_span())
    if callable(value) and not isinstance(value, Expr) and hasattr(value, "__code__"):
        return _function(what, key, value)
    try:
        return as_expr(value)
    except ScriptError:
        raise ScriptError(
            f"keyword `{key}` of {what} is {an(type(value).__name__)}",
            span=current_span(),
            hint="a keyword for a variant is a number, text, an expression, a buffer or region, a function, or a list of those",
        ) from None


def _element_type(value: Any) -> DType | None:
    """The type that is meant: `DType("float16")`, or `Tx.float16` of the language."""
    if isinstance(value, DType):
        return value
    found = None if isinstance(value, Expr) else getattr(value, "dtype", None)
    return found if isinstance(found, DType) and callable(value) else None


def _function(what: str, key: str, value: Any) -> IndexFunction:
    return index_function(what, key, value, value.__code__.co_argcount)
