"""A loop whose body is long once the loops in it are unrolled is not unrolled, but for its stages.

before  for k in range(16): (two unrolled loops of 16 products each, of the tile `k % 2`)
after   for k in range(16, unroll=2): (the same)

The target's compiler decides about the outer loop while the inner ones still look short. Measured: it makes 3200
instructions of a product whose loop has 260, and needs more registers for them. With as many turns as there are stages,
which stage it is costs nothing: 20 registers fewer. An author's own wish stays. Needs: nothing.
"""

from __future__ import annotations

from math import lcm

from ..ir import FloorMod, For, IntImm, IRModule, PrimFunc, Seq, Stmt, rewrite, variables, walk
from .pipeline import Pass, PassContext

__all__ = ["keep_loops"]

LONGEST = 512  # statements that a compiler may make of one loop
MOST_STAGES = 4


def _turns(loop: For) -> int:
    """How often the body stands there when the loop is unrolled; 1 where only the running kernel knows."""
    extent, step = loop.extent, loop.step
    if not isinstance(extent, IntImm) or not isinstance(step, IntImm) or not step.value:
        return 1
    return max(-(-extent.value // step.value), 0)


def _length(stmt: Stmt) -> int:
    """How many statements this is, with each loop that is to be unrolled written out."""
    if isinstance(stmt, Seq):
        return sum(map(_length, stmt.stmts))
    if isinstance(stmt, For):
        return _length(stmt.body) * (_turns(stmt) if stmt.kind == "unrolled" else 1)
    return max(1, sum(_length(child) for child in stmt.children() if isinstance(child, Stmt)))


def _stages(loop: For) -> int:
    """After how many turns the stages repeat that the body computes from the loop's variable."""
    found = 1
    for node in walk(loop.body, FloorMod.BIT):
        if isinstance(node, FloorMod) and isinstance(node.b, IntImm) and node.b.value > 0:
            found = lcm(found, node.b.value if any(var is loop.var for var in variables(node.a)) else 1)
    return found


def _keep(loop: For) -> For | None:
    if loop.kind != "serial" or any(key == "unroll" for key, _ in loop.annotations):
        return None
    turns, length = _turns(loop), _length(loop.body)
    if turns < 2 or not loop.body.mask & For.BIT or turns * length <= LONGEST:
        return None
    stages = _stages(loop)
    worth = 1 < stages <= MOST_STAGES and turns % stages == 0 and stages * length <= LONGEST
    return loop.rebuild(annotations=(*loop.annotations, ("unroll", stages if worth else False)))


def _function(func: PrimFunc) -> PrimFunc:
    if func.attrs.get("role") != "device":
        return func
    return func.with_body(rewrite(func.body, {For: _keep}))


def _run(module: IRModule, context: PassContext) -> IRModule:
    return module.map(_function)


keep_loops = Pass("keep_loops", _run)
