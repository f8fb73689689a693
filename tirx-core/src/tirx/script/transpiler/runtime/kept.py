"""Values of one assignment to several targets: `a, b = b, a` and `x[i] = last = x[i] + 1` mean what they mean in Python.

A kernel value is an expression, evaluated where it is stored. One that reads what an earlier target writes is put into a variable first.
"""

from __future__ import annotations

from collections.abc import Iterable

from ....ir import Buffer, BufferLoad, BufferRegion, Expr, Scalar, as_expr, walk
from ...assign import UNBOUND, is_kernel_value, new_scalar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["kept"]


def kept(value: Any, written: Iterable[Any]) -> Any:
    """`value`, or a variable that holds it where it reads memory of something in `written` (None: who knows)."""
    if not is_kernel_value(value) or isinstance(value, BufferRegion):
        return value
    stored = [item.buffer if isinstance(item, Scalar) else item for item in written if item is not UNBOUND]
    if not any(isinstance(item, Buffer) or item is None for item in stored):
        return value
    expr = as_expr(value)
    if expr.dtype.is_handle or not any(_reads(expr, item) for item in stored):
        return value
    return new_scalar("kept", expr.dtype, expr)


def _reads(expr: Expr, stored: Buffer | None) -> bool:
    """Whether an expression reads memory of a buffer; of an unknown one, whether it reads any."""
    loads = (node.buffer for node in walk(expr) if isinstance(node, BufferLoad))
    return any(stored is None or buffer.data is stored.data for buffer in loads)
