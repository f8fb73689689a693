"""Pointers are integers; reinterpreted bits are views."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir import DType
from ...ir.numpy_types import dtype_of_numpy
from ..numeric import FOUR_BITS, paired, unpaired
from ..pool import memory_dtype, storage_dtype
from ..regions import Region

__all__ = [
    "access_ptr", "address_of", "handle_add_byte_offset", "isnullptr", "masked_load", "masked_store", "ptr_byte_offset",
    "reinterpret", "type_annotation", "undef",
]  # fmt: skip


def _moved(pointer: Any, amount: Any) -> Any:
    wide = amount.astype(np.int64) if isinstance(amount, np.ndarray) else int(amount)
    return pointer + wide


def address_of(ctx: Any, element: Any) -> Any:
    """The address of an element; generated code computes it itself."""
    return element


def access_ptr(ctx: Any, data: Any, offset: Any, extent: Any, *, dtype: str, rw_mask: int) -> Any:
    """`data` and `offset` elements of `dtype` further."""
    if isinstance(data, Region):
        return data
    kind = DType(dtype)
    return _moved(data, offset * kind.total_bits // 8)


def ptr_byte_offset(ctx: Any, data: Any, byte_offset: Any, *, dtype: str) -> Any:
    """`data`, so many bytes further."""
    return _moved(data, byte_offset)


def handle_add_byte_offset(ctx: Any, handle: Any, offset: Any) -> Any:
    """The handle, so many bytes further."""
    return _moved(handle, offset)


def isnullptr(ctx: Any, handle: Any) -> Any:
    """Whether a pointer is null."""
    return handle == 0


def reinterpret(ctx: Any, value: Any, *, dtype: str) -> Any:
    """The same bits as another type; vectors of other widths keep their bytes in order."""
    kind = DType(dtype)
    held, _ = memory_dtype(kind)
    array = np.ascontiguousarray(value)
    if array.ndim == 2 and array.dtype in FOUR_BITS:
        array = paired(array).reshape(len(array), -1)
    if np.ndim(value) == 0:
        return array.view(held)[0]
    if array.ndim == 1:
        array = array[:, None]
    made = array.view(held)
    if kind.is_packed and kind.lanes > 1:
        return unpaired(made, storage_dtype(kind))
    return made[:, 0] if kind.lanes == 1 else made


def type_annotation(ctx: Any, *, dtype: str) -> Any:
    """Stands for a type; its value means nothing."""
    return 0


def undef(ctx: Any, *, dtype: str) -> Any:
    """A value that nobody may rely on: a pattern that is easy to see."""
    kind = storage_dtype(DType(dtype))
    return np.frombuffer(b"\xcd" * kind.itemsize, kind)[0]


def _lanes(ctx: Any, pointer: Any, mask: Any, lanes: int, size: int) -> tuple[Any, Any]:
    """Addresses and mask, `(n, lanes)`."""
    first = np.broadcast_to(np.asarray(pointer, np.int64), (ctx.count,))
    chosen = np.asarray(mask)
    chosen = chosen[:, None] if chosen.ndim == 1 and lanes == 1 else chosen
    return first[:, None] + np.arange(lanes) * size, np.broadcast_to(chosen, (ctx.count, lanes))


def masked_load(ctx: Any, pointer: Any, mask: Any, *, dtype: str) -> Any:
    """A vector; lanes whose mask is false are zero and not read."""
    kind = DType(dtype)
    held = storage_dtype(kind)
    addresses, chosen = _lanes(ctx, pointer, mask, kind.lanes, held.itemsize)
    made = np.zeros(chosen.shape, held)
    for lane in range(kind.lanes):
        part = ctx.where(chosen[:, lane])
        made[chosen[:, lane], lane] = part.load(addresses[chosen[:, lane], lane], kind.element)
    return made[:, 0] if kind.lanes == 1 else made


def masked_store(ctx: Any, pointer: Any, value: Any, mask: Any) -> None:
    """Store the lanes whose mask is true."""
    values = np.asarray(value)
    lanes = max(values.shape[-1] if values.ndim == 2 else 1, np.shape(mask)[-1] if np.ndim(mask) == 2 else 1)
    kind = dtype_of_numpy(values.dtype)
    assert kind is not None
    addresses, chosen = _lanes(ctx, pointer, mask, lanes, values.dtype.itemsize)
    full = np.broadcast_to(values[:, None] if values.ndim == 1 else values, (ctx.count, lanes))
    for lane in range(lanes):
        held = chosen[:, lane]
        ctx.where(held).store(addresses[held, lane], kind, full[held, lane])
