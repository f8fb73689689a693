"""A kernel that is written with bound loops alone starts at the outermost of them.

before  for bx in Tx.thread_binding(4, thread="cta.x"): ...
after   with Tx.attr({"tirx.device_entry": True}):
            for bx in Tx.thread_binding(4, thread="cta.x"): ...

Functions with a `device_entry()` keep it. Needs: nothing.
"""

from __future__ import annotations

from ..ir import Attr, For, IRModule, PrimFunc, const, mask_of, rewrite, walk
from .pipeline import Pass, PassContext

__all__ = ["ENTRY", "mark_kernels"]

ENTRY = "tirx.device_entry"


def _entered(loop: For) -> Attr | None:
    return Attr(ENTRY, const(True), loop, span=loop.span) if loop.kind == "thread_binding" else None


def _function(func: PrimFunc) -> PrimFunc:
    nodes = walk(func.body, mask_of(Attr, For))
    if any(isinstance(node, Attr) and node.key == ENTRY for node in nodes):
        return func
    return func.with_body(rewrite(func.body, {}, enter={For: _entered}))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with a kernel part in every function that has bound loops."""
    return module.map(_function)


mark_kernels = Pass("mark_kernels", run)
