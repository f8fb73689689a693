"""Loops of one turn are no loops.

before  for i in range(1):
            Tx.nki.load(x[0:128, 0:64], A[i * 128 : i * 128 + 128, 0:64])
after   Tx.nki.load(x[0:128, 0:64], A[0:128, 0:64])
"""

from __future__ import annotations

from tirx.arith import simplify
from tirx.ir import For, IntImm, IRModule, PrimFunc, Stmt, rewrite, substitute
from tirx.transform.pipeline import Pass, PassContext

__all__ = ["single_turns"]


def _unrolled(node: For) -> Stmt | None:
    extent = simplify(node.extent)
    if isinstance(extent, IntImm) and extent.value == 1:
        return substitute(node.body, {node.var: node.start})
    return None


def _function(func: PrimFunc) -> PrimFunc:
    return func.with_body(rewrite(func.body, {For: _unrolled}))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without loops of one turn."""
    return module.map(_function)


single_turns = Pass("single_turns", run)
