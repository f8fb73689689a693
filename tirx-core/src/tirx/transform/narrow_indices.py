"""Index arithmetic in 64 bits becomes 32 bits where all values provably fit.

before  A[Tx.int64(i) * 64 + Tx.int64(j)]            (i in 0..127, j in 0..63)
after   A[i * 64 + j]

Only what is proven is narrowed: each part of an index must fit, under the ranges of loops, launch axes and
conditions. Needs: layouts lowered.
"""

from __future__ import annotations

from ..ir import (
    INT32,
    INT64,
    Add,
    BufferLoad,
    BufferStore,
    Cast,
    Expr,
    FloorDiv,
    FloorMod,
    IntImm,
    IRModule,
    Max,
    Min,
    Mul,
    PrimFunc,
    Stmt,
    Sub,
    Var,
    cast,
    const,
    mask_of,
    rewrite,
    walk,
)  # fmt: skip
from .pipeline import Pass, PassContext
from .ranged import Ranged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["narrow_indices"]

_EXACT = (Add, Sub, Mul, FloorDiv, FloorMod, Min, Max)


class _Narrowing(Ranged):
    """One function."""

    def expression(self, expr: Expr) -> Expr:
        return rewrite(expr, {BufferLoad: self._load}) if expr.has(BufferLoad) else expr

    def statement(self, stmt: Stmt) -> Stmt | list[Stmt]:
        made = super().statement(stmt)
        if isinstance(made, BufferStore):
            index = self._index(made.indices[0])
            return made if index is made.indices[0] else made.rebuild(indices=(index,))
        return made

    def _load(self, node: BufferLoad) -> Any:
        index = self._index(node.indices[0])
        return None if index is node.indices[0] else node.rebuild(indices=(index,))

    def _index(self, index: Expr) -> Expr:
        if index.dtype is not INT64:
            return index
        made = self._narrow(index)
        return index if made is None else made

    def _narrow(self, expr: Expr) -> Expr | None:
        """The same value in 32 bits, or None when some part may not fit."""
        if not self.analyzer.bounds(expr).within(INT32.min_int, INT32.max_int):
            return None
        if isinstance(expr, IntImm):
            return const(expr.value, INT32)
        if isinstance(expr, Cast) and expr.value.dtype is INT32:
            return expr.value
        if isinstance(expr, _EXACT):
            a, b = self._narrow(expr.a), self._narrow(expr.b)
            return None if a is None or b is None else type(expr)(a, b, span=expr.span)
        return cast(expr, INT32) if isinstance(expr, Var | Cast) else None


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with narrower indices; unchanged when configuration says `narrow_indices=False`."""
    return module.map(_function) if context.config["narrow_indices"] else module


def _has_wide_indices(func: PrimFunc) -> bool:
    accesses = walk(func.body, mask_of(BufferLoad, BufferStore))
    return any(node.indices[0].dtype is INT64 for node in accesses if isinstance(node, BufferLoad | BufferStore))


def _function(func: PrimFunc) -> PrimFunc:
    return (
        func
        if func.attrs.get("role") == "host" or not _has_wide_indices(func)
        else func.with_body(_Narrowing(func).body(func.body))
    )


narrow_indices = Pass("narrow_indices", run, requires=("layouts_lowered",))
