"""What `return` of a kernel or device function gives."""

from __future__ import annotations

from ....ir import VOID, Expr, as_expr, const
from ....ir.build import cast
from ....ir.convert import is_lossless
from ....support.words import an
from ...builder.attributes import AttrFrame
from ...builder.state import builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["in_device", "returned"]


def in_device() -> bool:
    """Whether `Tx.device_entry()` was called in the function that is being built."""
    return any(isinstance(item, AttrFrame) and item.has("tirx.device_entry") for item in builder().stack[0].stmts)


def returned(value: Any) -> Expr:
    """The value as the function's result type, which the first `return` decides when the author gave none."""
    function = builder("return").function
    if isinstance(value, bool | int | float) and function.result is not VOID:
        return const(value, function.result)
    expr = as_expr(value)
    if function.result is VOID:
        function.result = expr.dtype
    if expr.dtype is function.result or (expr.dtype.is_handle and function.result.is_handle):
        return expr
    if not is_lossless(expr.dtype.element, function.result.element):
        refuse(
            f"{an(expr.dtype)} is returned from a function whose result is {function.result}",
            f'convert it: Tx.cast(value, "{function.result}")',
        )
    return cast(expr, function.result)
