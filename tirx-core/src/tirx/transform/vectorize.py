"""Vectorized loops become operations on vectors.

before  for v in Tx.vectorized(4):
            B[i * 4 + v] = A[i * 4 + v] * s
after   B[Tx.ramp(i * 4, 1, 4)] = A[Tx.ramp(i * 4, 1, 4)] * Tx.broadcast(s, 4)

A loop whose accesses are wider than the target's vectors is split. A loop that has no vector form runs lane by lane,
as an unrolled loop with the reason in its annotations (`scalar`): accesses with gaps or without provable alignment, a
store to one place in all lanes, branches on a lane, calls with effects. Needs: layouts lowered.
"""

from __future__ import annotations

from ..ir import For, IntImm, IRModule, PrimFunc, Stmt, Var, const, mask_of, walk
from .pipeline import Pass, PassContext
from .ranged import Ranged
from .vector_form import NoVectorForm, VectorForm, widest_access

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["vectorize"]


class _Vectorizer(Ranged):
    """One function."""

    def __init__(self, func: PrimFunc, vector_bytes: int) -> None:
        super().__init__(func)
        self.vector_bytes = vector_bytes

    def loop(self, loop: For) -> Stmt | list[Stmt]:
        if loop.kind != "vectorized":
            return super().loop(loop)
        try:
            return self._vectors(loop)
        except NoVectorForm as reason:
            made = loop.rebuild(kind="unrolled", annotations=(*loop.annotations, ("scalar", str(reason))))
            return super().loop(made)

    def _vectors(self, loop: For) -> Stmt:
        count = _trips(loop)
        lanes = self._lanes(loop, count)
        if lanes == count:
            return self._vector(loop, loop.start, lanes)
        outer = Var(f"{loop.var.name}_vector", loop.var.dtype, span=loop.span)
        trips = const(count // lanes, loop.var.dtype)
        known = self.enter()
        self.learn_loop(outer, const(0, outer.dtype), trips, const(1, outer.dtype))
        body = self._vector(loop, self.analyzer.simplify(loop.start + outer * (loop.step * lanes)), lanes)
        self.analyzer = known
        zero, one = const(0, outer.dtype), const(1, outer.dtype)
        return For(outer, zero, trips, one, "unrolled", body, loop.annotations, span=loop.span)

    def _lanes(self, loop: For, count: int) -> int:
        """Lanes of one vector: as many as the widest element type allows, dividing the loop."""
        most = max(1, 8 * self.vector_bytes // widest_access(loop.body))
        lanes = next((n for n in (64, 32, 16, 8, 4, 2) if n <= most and count % n == 0), 1)
        if lanes == 1:
            raise NoVectorForm(f"{count} lanes do not divide into vectors of the target")
        return lanes

    def _vector(self, loop: For, start: Any, lanes: int) -> Stmt:
        return VectorForm(loop.var, start, loop.step, lanes, self.analyzer).statement(loop.body)


def _trips(loop: For) -> int:
    """Iterations of a loop with constant bounds."""
    if not (isinstance(loop.extent, IntImm) and isinstance(loop.step, IntImm) and loop.step.value > 0):
        raise NoVectorForm("its extent is no constant")
    count = -(-loop.extent.value // loop.step.value)
    if count < 2:
        raise NoVectorForm("it has less than two lanes")
    return count


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without vectorized loops."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    if not any(isinstance(node, For) and node.kind == "vectorized" for node in walk(func.body, mask_of(For))):
        return func
    target = func.attrs.get("target", context.target)
    return func.with_body(_Vectorizer(func, target.limits.get("vector_bytes", 16)).body(func.body))


vectorize = Pass("vectorize", run, requires=("layouts_lowered",), ensures=("vectorized",))
