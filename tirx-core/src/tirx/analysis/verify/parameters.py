"""Parameters: every symbolic dimension can be read off an argument."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Var
from ...support.errors import Diagnostic
from .facts import Facts

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    func = facts.func
    plain = {
        id(item)
        for buffer in func.buffers()
        for item in (*buffer.shape, *buffer.strides, buffer.elem_offset)
        if isinstance(item, Var)
    }
    for var in func.symbols():
        if id(var) not in plain:
            yield Diagnostic(
                f"the dimension `{var.name}` of `{func.name}` stands only in larger expressions: no argument gives it",
                var.span or func.span,
                hint=f"make `{var.name}` a dimension of its own somewhere, or a parameter",
            )
