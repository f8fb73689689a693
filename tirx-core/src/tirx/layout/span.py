"""How many elements, and how many positions they cover."""

from __future__ import annotations

from typing import Any

from .iters import Number, number, product
from .parts import Parts, axis_name, is_memory

__all__ = ["size", "span"]


def size(layout: Parts, axis: Any = None) -> Number:
    """Number of elements: product of the shard extents (of one axis)."""
    return product(item.extent for item in layout.shard if axis is None or item.axis == axis_name(axis))


def span(layout: Parts, axis: Any = None) -> Number:
    """Positions from 0 to the last of an axis (default: of the memory axes together), offset and replicas included."""
    wanted = {axis_name(axis)} if axis is not None else {name for name in layout.axes() if is_memory(name)}
    total: Number = 1
    for item in (*layout.shard, *layout.replica):
        if item.axis in wanted:
            total = number(total + (item.extent - 1) * item.stride)
    for name in wanted:
        total = number(total + layout.offset.get(name, 0))
    return total
