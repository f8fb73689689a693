"""From coordinates to positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.sizes import plus, times
from .iters import Iter, Number, number, product, row_major_strides, same
from .mistakes import mistake, numbers
from .parts import Parts

__all__ = ["checked_point", "flat_index", "physical", "split", "split_index"]


def checked_point(
    layout: Parts, coord: Sequence[Any], shape: Sequence[Any] | None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The coordinate and the shape it is in: the one that is given, else one dimension per iter, else all elements in a row.

    Raises `LayoutError` for a coordinate outside the domain.
    """
    indices = tuple(number(index) for index in coord)
    extents = tuple(number(e) for e in shape) if shape is not None else _domain(layout, len(indices))
    if len(extents) != len(indices):
        raise mistake(
            f"{len(indices)} coordinates for {len(extents)} dimensions",
            hint="give one coordinate for each dimension of the shape",
        )
    if not same(product(extents), product(item.extent for item in layout.shard)):
        raise mistake(
            f"shape ({numbers(extents)}) does not hold the {numbers([product(i.extent for i in layout.shard)])} elements of the layout",
            hint="the product of the shape is the size of the layout",
        )
    for axis, (index, extent) in enumerate(zip(indices, extents, strict=True)):
        if isinstance(index, int) and (index < 0 or (isinstance(extent, int) and index >= extent)):
            raise mistake(
                f"coordinate {index} is outside dimension {axis} of extent {numbers([extent])}",
                hint=f"coordinates go from 0 to {numbers([number(extent - 1)])}",
            )
    return indices, extents


def _domain(layout: Parts, count: int) -> tuple[Number, ...]:
    if count == 1:
        return (product(item.extent for item in layout.shard),)
    if count != len(layout.shard):
        raise mistake(
            f"{count} coordinates for a layout of {len(layout.shard)} iters",
            hint="give shape=(...)",
        )
    return tuple(item.extent for item in layout.shard)


def physical(layout: Parts, coord: Sequence[Any], shape: Sequence[Any]) -> dict[str, Number]:
    """Position per axis of the element at `coord` of `shape` (replica 0), without range checks."""
    result: dict[str, Number] = dict.fromkeys(layout.axes(), 0)
    for item, part in zip(layout.shard, split(layout.shard, coord, shape), strict=True):
        result[item.axis] = plus(result[item.axis], times(part, item.stride))
    for axis, value in layout.offset.items():
        result[axis] = plus(result[axis], value)
    return result


def split(shard: Sequence[Iter], coord: Sequence[Any], shape: Sequence[Any]) -> list[Number]:
    """The coordinate of each shard iter. Dimensions that line up with iters are not divided at all."""
    groups = _groups(shard, shape)
    if groups is None:
        return split_index(flat_index(coord, shape), [item.extent for item in shard])
    parts: list[Number] = []
    for index, (start, stop) in zip(coord, groups, strict=True):
        parts += split_index(index, [item.extent for item in shard[start:stop]])
    return parts


def _groups(shard: Sequence[Iter], shape: Sequence[Number]) -> list[tuple[int, int]] | None:
    """Which shard iters make up each dimension of `shape`, or None when they do not line up."""
    groups, start = [], 0
    for extent in shape:
        stop = start
        total: Number = 1
        while not same(total, extent):
            too_far = isinstance(total, int) and isinstance(extent, int) and total > extent
            if stop == len(shard) or too_far:
                return None
            total = number(total * shard[stop].extent)
            stop += 1
        groups.append((start, stop))
        start = stop
    if any(not same(item.extent, 1) for item in shard[start:]):
        return None
    if groups and start < len(shard):
        groups[-1] = (groups[-1][0], len(shard))
    return groups


def flat_index(coord: Sequence[Any], shape: Sequence[Any]) -> Number:
    """Row-major linear index."""
    total: Number = 0
    for index, extent in zip(coord, shape, strict=True):
        total = plus(times(total, extent), index)
    return total


def split_index(index: Any, extents: Sequence[Number]) -> list[Number]:
    """Row-major coordinates of a linear index; the outermost one is not reduced."""
    strides = row_major_strides(extents)
    parts: list[Number] = []
    for position, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        part = index if same(stride, 1) else index // stride
        parts.append(part if position == 0 else part % extent)
    return parts
