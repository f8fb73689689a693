"""Layouts of buffers: as many elements as the shape, each in one place of memory; those spread over threads are not accessed alone."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir import Alloc, Buffer, BufferLoad, BufferStore, Decl, Layout
from ...ir.sizes import product
from ...support.errors import Diagnostic
from ...support.span import Span
from ..storage_size import is_memory, layout_reach, thread_axes
from .facts import Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["access_problem", "check"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    for param in facts.func.buffers():
        yield from _layout(param, param.span or facts.func.span)
    for node in facts.all(Alloc, Decl):
        if isinstance(node, Alloc | Decl):
            yield from _layout(node.buffer, node.span)
    for access in facts.all(BufferLoad, BufferStore):
        if isinstance(access, BufferLoad | BufferStore):
            problem = access_problem(access.buffer, access.span)
            if problem is not None:
                yield problem


def access_problem(buffer: Buffer, span: Span | None) -> Diagnostic | None:
    """Why a single element of a buffer is not accessed, or None."""
    axes = [] if buffer.has_default_layout or buffer.is_flat() else thread_axes(buffer.layout)
    if not axes:
        return None
    named = ", ".join(f"`{axis}`" for axis in axes)
    return Diagnostic(
        f"an element of `{buffer.name}` is accessed, but its layout spreads it over threads ({named})",
        span,
        hint=f"a thread's own part is {buffer.name}.local(); tile operations work on all of it, e.g. Tx.tile.copy(dst, src)",
    )


def _layout(buffer: Buffer, at: Span | None) -> Iterator[Diagnostic]:
    layout: Any = None if buffer.has_default_layout else buffer.layout
    if not isinstance(layout, Layout) or not hasattr(layout, "size"):
        return
    size, wanted = layout.size(), product(buffer.shape)
    if isinstance(size, int) and isinstance(wanted, int) and size != wanted:
        yield Diagnostic(
            f"`{buffer.name}` has {wanted} elements and its layout {size}",
            at,
            hint="the product of the layout's extents is the number of elements; strides leave room between them",
        )
    tile = getattr(layout, "tile_layout", layout)
    copies = [item for item in getattr(tile, "replica", ()) if is_memory(item.axis)]
    if copies:
        yield Diagnostic(
            f"the layout of `{buffer.name}` keeps each element in several places of its memory",
            at,
            hint="replicas go over threads, e.g. R[2 : 4 @ Axis.warpid]; for gaps give strides",
        )
    low = layout_reach(layout)[0] if hasattr(tile, "shard") else 0
    if isinstance(low, int) and low < 0:
        yield Diagnostic(
            f"the layout of `{buffer.name}` reaches position {low}, before the start of its storage",
            at,
            hint=f"add {-low} to the offset of the layout",
        )
