"""Buffers become flat: shapes, strides, offsets and layouts turn into one index.

before  A: Tx.Buffer((64, 32), "float32");  B = A.view(2048)
        B[i] = A[i // 32, i % 32] + 1.0
after   A[i] = A[i // 32 * 32 + i % 32] + 1.0         (`A` flat, 2048 elements)

Layouts say where elements lie: with gaps, swizzled, in any order; storage is as large as they reach (of tiles spread over
threads: as the part of one thread, which is accessed through `B.local()`).

        S: Tx.alloc_shared((64, 64), layout=Tx.ComposeLayout(3, 3, 3, Tx.TileLayout(Tx.S[64, 64])));  S[i, k * 8] = 0
after   S[i * 64 + k * 8 ^ (i * 64 + k * 8 & 448) >> 3] = 0       (simplified: S[i * 64 + (k ^ i & 7) * 8])

A flattened access keeps the buffer and the indices that the author wrote (`source`, `coords`). Views of one storage
with one element type share one flat buffer; a `Decl` remains only where storage is seen with another type, or comes
from a pointer. Parameters of the function itself keep their shapes, for the checks of a call. Needs: scope ids
lowered.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..arith import simplify
from ..ir import (
    INT32,
    INT64,
    Alloc,
    Assert,
    Attr,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Decl,
    Expr,
    IntImm,
    IRModule,
    PrimFunc,
    Stmt,
    StringImm,
    cast,
    const,
    mask_of,
    rewrite,
    seq,
    walk,
)  # fmt: skip
from ..support.errors import VerifyError
from ..target.placing import is_unreached
from .flat import FlatBuffers, flat_index, is_lowered
from .launch import DYNAMIC_BYTES
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["lower_layout"]


class _Flattening:
    """Rules that make the accesses of one function flat."""

    def __init__(self, func: PrimFunc) -> None:
        self.flat = FlatBuffers()
        self.dynamic_bytes = _dynamic_bytes(func)
        for buffer in func.buffers():
            self.flat.root(buffer)

    def rules(self) -> dict[Any, Any]:
        return {
            BufferLoad: self.load, BufferStore: self.store, BufferRegion: self.region, Alloc: self.alloc, Decl:
            self.decl,
        }  # fmt: skip

    def load(self, node: BufferLoad) -> BufferLoad | None:
        old = node.buffer
        if is_lowered(old):
            return None
        index = flat_index(old, node.indices, node.span)
        return BufferLoad(self.flat.of(old), (index,), old, node.indices, span=node.span)

    def store(self, node: BufferStore) -> BufferStore | None:
        old = node.buffer
        if is_lowered(old):
            return None
        index = flat_index(old, node.indices, node.span)
        return BufferStore(self.flat.of(old), node.value, (index,), old, node.indices, span=node.span)

    def region(self, node: BufferRegion) -> BufferRegion | None:
        """A region stays one where it is contiguous."""
        old = node.buffer
        if is_lowered(old):
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

    def alloc(self, node: Alloc) -> Any:
        old = node.buffer
        if is_unreached(old):
            return []
        if is_lowered(old):
            return None
        if (
            len(old.shape) == 1
            and isinstance(old.shape[0], int)
            and old.shape[0] == 0
            and self.dynamic_bytes is not None
        ):
            size = self.dynamic_bytes * 8 // old.dtype.total_bits
            sized = self.flat.root(old.replaced(shape=(size,)))
            self.flat.alias(old, sized)
            return node.rebuild(buffer=sized)
        return node.rebuild(buffer=self.flat.root(old))

    def decl(self, node: Decl) -> Any:
        """A view of known storage needs no statement; a pointer given a shape does."""
        buffer = node.buffer
        if is_unreached(buffer):
            return []
        if is_lowered(buffer):
            return None
        if node.source is None and self.flat.has_root(buffer):
            return []
        return node.rebuild(buffer=self.flat.root(buffer))

    def with_retyped(self, node: Alloc | Decl) -> list[Stmt] | None:
        """After an allocation, its storage under other element types."""
        others = self.flat.retyped.pop(id(node.buffer.data), ())
        return [node, *(Decl(other, span=node.span) for other in others)] if others else None


def _dynamic_bytes(func: PrimFunc) -> int | None:
    """How much memory the launch brings, where a constant says so: a pool starts as a buffer of no size."""
    for node in walk(func.body, mask_of(Attr)):
        if isinstance(node, Attr) and node.key == DYNAMIC_BYTES and isinstance(node.value, IntImm):
            return node.value.value
    return None


def _contiguous(buffer: Buffer, node: BufferRegion) -> Any:
    """Elements of a region that is one run of storage, or None."""
    layout = None if buffer.has_default_layout else buffer.layout
    if buffer.strides or (layout is not None and not layout.is_trivial()):
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
    checks = list(_size_checks(func))
    return func.with_body(seq([*checks, body]) if checks else body)


def _size_checks(func: PrimFunc) -> Iterator[Stmt]:
    """Indices are computed in 32 bits: what a call brings must not be larger than they reach."""
    seen: set[tuple[int, ...]] = set()
    for buffer in func.buffers():
        sizes = [size for size in buffer.shape if not (isinstance(size, int) and size == 1)]
        key = tuple(size if isinstance(size, int) else id(size) for size in sizes)
        if len(sizes) < 2 or all(isinstance(size, int) for size in sizes) or key in seen or any(map(_is_wide, sizes)):
            continue
        seen.add(key)
        total: Expr = const(1, INT64)
        for size in sizes:
            total = total * (const(size, INT64) if isinstance(size, int) else cast(size, INT64))
        text = StringImm(f"`{buffer.name}` has more elements than 32-bit indices reach")
        limit = const(INT32.max_int, INT64)
        yield Assert(simplify(total <= limit), (text,), "ValueError", span=buffer.span or func.span)


def _is_wide(size: int | Expr) -> bool:
    """Whether indices of this dimension are in 64 bits anyway."""
    return isinstance(size, Expr) and size.dtype is INT64


lower_layout = Pass("lower_layout", run, requires=("scope_ids_lowered",), ensures=("layouts_lowered",))
