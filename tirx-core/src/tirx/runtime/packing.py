"""Arrays of elements that share bytes: NumPy has no such arrays, so they come as the bytes that a kernel sees.

Two elements of four bits are a byte, the first in its lower half; ml_dtypes holds each in a byte of its own. Nothing is
converted behind a caller's back: `pack_elements` and `unpack_elements` do it where it is wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import DType
from ..ir.numpy_types import dtype_of_numpy, numpy_dtype
from ..sim.numeric import halves, joined
from ..support.errors import ArgumentError

__all__ = ["pack_elements", "unpack_elements"]


def pack_elements(array: Any) -> Any:
    """The bytes of an array of a type of four bits (ml_dtypes), as a kernel takes them: half as many along the last dimension."""
    held = np.asarray(array)
    dtype = dtype_of_numpy(held.dtype)
    if dtype is None or not dtype.is_packed:
        raise ArgumentError(f"an array of {held.dtype} has no elements that share bytes", hint="pass it as it is")
    if not held.ndim or held.shape[-1] % 2:
        raise ArgumentError(
            f"an array of shape {held.shape} does not fill whole bytes with elements of {dtype}",
            hint="make its last dimension even, e.g. with numpy.pad",
        )
    return joined(np.ascontiguousarray(held).view(np.uint8))


def unpack_elements(array: Any, dtype: DType | str) -> Any:
    """The elements of `dtype` (ml_dtypes, a byte each) that an array of bytes holds: twice as many along the last dimension."""
    held, kind = np.asarray(array), DType(dtype)
    if held.dtype != np.uint8 or not held.ndim:
        raise ArgumentError(f"expected an array of uint8, got {held.dtype} of shape {held.shape}")
    if not kind.is_packed or kind.lanes != 1:
        raise ArgumentError(f"{kind} is no type of which two elements share a byte", hint="view the array as that type")
    return halves(held).view(numpy_dtype(kind))
