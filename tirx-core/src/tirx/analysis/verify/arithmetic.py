"""Operations on integers that no value makes right: divisions by a constant zero, shifts past the width."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Binary, Broadcast, Div, FloorDiv, FloorMod, IntImm, LShift, Mod, RShift
from ...support.errors import Diagnostic
from ...support.words import an
from .facts import Facts

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for node in facts.all(Div, FloorDiv, FloorMod, Mod):
        if _constant(node) == 0:
            yield Diagnostic("division by the constant zero", node.span)
    for node in facts.all(LShift, RShift):
        by, dtype = _constant(node), node.a.dtype.element
        if by is not None and not 0 <= by < dtype.bits:
            yield Diagnostic(f"shift of {an(dtype)} by {by}", node.span, hint=f"shift by 0 to {dtype.bits - 1}")


def _constant(node: Binary) -> int | None:
    """The right operand, where it is a constant integer."""
    right = node.b.value if isinstance(node.b, Broadcast) else node.b
    return right.value if isinstance(right, IntImm) else None
