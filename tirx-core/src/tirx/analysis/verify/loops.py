"""Loops: known kinds, steps that move, vector loops of a constant width."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import For, IntImm
from ...ir.stmt import LOOP_KINDS
from ...support.errors import Diagnostic
from ...support.suggest import did_you_mean
from .facts import Facts

__all__ = ["check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for loop in facts.all(For):
        if loop.kind not in LOOP_KINDS:
            yield Diagnostic(
                f"`{loop.kind}` is no kind of loop",
                loop.span,
                hint=did_you_mean(loop.kind, LOOP_KINDS) or f"there are {', '.join(LOOP_KINDS)}",
            )
        if isinstance(loop.step, IntImm) and loop.step.value == 0:
            yield Diagnostic(f"the loop over `{loop.var.name}` has step 0", loop.span)
        if loop.kind == "vectorized" and not isinstance(loop.extent, IntImm):
            yield Diagnostic(
                f"the vectorized loop over `{loop.var.name}` has no constant extent",
                loop.span,
                hint="split it: a serial loop around Tx.vectorized(4)",
            )
