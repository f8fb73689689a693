"""Arrays of one call that share memory: generated code promises that what a kernel writes is reached by one name alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..codegen.usage import Usage
from ..ir import PrimFunc, variable_of
from ..support.errors import ArgumentError
from .arrays import ArrayView

__all__ = ["check_overlaps"]

_EFFORT = 10_000  # steps that NumPy may spend on arrays with strides before we take them to share memory


def check_overlaps(func: PrimFunc, values: Sequence[Any]) -> None:
    """Raise `ArgumentError` where an array that the kernel writes shares an element with another argument."""
    if not func.attrs.get("tirx.noalias", True):
        return
    written = func._memo.get("stored")
    if written is None:
        written = func._memo["stored"] = Usage(func.body).written
    arrays = [
        (name, id(variable_of(param)) in written, value, *_bounds(value))
        for param, name, value in zip(func.params, func.names, values, strict=True)
        if isinstance(value, ArrayView)
    ]
    for at, (name, stored, view, low, high) in enumerate(arrays):
        for other, also, second, start, end in arrays[:at]:
            if (stored or also) and low < end and start < high and _share(view, second):
                raise ArgumentError(
                    f"arguments `{other}` and `{name}` of {func.name} share memory, and the kernel writes "
                    f"`{name if stored else other}`",
                    hint="pass a copy; or let the kernel say that its arrays may overlap: "
                    'Tx.func_attr({"tirx.noalias": False})',
                )


def _bounds(view: ArrayView) -> tuple[int, int]:
    """First byte of an array, and the first behind it."""
    reach = [(extent - 1) * step for extent, step in zip(view.shape, view.strides, strict=True)]
    size = _bytes(view)
    low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + 1
    return view.pointer + low * size, view.pointer + high * size


def _bytes(view: ArrayView) -> int:
    return view.dtype.bytes if view.dtype is not None else 1


def _share(a: ArrayView, b: ArrayView) -> bool:
    """Whether two arrays have an element in common; those with strides may lie between each other."""
    effort: Any = _EFFORT  # NumPy's types know only the values that stand for "exact" and "bounds only"
    try:
        return bool(np.shares_memory(np.asarray(_Layout(a)), np.asarray(_Layout(b)), max_work=effort))
    except np.exceptions.TooHardError:
        return True


class _Layout:
    """The places of an array's elements as NumPy takes them; nothing is read, so that they may be on a device."""

    def __init__(self, view: ArrayView) -> None:
        size = _bytes(view)
        self.__array_interface__ = {
            "version": 3, "typestr": f"|V{size}", "data": (view.pointer, True), "shape": view.shape,
            "strides": tuple(step * size for step in view.strides),
        }  # fmt: skip
