"""What the device that is present is, asked of the driver library alone, so that nothing heavy is imported."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from .arch import ARCHITECTURES

__all__ = ["detect"]

_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_MAJOR, _MINOR, _MULTIPROCESSORS = 75, 76, 16  # CUdevice_attribute


@cache
def detect() -> dict[str, Any] | None:
    """Attributes of the first device: its architecture and number of multiprocessors; None without a device."""
    try:
        driver = ctypes.CDLL(_LIBRARY)
    except OSError:
        return None
    return read_device(driver)


def read_device(driver: Any) -> dict[str, Any] | None:
    """The same from an open driver library."""
    device = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDeviceGet(ctypes.byref(device), 0) != 0:
        return None
    values = []
    for attribute in (_MAJOR, _MINOR, _MULTIPROCESSORS):
        value = ctypes.c_int()
        if driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device) != 0:
            return None
        values.append(value.value)
    number = 10 * values[0] + values[1]
    row = ARCHITECTURES.get(number)
    suffix = "a" if row is not None and "a" in row.suffixes else ""
    return {"arch": f"sm_{number}{suffix}", "multiprocessors": values[2]}
