"""Foreign arrays: what a kernel needs to know of NumPy arrays, DLPack exporters and device arrays, without copying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import registry
from ..ir import DType
from ..ir.numpy_types import dtype_of_numpy
from ..support.late import load_object

__all__ = ["ArrayView", "in_elements", "view_of"]


class ArrayView:
    """One array argument: `pointer` (bytes address), `shape`, `strides` (in elements), `dtype`, `device` (`cpu` or `kind:index`).

    `host` is the NumPy array when the data is in host memory; `owner` keeps the data alive.
    """

    __slots__ = ("device", "dtype", "host", "owner", "pointer", "readonly", "shape", "strides", "type_name")

    def __init__(
        self,
        *,
        pointer: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: DType | None,
        device: str,
        owner: Any,
        readonly: bool = False,
        host: Any = None,
        type_name: str = "",
    ) -> None:
        self.pointer = pointer
        self.shape = shape
        self.strides = strides
        self.dtype = dtype
        self.device = device
        self.owner = owner
        self.readonly = readonly
        self.host = host
        self.type_name = type_name


def in_elements(view: ArrayView, dtype: DType) -> ArrayView | None:
    """The array as elements of `dtype`, of which it holds the parts; None where its type or last dimension does not fit.

    A vector's lanes are a dimension of the array, the last. Of types of which two share a byte (`tirx.runtime.pack_elements`) it
    holds bytes, or pairs: twice as many single elements along the last dimension.
    """
    if dtype.is_packed and view.dtype is dtype and view.host is None:
        return view  # packed already: only NumPy keeps a byte for each
    if dtype.is_packed:
        known = view.dtype is not None and (view.dtype.name == "uint8" or view.dtype is dtype.element.unit)
        parts = dtype.lanes // 2
    else:
        known, parts = view.dtype is dtype.element, dtype.lanes
    if not known:
        return None
    if parts == 1:
        return _measured(view, dtype, view.shape, view.strides)
    if not view.shape or (view.strides[-1] != 1 and view.shape[-1] > 1):
        return None
    if not parts:
        steps = tuple(2 * step for step in view.strides[:-1])
        return _measured(view, dtype, (*view.shape[:-1], 2 * view.shape[-1]), (*steps, 1))
    steps = view.strides[:-1]
    if view.shape[-1] != parts or any(step % parts for step in steps):
        return None
    return _measured(view, dtype, view.shape[:-1], tuple(step // parts for step in steps))


def _measured(view: ArrayView, dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...]) -> ArrayView:
    return ArrayView(
        pointer=view.pointer, shape=shape, strides=strides, dtype=dtype.element, device=view.device, owner=view.owner,
        readonly=view.readonly, host=view.host, type_name=view.type_name,
    )  # fmt: skip


def view_of(value: Any) -> ArrayView | None:
    """The view of an array, or None when `value` is no array that anybody recognises."""
    if isinstance(value, np.ndarray):
        return _of_numpy(value)
    for row in registry().rows("array_adapters").values():
        recognise: Callable[[Any], ArrayView | None] = load_object(row.recognise)
        found = recognise(value)
        if found is not None:
            return found
    return _of_dlpack(value)


def _of_numpy(array: Any) -> ArrayView:
    size = array.dtype.itemsize or 1
    whole = all(step % size == 0 for step in array.strides)
    return ArrayView(
        pointer=array.ctypes.data,
        shape=array.shape,
        strides=tuple(step // size for step in array.strides) if whole else tuple(-1 for _ in array.strides),
        dtype=dtype_of_numpy(array.dtype),
        device="cpu",
        owner=array,
        readonly=not array.flags.writeable,
        host=array,
        type_name=str(array.dtype),
    )


def _of_dlpack(value: Any) -> ArrayView | None:
    """Host arrays of other libraries, through DLPack; device ones are recognised by their backend's adapter."""
    device = getattr(value, "__dlpack_device__", None)
    if device is None or device()[0] != _DLPACK_CPU:
        return None
    return _of_numpy(np.from_dlpack(value))


_DLPACK_CPU = 1
