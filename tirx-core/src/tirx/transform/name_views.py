"""Parts of a pool get the pointers and names that their author gave them; until here a pool is one array for each element type.

before  a = decl(float16, smem);  a[i] = 0;  a[j + 4096] = 1              (accesses of views `a` and `b` of the pool)
after   a = decl(float16, smem);  b = decl(float16, smem, elem_offset=4096);  a[i] = 0;  b[j] = 1

A part is a view that starts at a constant position in storage of another element type. Accesses whose place is known only when the
kernel runs go through the part of that name. Needs: provenance, which says what was written.
"""

from __future__ import annotations

from ..arith import simplify
from ..ir import (
    Buffer,
    BufferLoad,
    BufferStore,
    Decl,
    Expr,
    IRModule,
    Node,
    PrimFunc,
    Ramp,
    Stmt,
    mask_of,
    rewrite,
    walk,
)  # fmt: skip
from .pipeline import Pass, PassContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["name_views"]

_ACCESSES = mask_of(BufferLoad, BufferStore)


class _Parts:
    """The parts of each flat view of a pool, by name; the first that starts at a position is all that start there."""

    def __init__(self, func: PrimFunc) -> None:
        self.views = {
            id(node.buffer): node.buffer
            for node in walk(func.body, mask_of(Decl))
            if isinstance(node, Decl) and _is_retyped(node)
        }
        self.starts: dict[tuple[int, str], int] = {}
        self.made: dict[tuple[int, int], Buffer] = {}
        for node in walk(func.body, _ACCESSES) if self.views else ():
            if isinstance(node, BufferLoad | BufferStore) and node.source is not None:
                self._note(node.buffer, node.source)

    def _note(self, flat: Buffer, source: Buffer) -> None:
        if id(flat) in self.views and isinstance(source.elem_offset, int) and source.dtype is flat.dtype:
            key = id(flat), source.name
            self.starts[key] = min(self.starts.get(key, source.elem_offset), source.elem_offset)

    def of(self, node: BufferLoad | BufferStore) -> Buffer | None:
        """The part through which an access goes; None where that is the view itself."""
        start = self.starts.get((id(node.buffer), node.source.name), 0) if node.source is not None else 0
        if start <= 0:
            return None
        key = id(node.buffer), start
        if key not in self.made:
            assert node.source is not None
            self.made[key] = _part(node.buffer, node.source.name, start)
        return self.made[key]

    def declared(self, node: Decl) -> list[Stmt] | None:
        """A view of a pool with its parts behind it."""
        parts = [part for (view, _), part in sorted(self.made.items(), key=_by_start) if view == id(node.buffer)]
        return [node, *(Decl(part, span=node.span) for part in parts)] if parts else None


def _by_start(item: tuple[tuple[int, int], Buffer]) -> int:
    return item[0][1]


def _is_retyped(node: Decl) -> bool:
    """Whether it shows storage with another element type than it has."""
    return node.source is None and getattr(node.buffer.data.dtype, "pointee", None) is not node.buffer.dtype


def _part(view: Buffer, name: str, start: int) -> Buffer:
    size = view.shape[0] - start
    return view.replaced(name=name, shape=(size if isinstance(size, int) else simplify(size),), elem_offset=start)


def _moved(index: Expr, start: int | Expr) -> Expr:
    """`index` from a position of the view on."""
    if isinstance(index, Ramp):
        return Ramp(_moved(index.base, start), index.stride, index.lanes, span=index.span)
    return simplify(index - start)


def _func(func: PrimFunc) -> PrimFunc:
    parts = _Parts(func)
    if not any(parts.starts.values()):
        return func

    def access(node: Any) -> Node | None:
        part = parts.of(node)
        if part is None:
            return None
        indices = tuple(_moved(index, part.elem_offset) for index in node.indices)
        moved: Node = node.rebuild(buffer=part, indices=indices)
        return moved

    body = rewrite(func.body, {BufferLoad: access, BufferStore: access})
    return func.with_body(rewrite(body, {Decl: parts.declared}))


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with the author's names for parts of pools."""
    return module.map(_func)


name_views = Pass("name_views", run)
