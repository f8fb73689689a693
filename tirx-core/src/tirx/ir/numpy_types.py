"""NumPy types of dtypes. Not imported by the IR itself: only what runs kernels needs NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..backend import find, registry
from ..support.late import load_object
from .dtype import DType

__all__ = ["dtype_of_numpy", "numpy_dtype"]

_BY_NAME: dict[str, Any] = {
    "bool": np.bool_,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e8m0fnu": getattr(ml_dtypes, "float8_e8m0fnu", None),
    "handle": np.uint64,
    **{f"{sign}int{bits}": getattr(np, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **{f"float{bits}": getattr(np, f"float{bits}") for bits in (16, 32, 64)},
    **{
        name: getattr(ml_dtypes, name, None)
        for name in (
            "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
            "float8_e5m2fnuz", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
        )
    },
}  # fmt: skip


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy type of one lane; `ValueError` for types that NumPy (with ml_dtypes as installed) cannot store."""
    found = _BY_NAME.get(dtype.scalar_name) or _brought(find("dtypes", dtype.scalar_name))
    if found is None:
        raise ValueError(f"NumPy has no type for {dtype}")
    made: np.dtype[Any] = np.dtype(found)
    return made


def dtype_of_numpy(dtype: Any) -> DType | None:
    """The dtype of a NumPy type, or None when a kernel cannot use it."""
    wanted = np.dtype(dtype)
    for name, found in _BY_NAME.items():
        if found is not None and name != "handle" and np.dtype(found) == wanted:
            return DType(name)
    rows = registry().rows("dtypes").values()
    return next((DType(row.name) for row in rows if np.dtype(_brought(row)) == wanted), None)


def _brought(row: Any) -> Any:
    """The NumPy type of a dtype that a backend brings (hook `tirx_dtypes`)."""
    return None if row is None else load_object(row.numpy)
