"""Foreign arrays: what a kernel needs to know of NumPy arrays, DLPack exporters and device arrays, without copying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import registry
from ..ir import DType
from ..ir.numpy_types import dtype_of_numpy
from ..support.late import load_object

__all__ = ["ArrayView", "view_of"]


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
