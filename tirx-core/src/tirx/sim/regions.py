"""Boxes of buffers for machines without threads: reads and writes of whole boxes, with the checks that apply to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir import Buffer, DType
from ..support.span import Span
from .numeric import cast_array
from .pool import storage_dtype

__all__ = ["Region", "Storage"]


class Storage:
    """The elements behind a pointer variable, and which of them were written. `address` is that of a caller's array."""

    __slots__ = ("address", "array", "data", "name", "scope", "written")

    def __init__(
        self, name: str, scope: str, data: Any, *, initialised: bool, address: int | None = None, array: Any = None
    ) -> None:
        self.name = name
        self.scope = scope
        self.data = data
        self.written = None if initialised else np.zeros(len(data), bool)
        self.address = address
        self.array = array


class Region:
    """Implements `tirx.intrinsic.SimRegion`."""

    def __init__(
        self,
        context: Any,
        storage: Storage,
        buffer: Buffer,
        whole: Sequence[int],
        strides: Sequence[int],
        offset: int,
        starts: Sequence[int],
        extents: Sequence[int],
        span: Span | None,
    ) -> None:
        self.context = context
        self.storage = storage
        self.name = buffer.name
        self.dtype: DType = buffer.dtype
        self.scope: str = buffer.scope_name
        self.shape: tuple[int, ...] = tuple(extents)
        self.starts = tuple(starts)
        self.span = span
        self._whole = tuple(whole)
        self._strides = tuple(strides) or _row_major(whole)
        self._offset = offset

    # ---- what meanings use ------------------------------------------------------------------------------------------

    def read(self) -> Any:
        """The elements as an array of `shape` (a copy); elements outside the buffer read as 0."""
        index, inside = self._index()
        self._check_written(index, inside)
        self.context.traffic(self, store=False)
        return np.where(inside, self._typed()[np.where(inside, index, 0)], np.zeros((), storage_dtype(self.dtype)))

    def write(self, value: Any, mask: Any = None) -> None:
        """Store `value` (cast to `dtype`), only where `mask` when given; elements outside the buffer are dropped."""
        index, inside = self._index()
        values = np.broadcast_to(cast_array(np.asarray(value), storage_dtype(self.dtype)), self.shape)
        if mask is not None:
            inside = inside & np.broadcast_to(mask, self.shape)
        self.context.traffic(self, store=True)
        self._typed()[index[inside]] = values[inside]
        if self.storage.written is not None:
            self.storage.written[self._marks(index[inside])] = True

    def written(self) -> Any:
        """Which of the elements hold something, as a bool array of `shape`."""
        index, inside = self._index()
        if self.storage.written is None:
            return inside
        return inside & self.storage.written[self._marks(np.where(inside, index, 0))]

    # ---- single elements, for loads and stores ------------------------------------------------------------------------

    def get(self) -> Any:
        """The only element, or the vector of elements."""
        values = self.read().reshape(-1)
        return values[0] if len(values) == 1 else values

    def put(self, value: Any) -> None:
        """Store the only element, or the vector."""
        self.write(np.asarray(value).reshape(self.shape) if np.size(value) > 1 else value)

    # ---- positions ----------------------------------------------------------------------------------------------------

    def _index(self) -> tuple[Any, Any]:
        """Positions in the storage, and which of them are inside the buffer."""
        index = np.full(self.shape, self._offset, np.int64)
        inside = np.ones(self.shape, bool)
        for axis, (start, extent) in enumerate(zip(self.starts, self.shape, strict=True)):
            along = np.arange(start, start + extent)
            shape = [1] * len(self.shape)
            shape[axis] = extent
            index += (along * self._strides[axis]).reshape(shape)
            good = (along >= 0) & (along < self._whole[axis])
            if not good.all():
                inside &= good.reshape(shape)
                self._outside(axis, start, extent)
        limit = len(self._typed())
        return index, inside & (index >= 0) & (index < limit)

    def _outside(self, axis: int, start: int, extent: int) -> None:
        if self.context.checked("bounds"):
            text = f"{start} to {start + extent - 1}" if extent > 1 else str(start)
            self.context.finding(
                "out_of_bounds",
                f"index {text} is outside dimension {axis} of `{self.name}` {self._whole}",
                buffer=self.name,
            )

    def _check_written(self, index: Any, inside: Any) -> None:
        if self.storage.written is None or not self.context.checked("uninitialised"):
            return
        marks = self._marks(np.where(inside, index, 0))
        if not (self.storage.written[marks] | ~inside).all():
            self.context.finding("uninitialised", f"`{self.name}` is read where nothing was written", buffer=self.name)
            self.storage.written[marks] = True

    def _typed(self) -> Any:
        kind = storage_dtype(self.dtype)
        data = self.storage.data
        return (
            data
            if data.dtype == kind
            else data.view(np.uint8)[: data.nbytes // kind.itemsize * kind.itemsize].view(kind)
        )

    def _marks(self, index: Any) -> Any:
        """Positions of `written` for positions of elements of this region's type."""
        own, held = storage_dtype(self.dtype).itemsize, self.storage.data.dtype.itemsize
        return index if own == held else index * own // held


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    strides, total = [], 1
    for extent in reversed(shape):
        strides.append(total)
        total *= extent
    return tuple(reversed(strides))
