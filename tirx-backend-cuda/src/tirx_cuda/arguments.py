"""Tensor maps on their way into a launch: what a caller may give, the driver's encoding, and the simulator's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirx.runtime.arrays import view_of
from tirx.support.errors import ArgumentError

from .descriptor import DescriptorError
from .tensor_map import (
    IM2COL,
    TILED,
    TensorMap,
    check,
    choices,
    element_of,
)

__all__ = ["accept", "encode", "simulate", "tensor_map"]


def tensor_map(
    array: Any,
    box: Sequence[int],
    *,
    dtype: str | None = None,
    swizzle: int | str = "none",
    element_strides: Sequence[int] | None = None,
    interleave: int | str = "none",
    l2_promotion: int | str = "128B",
    oob_fill: int | str = "zero",
) -> TensorMap:
    """A tensor map of an array, for a kernel's argument `m: Tx.TensorMap()`; `ArgumentError` where the array has none.

    The keywords are those of `Tx.cuda.tensor_map`. On a device the array must be there already.
    """
    view = view_of(array)
    if view is None or view.dtype is None:
        raise ArgumentError(f"a tensor map describes an array, not a {type(array).__name__}")
    rank, size = len(view.shape), view.dtype.bytes
    made = TensorMap()
    try:
        made.element = element_of(dtype or view.dtype.name)
        chosen = choices(interleave, swizzle, l2_promotion, oob_fill)
        made.interleave, made.swizzle, made.l2, made.fill = chosen.values()
        made.address, made.array = view.pointer, array
        made.dims = tuple(view.shape[::-1])
        made.strides = tuple(step * size for step in view.strides[-2::-1]) if rank > 1 else ()
        made.box, made.steps = tuple(box[::-1]), tuple((element_strides or (1,) * rank)[::-1])
        if view.strides[-1] != 1:
            raise DescriptorError("elements of the array are not neighbours", hint="pass a contiguous copy")
        check(made)
    except DescriptorError as problem:
        raise ArgumentError(problem.message, hint=problem.hint) from None
    return made


def accept(value: Any) -> TensorMap | None:
    """A map that `tensor_map` made."""
    return value if isinstance(value, TensorMap) else None


def simulate(value: TensorMap, address_of: Callable[[Any], int]) -> bytes:
    """The bytes that the simulator's instructions read."""
    if value.element is None:
        return bytes(128)
    if value.array is not None:
        value.address = address_of(value.array)
    return value.simulated().ljust(128, b"\0")


def encode(value: TensorMap, target: Any) -> bytes:
    """The bytes that the driver makes of it."""
    from cuda.bindings import driver  # only those who run kernels have it

    if value.element is None:
        raise ArgumentError(
            "a tensor map is launched before it is encoded", hint="call tensormap_encode_tiled before the kernel"
        )
    view = view_of(value.array) if value.array is not None else None
    if view is not None and view.device == "cpu":
        raise ArgumentError(
            "a tensor map of an array on the host cannot be launched on a device",
            hint="pass the array as a buffer argument, and make the map in the kernel's host part",
        )
    return encoded(driver, value)


def encoded(driver: Any, value: TensorMap) -> bytes:
    """The same with a driver module that is given."""
    assert value.element is not None
    names = driver.CUtensorMapDataType(value.element.code)
    u64, u32 = driver.cuuint64_t, driver.cuuint32_t
    head = [names, u32(value.rank), value.address, list(map(u64, value.dims)), list(map(u64, value.strides))]
    steps = list(map(u32, value.steps))
    tail = [
        driver.CUtensorMapSwizzle(value.swizzle), driver.CUtensorMapL2promotion(value.l2), driver.CUtensorMapFloatOOBfill(value.fill)
    ]  # fmt: skip
    interleave = driver.CUtensorMapInterleave(value.interleave)
    if value.mode == TILED:
        answer = driver.cuTensorMapEncodeTiled(*head, list(map(u32, value.box)), steps, interleave, *tail)
    elif value.mode == IM2COL:
        columns = (u32(value.box[0]), u32(value.box[1]))
        answer = driver.cuTensorMapEncodeIm2col(
            *head, list(value.lower), list(value.upper), *columns, steps, interleave, *tail
        )
    else:
        columns = (u32(value.box[0]), u32(value.box[1]))
        mode = driver.CUtensorMapIm2ColWideMode(value.mode - IM2COL - 1)
        answer = driver.cuTensorMapEncodeIm2colWide(
            *head, value.lower[0], value.upper[0], *columns, steps, interleave, mode, *tail
        )
    error, made = answer
    if int(error) != 0:
        raise ArgumentError(f"the driver refuses a tensor map: {error}")
    return b"".join(int(word).to_bytes(8, "little") for word in made.opaque)
