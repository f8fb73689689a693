"""How much storage a buffer reaches: by its layout, which may have gaps, swizzles and threads that hold their own parts."""

from __future__ import annotations

from ..arith import simplify
from ..ir import Buffer, Expr
from ..ir.sizes import Size, plus, product, size_of, times
from ..layout.names import axis_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["is_linear", "is_memory", "layout_reach", "storage_elements", "storage_of_thread", "thread_axes"]


def storage_elements(buffer: Buffer) -> Size:
    """How many elements of storage a buffer reaches, counted from the start of its storage; of distributed ones per thread."""
    if buffer.is_flat() or (buffer.has_default_layout and not buffer.strides):
        extent: Size = product(buffer.shape)
    elif buffer.has_default_layout:
        extent = 1
        for size, stride in zip(buffer.shape, buffer.strides, strict=True):
            extent = plus(extent, times(plus(size, -1), stride))
    else:
        extent = storage_of_thread(buffer.layout)
    return plus(extent, buffer.elem_offset)


def is_linear(buffer: Buffer) -> bool:
    """Whether positions in the memory of a buffer are single numbers."""
    if buffer.is_flat() or buffer.has_default_layout:
        return True
    tile = getattr(buffer.layout, "tile_layout", buffer.layout)
    axes = getattr(tile, "axes", None)
    return axes is not None and all(axis == "m" or not is_memory(axis) for axis in axes())


def storage_of_thread(layout: Any) -> Size:
    """How many elements of storage one thread has of a layout."""
    return plus(layout_reach(layout)[1], 1)


def layout_reach(layout: Any) -> tuple[Size, Size]:
    """The smallest and largest position that a layout reaches in memory."""
    tile = getattr(layout, "tile_layout", layout)
    low: Size = 0
    high: Size = 0
    for item in (*tile.shard, *tile.replica):
        if not is_memory(item.axis):
            continue
        way = times(plus(item.extent, -1), item.stride)
        if isinstance(item.stride, int) and item.stride < 0:
            low = plus(low, way)
        else:
            high = plus(high, way)
    offset: Size = 0
    for axis, value in tile.offset.items():
        offset = plus(offset, value) if is_memory(axis) else offset
    return _simple(plus(low, offset)), _end_of_block(layout, _simple(plus(high, offset)))


def _end_of_block(layout: Any, high: Size) -> Size:
    """An XOR moves elements within a block of as many positions as the bits that it changes reach."""
    length = getattr(layout, "swizzle_len", 0)
    if not length:
        return high
    block = 1 << (layout.per_element + length + (0 if layout.swizzle_inner else layout.atom_len))
    return _simple(plus(times(high // block, block), block - 1))


def _simple(value: Size) -> Size:
    return size_of(simplify(value)) if isinstance(value, Expr) else value


def is_memory(axis: str) -> bool:
    """Whether an axis counts positions in storage."""
    row = axis_named(axis)
    return row is not None and row.is_memory()


def thread_axes(layout: Any) -> list[str]:
    """The axes along which a layout spreads over threads."""
    tile = getattr(layout, "tile_layout", layout)
    axes = getattr(tile, "axes", None)
    return [axis for axis in axes() if not is_memory(axis)] if axes is not None else []
