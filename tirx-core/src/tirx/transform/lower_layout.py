"""Buffers become flat: shapes, strides, offsets and layouts turn into one index.

before  A: Tx.Buffer((64, 32), "float32");  B = A.view(2048)
        B[i] = A[i // 32, i % 32] + 1.0
after   A[i] = A[i // 32 * 32 + i % 32] + 1.0         (`A` flat, 2048 elements)

A flattened access keeps the buffer and the indices that the author wrote (`source`, `coords`). Views of one storage
with one element type share one flat buffer; a `Decl` remains only where storage is seen with another type, or comes
from a pointer. Parameters of the function itself keep their shapes, for the checks of a call. Needs: scope ids
lowered.
"""

from __future__ import annotations

from typing import Any

from ..ir import (
    Alloc,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Decl,
    IntImm,
    IRModule,
    PrimFunc,
    Stmt,
    rewrite,
)  # fmt: skip
from ..support.errors import VerifyError
from .flat import FlatBuffers, flat_index
from .pipeline import Pass, PassContext

__all__ = ["lower_layout"]


class _Flattening:
    """Rules that make the accesses of one function flat."""

    def __init__(self, func: PrimFunc) -> None:
        self.flat = FlatBuffers()
        for buffer in func.buffers():
            self.flat.root(buffer)

    def rules(self) -> dict[Any, Any]:
        return {
            BufferLoad: self.load, BufferStore: self.store, BufferRegion: self.region, Alloc: self.alloc, Decl:
            self.decl,
        }  # fmt: skip

    def load(self, node: BufferLoad) -> BufferLoad | None:
        old = node.buffer
        if old.is_flat():
            return None
        index = flat_index(old, node.indices, node.span)
        return BufferLoad(self.flat.of(old), (index,), old, node.indices, span=node.span)

    def store(self, node: BufferStore) -> BufferStore | None:
        old = node.buffer
        if old.is_flat():
            return None
        index = flat_index(old, node.indices, node.span)
        return BufferStore(self.flat.of(old), node.value, (index,), old, node.indices, span=node.span)

    def region(self, node: BufferRegion) -> BufferRegion | None:
        """A region stays one where it is contiguous."""
        old = node.buffer
        if old.is_flat():
            return None
        size = _contiguous(old, node)
        if size is None:
            raise VerifyError(
                f"a part of `{old.name}` that does not lie in one piece is passed on",
                span=node.span,
                hint="pass whole rows, or an element's address with ptr_to",
            )
        start = flat_index(old, node.starts, node.span)
        return BufferRegion(self.flat.of(old), (start,), (size,), span=node.span)

    def alloc(self, node: Alloc) -> Alloc | None:
        return None if node.buffer.is_flat() else node.rebuild(buffer=self.flat.root(node.buffer))

    def decl(self, node: Decl) -> Any:
        """A view of known storage needs no statement; a pointer given a shape does."""
        buffer = node.buffer
        if buffer.is_flat():
            return None
        if node.source is None and self.flat.has_root(buffer):
            return []
        return node.rebuild(buffer=self.flat.root(buffer))

    def with_retyped(self, node: Alloc | Decl) -> list[Stmt] | None:
        """After an allocation, its storage under other element types."""
        others = self.flat.retyped.pop(id(node.buffer.data), ())
        return [node, *(Decl(other, span=node.span) for other in others)] if others else None


def _contiguous(buffer: Buffer, node: BufferRegion) -> Any:
    """Elements of a region that is one run of storage, or None."""
    if buffer.strides or not buffer.has_default_layout:
        return None
    total: Any = 1
    partial = False
    for extent, size in zip(reversed(node.extents), reversed(buffer.shape), strict=True):
        one = isinstance(extent, IntImm) and extent.value == 1
        if partial and not one:
            return None
        whole = isinstance(extent, IntImm) and isinstance(size, int) and extent.value == size
        partial = partial or not (whole or extent is size)
        total = total * extent
    return total


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with flat accesses in its kernels; the host's part keeps its buffers."""
    return module.map(_function)


def _function(func: PrimFunc) -> PrimFunc:
    work = _Flattening(func)
    body = rewrite(func.body, work.rules())
    if work.flat.retyped:
        body = rewrite(body, {Alloc: work.with_retyped, Decl: work.with_retyped})
    return func.with_body(body)


lower_layout = Pass("lower_layout", run, requires=("scope_ids_lowered",), ensures=("layouts_lowered",))
