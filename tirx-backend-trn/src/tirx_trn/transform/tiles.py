"""The physical buffers of a kernel: partitions, free dimensions and banks instead of the author's shapes."""

from __future__ import annotations

from math import prod
from typing import Any

from tirx.ir import Buffer, BufferRegion, as_expr, const
from tirx.support.errors import VerifyError

from ..box import Box, box_of
from ..hardware import SBUF
from ..layout import is_on_chip, place_of

__all__ = ["Tiles"]


class Tiles:
    """The physical buffers of one kernel, and boxes of them."""

    def __init__(self) -> None:
        self._physical: dict[int, Buffer] = {}
        self._keep: list[Buffer] = []
        self.allocated: dict[int, Buffer] = {}  # by the `id` of their storage

    def is_reshaped(self, view: Buffer) -> bool:
        """Whether a view of a tile in SBUF holds all of it in the order of memory, only with other free dimensions."""
        base = self.allocated.get(id(view.data))
        if base is None or view.scope_name != SBUF or view.dtype is not base.dtype:
            return False
        ours, theirs = place_of(view), place_of(base)
        strides = [int(item.stride) for item in ours.free]
        dense = [prod(ours.shape[dim + 2 :]) for dim in range(len(ours.free))]
        same = (ours.shape[0], ours.free_elements) == (theirs.shape[0], theirs.free_elements)
        return same and strides == dense and (theirs.free == () or int(theirs.free[-1].stride) == 1)

    def buffer(self, old: Buffer) -> Buffer:
        """The buffer that stands for `old` after lowering."""
        if id(old) not in self._physical:
            shape = place_of(old).shape if is_on_chip(old) else _plain_shape(old)
            self._physical[id(old)] = old.replaced(shape=shape, strides=(), layout=None)
            self._keep.append(old)  # its id must stay taken
        return self._physical[id(old)]

    def box(self, region: BufferRegion, box: Box | None = None) -> BufferRegion:
        """A region of the physical buffer."""
        made = self.buffer(region.buffer)
        if not is_on_chip(region.buffer):
            return region.rebuild(buffer=made)
        found = box if box is not None else box_of(region)
        starts = tuple(as_expr(start) for start in found.starts)
        return BufferRegion(made, starts, tuple(const(extent) for extent in found.extents), span=region.span)


def _plain_shape(buffer: Buffer) -> Any:
    """The shape of a device buffer, which must be row-major."""
    if buffer.strides or not (buffer.has_default_layout or buffer.layout is None):
        raise VerifyError(
            f"`{buffer.name}` in device memory is not contiguous",
            span=buffer.span,
            hint="tensors of NKI kernels are row-major; slices of them say which part is copied",
        )
    return buffer.shape
