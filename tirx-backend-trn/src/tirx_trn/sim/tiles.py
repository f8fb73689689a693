"""Tiles as arrays of (partitions, elements), and how the engines convert and compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tirx.intrinsic import SimRegion

from ..layout import PSUM

__all__ = ["ALU", "REDUCE", "number", "operand", "partitions_first", "raw", "reduced", "scalar", "store"]

ALU: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}
REDUCE: dict[str, np.ufunc] = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def number(value: Any) -> Any:
    """A compile-time number, however the simulator passes it."""
    return np.asarray(value).reshape(-1)[0]


def partitions_first(region: SimRegion, values: Any) -> Any:
    """A box of a PSUM buffer is (bank, partition, ...): its banks belong to the elements of a partition."""
    return np.moveaxis(values, 1, 0) if region.scope == PSUM else values


def raw(region: SimRegion) -> Any:
    """The elements, partitions first, in the tile's own type."""
    values = partitions_first(region, region.read())
    return values.reshape(values.shape[0], -1)


def operand(region: SimRegion) -> Any:
    """The elements in float32, which arithmetic is done in."""
    return raw(region).astype(np.float32)


def scalar(value: Any) -> Any:
    """A number, or one value per partition as a column."""
    return operand(value) if hasattr(value, "read") else np.float32(number(value))


def shape_of(region: SimRegion) -> tuple[int, ...]:
    """The shape of a box, partitions first."""
    bank, *rest = region.shape
    return (rest[0], bank, *rest[1:]) if region.scope == PSUM else tuple(region.shape)


def store(region: SimRegion, values: Any) -> None:
    """Write (partitions, elements), converted to the tile's type: to integers, rounded to even and saturated."""
    values = np.asarray(values)
    if region.dtype.is_integer and values.dtype.kind not in "iub":
        values = np.clip(np.rint(values.astype(np.float64)), region.dtype.min_int, region.dtype.max_int).astype(
            np.int64
        )
    shaped = values.reshape(shape_of(region))
    region.write(np.moveaxis(shaped, 0, 1) if region.scope == PSUM else shaped)


def reduced(op: str, values: Any, axes: Sequence[int]) -> Any:
    """Reduction in float32."""
    return REDUCE[op].reduce(values, axis=tuple(axes), dtype=np.float32)
