"""Boxes of buffers as slices of NKI tensors.

An NKI tile is partitions first; in PSUM the banks follow, where there is more than one. An index instead of a slice drops a
free dimension of which one element is taken.
"""

from __future__ import annotations

from itertools import combinations

from tirx.arith import simplify
from tirx.ir import Buffer, BufferRegion, Expr, IntImm, Var

from ..hardware import CHIP, PSUM
from .exprs import Exprs

__all__ = ["Views", "tensor_shape", "view_dims"]


def _order(buffer: Buffer) -> tuple[int, ...]:
    """Dimensions of the lowered buffer in the order in which NKI has them."""
    if buffer.scope_name != PSUM:
        return tuple(range(buffer.ndim))
    banks = (0,) if buffer.shape[0] != 1 else ()
    return (1, *banks, *range(2, buffer.ndim))


def tensor_shape(buffer: Buffer) -> tuple[int | Expr, ...]:
    """The shape of the NKI tensor of a lowered buffer."""
    return tuple(buffer.shape[dim] for dim in _order(buffer))


def view_dims(region: BufferRegion) -> tuple[int, ...]:
    """Dimensions of the lowered buffer that a tile's view has; the others are indexed away."""
    first, *free = _order(region.buffer)
    kept = [dim for dim in free if _size(region, dim) != 1]
    return (first, *(kept or free[-1:]))


def _size(region: BufferRegion, dim: int) -> int:
    extent = region.extents[dim]
    assert isinstance(extent, IntImm)
    return extent.value


class Views:
    """Writes regions."""

    def __init__(self, exprs: Exprs) -> None:
        self.exprs = exprs

    def tile(self, region: BufferRegion, least: int = 0) -> str:
        """A box of an on-chip buffer, of `least` dimensions where it has them."""
        order, kept = _order(region.buffer), set(view_dims(region))
        for dim in reversed(order):
            if len(kept) < least:
                kept.add(dim)
        return self._slice(region, order, kept)

    def side(self, region: BufferRegion, other: BufferRegion) -> str:
        """One side of a copy between memories."""
        if region.buffer.scope_name in CHIP:
            return self.tile(region)
        if other.buffer.scope_name in CHIP:
            return self.device(region, other)
        dims = tuple(range(region.buffer.ndim))
        return self._slice(region, dims, {dim for dim in dims if _size(region, dim) != 1} or {dims[-1]})

    def device(self, region: BufferRegion, tile: BufferRegion) -> str:
        """A box of a device tensor, with dimensions kept so that its shape is that of the tile's view, where it can be."""
        wanted = [_size(tile, dim) for dim in view_dims(tile)]
        sizes = [_size(region, dim) for dim in range(region.buffer.ndim)]
        units = [dim for dim, size in enumerate(sizes) if size == 1]
        kept = {dim for dim, size in enumerate(sizes) if size != 1}
        for count in range(len(units) + 1):
            for extra in combinations(units, count):
                dims = kept | set(extra)
                if [sizes[dim] for dim in sorted(dims)] == wanted:
                    return self._slice(region, tuple(range(len(sizes))), dims)
        return self._slice(region, tuple(range(len(sizes))), kept or {len(sizes) - 1})

    def _slice(self, region: BufferRegion, order: tuple[int, ...], kept: set[int]) -> str:
        name = self.exprs.names.of(region.buffer)
        if all(dim in kept and self._is_whole(region, dim) for dim in order):
            return name
        return f"{name}[{', '.join(self._index(region, dim, dim in kept) for dim in order)}]"

    def _is_whole(self, region: BufferRegion, dim: int) -> bool:
        start, size = region.starts[dim], region.buffer.shape[dim]
        return isinstance(start, IntImm) and start.value == 0 and isinstance(size, int) and size == _size(region, dim)

    def _index(self, region: BufferRegion, dim: int, kept: bool) -> str:
        first = region.starts[dim]
        start = first if isinstance(first, IntImm | Var) else simplify(first)
        if not kept:
            return self.exprs.text(start)
        if self._is_whole(region, dim):
            return ":"
        size = _size(region, dim)
        stop = start.value + size if isinstance(start, IntImm) else simplify(start + size)
        gap = ":" if isinstance(start, IntImm) else " : "
        return f"{self.exprs.text(start)}{gap}{self.exprs.text(stop)}"
