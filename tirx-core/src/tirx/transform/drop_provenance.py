"""Accesses forget the logical indices that their author wrote: checks and messages are behind us, and source is ahead.

before  A[i * 64 + j]        (source A2 of shape (32, 64), coords (i, j))
after   A[i * 64 + j]

Needs: nothing.
"""

from __future__ import annotations

from ..ir import BufferLoad, BufferStore, IRModule, Node, rewrite
from ..ir.visit import Rule
from .pipeline import Pass, PassContext

__all__ = ["drop_provenance"]


def _load(node: BufferLoad) -> BufferLoad | None:
    return BufferLoad(node.buffer, node.indices, span=node.span) if node.source is not None else None


def _store(node: BufferStore) -> BufferStore | None:
    return BufferStore(node.buffer, node.value, node.indices, span=node.span) if node.source is not None else None


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without provenance."""
    rules: dict[type[Node], Rule] = {BufferLoad: _load, BufferStore: _store}
    return module.map(lambda func: func.with_body(rewrite(func.body, rules)))


drop_provenance = Pass("drop_provenance", run)
