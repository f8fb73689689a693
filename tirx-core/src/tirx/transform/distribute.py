"""Indices become sums of products, so that the target's compiler sees which parts are constant and which repeat.

before  tile[(warp * 8 + r) * 65 + d]
after   tile[warp * 520 + r * 65 + d]

Measured: in unrolled loops the constant part goes into the instruction, and the rest is computed once. Only 32-bit and
64-bit signed indices; a sum that gets longer is still a sum of the author's variables. Needs: layouts lowered.
"""

from __future__ import annotations

from ..arith.linear import linear_of
from ..ir import Add, BufferLoad, BufferStore, Expr, IRModule, Mul, PrimFunc, Sub, rewrite
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["distribute"]

_SUMS = (Add, Sub)


def _distributed(index: Expr) -> Expr:
    """`index` without products of sums; itself when it has none."""
    if not index.dtype.is_int or index.dtype.lanes != 1 or not _has_product_of_sum(index):
        return index
    form = linear_of(index)
    form.recombine()
    return form.to_expr(index.dtype)


def _has_product_of_sum(index: Expr) -> bool:
    stack = [index]
    while stack:
        node = stack.pop()
        if isinstance(node, _SUMS):
            stack += [node.a, node.b]
        elif isinstance(node, Mul) and (isinstance(node.a, _SUMS) or isinstance(node.b, _SUMS)):
            return True
    return False


def _access(node: Any) -> Any:
    made = tuple(map(_distributed, node.indices))
    return None if all(a is b for a, b in zip(made, node.indices, strict=True)) else node.rebuild(indices=made)


def _function(func: PrimFunc) -> PrimFunc:
    if func.attrs.get("role") != "device":
        return func
    return func.with_body(rewrite(func.body, {BufferLoad: _access, BufferStore: _access}))


def _run(module: IRModule, context: PassContext) -> IRModule:
    return module.map(_function)


distribute = Pass("distribute", _run, requires=("layouts_lowered",))
