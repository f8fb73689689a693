"""Arrays of other libraries that live on a GPU, seen without copying: through DLPack, or the CUDA array interface."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tirx.ir import DType
from tirx.ir.numpy_types import dtype_of_numpy
from tirx.runtime.arrays import ArrayView

__all__ = ["recognise", "view_of_capsule", "view_of_interface"]

_ON_GPU = (2, 13)  # DLPack's kDLCUDA, kDLCUDAManaged


def recognise(value: Any) -> ArrayView | None:
    """The view of an array on a GPU; None for anything else."""
    device = getattr(value, "__dlpack_device__", None)
    if device is not None:
        kind, index = device()
        return view_of_capsule(value.__dlpack__(), value, int(index)) if int(kind) in _ON_GPU else None
    interface = getattr(value, "__cuda_array_interface__", None)
    return view_of_interface(interface, value) if interface is not None else None


# ---- the CUDA array interface -------------------------------------------------------------------------------------


def view_of_interface(interface: dict[str, Any], owner: Any) -> ArrayView:
    """The view that an interface dictionary (version 2 or 3) describes."""
    kind = np.dtype(interface["typestr"])
    shape = tuple(int(size) for size in interface["shape"])
    pointer, readonly = interface["data"]
    steps = interface.get("strides")
    strides = _contiguous(shape) if steps is None else tuple(int(step) // kind.itemsize for step in steps)
    return ArrayView(
        pointer=int(pointer), shape=shape, strides=strides, dtype=dtype_of_numpy(kind), device=f"cuda:{_device_of(owner)}",
        owner=owner, readonly=bool(readonly), type_name=str(kind),
    )  # fmt: skip


def _device_of(owner: Any) -> int:
    """Index of the device that an array says it is on; 0 when it does not say."""
    device = getattr(owner, "device", None)
    for name in ("index", "id"):
        index = getattr(device, name, None)
        if isinstance(index, int):
            return index
    return 0


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


# ---- DLPack -------------------------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    """DLTensor of DLPack's C header."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


# DLPack's type codes -> our names, `{}` for the number of bits
_CODES = {0: "int{}", 1: "uint{}", 2: "float{}", 4: "bfloat16", 6: "bool"}
_CODES |= {7: "float8_e3m4", 8: "float8_e4m3", 9: "float8_e4m3b11fnuz", 10: "float8_e4m3fn", 11: "float8_e4m3fnuz"}
_CODES |= {12: "float8_e5m2", 13: "float8_e5m2fnuz", 14: "float8_e8m0fnu"}
# Two to a byte, as we have it. Those of 6 bits (15 and 16) may be dense or padded, which a capsule does not say.
_CODES |= {17: "float4_e2m1fn"}

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


def view_of_capsule(capsule: Any, owner: Any, index: int) -> ArrayView:
    """The view of a DLPack capsule. The capsule is not consumed: it lives, and frees itself, with the view."""
    tensor = _Tensor.from_address(_pointer_of(capsule, b"dltensor"))
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim)) if tensor.strides else _contiguous(shape)
    name = _CODES.get(tensor.code, "").format(tensor.bits)
    return ArrayView(
        pointer=(tensor.data or 0) + tensor.byte_offset, shape=shape, strides=strides, dtype=_dtype(name, tensor.lanes),
        device=f"cuda:{index}", owner=(owner, capsule), type_name=name or f"DLPack type {tensor.code}",
    )  # fmt: skip


def _dtype(name: str, lanes: int) -> DType | None:
    try:
        return DType(name).with_lanes(lanes) if name else None
    except ValueError:
        return None
