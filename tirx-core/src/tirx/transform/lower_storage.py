"""Storage that several threads share is allocated once, at the start of the kernel.

before  for i in range(4):
            tile = Tx.alloc_shared((64,)); ...
after   tile = Tx.alloc_shared((64,))
        for i in range(4): ...

Storage of one thread stays where the author put it. Needs: layouts lowered.
"""

from __future__ import annotations

from ..backend import find
from ..ir import Alloc, Attr, Decl, IRModule, PrimFunc, Stmt, rewrite, seq
from ..target import ScopeModel
from .mark_kernels import ENTRY
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["is_shared", "lower_storage"]


def is_shared(scope: str, model: ScopeModel) -> bool:
    """Whether several threads see one allocation in this memory."""
    row = find("storage_scopes", scope)
    return row is not None and bool(model) and row.owner_level not in ("", model.names[-1])


def _hoisted(entry: Attr, model: ScopeModel) -> Attr:
    shared: list[Stmt] = []
    moved: set[int] = set()

    def alloc(node: Alloc) -> Any:
        if not is_shared(node.buffer.scope_name, model):
            return None
        shared.append(node)
        moved.add(id(node.buffer.data))
        return []

    def decl(node: Decl) -> Any:
        if node.source is not None or id(node.buffer.data) not in moved:
            return None
        shared.append(node)
        return []

    body = rewrite(entry.body, {Alloc: alloc, Decl: decl})
    return entry.rebuild(body=_below_attributes(body, shared)) if shared else entry


def _below_attributes(body: Stmt, stmts: list[Stmt]) -> Stmt:
    """`stmts` first inside the attributes that enclose a whole kernel."""
    if isinstance(body, Attr):
        return body.rebuild(body=_below_attributes(body.body, stmts))
    return seq([*stmts, body])


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with shared storage at the start of its kernels."""
    return module.map(lambda func: _function(func, context))


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    model = func.attrs.get("target", context.target).scope_model(func.attrs)
    return func.with_body(
        rewrite(func.body, {}, enter={Attr: lambda node: _hoisted(node, model) if node.key == ENTRY else None})
    )


lower_storage = Pass("lower_storage", run, requires=("layouts_lowered",), ensures=("storage_lowered",))
