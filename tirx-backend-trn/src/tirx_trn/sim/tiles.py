"""Tiles as arrays of (partitions, elements), and how the engines convert and compute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tirx.intrinsic import SimRegion

from ..hardware import PSUM
from .functions import ALU, REDUCE

__all__ = [
    "bits",
    "number",
    "operand",
    "pattern_index",
    "raw",
    "reduced",
    "scalar",
    "store",
    "store_plain",
    "written_part",
]


def number(value: Any) -> Any:
    """A compile-time number, however the simulator passes it."""
    return np.asarray(value).reshape(-1)[0]


def _partitions_first(region: SimRegion, values: Any) -> Any:
    """A box of a PSUM buffer is (bank, partition, ...): its banks belong to the elements of a partition."""
    return np.moveaxis(values, 1, 0) if region.scope == PSUM else values


def raw(region: SimRegion) -> Any:
    """The elements, partitions first, in the tile's own type."""
    values = _partitions_first(region, region.read())
    return values.reshape(values.shape[0], -1)


def operand(region: SimRegion) -> Any:
    """The elements in float32, which arithmetic is done in."""
    return raw(region).astype(np.float32)


def scalar(value: Any) -> Any:
    """A number, or one value per partition as a column."""
    return operand(value) if hasattr(value, "read") else np.float32(number(value))


def _shape_of(region: SimRegion) -> tuple[int, ...]:
    """The shape of a box, partitions first."""
    bank, *rest = region.shape
    return (rest[0], bank, *rest[1:]) if region.scope == PSUM else tuple(region.shape)


def _stored(region: SimRegion, values: Any) -> Any:
    """Values as the tile's type holds them: towards integers rounded to even and saturated."""
    values = np.asarray(values)
    if region.dtype.is_integer and values.dtype.kind not in "iub":
        whole = np.clip(np.rint(values.astype(np.float64)), region.dtype.min_int, region.dtype.max_int)
        return whole.astype(np.int64)
    return values


def store(region: SimRegion, values: Any) -> None:
    """Write (partitions, elements), converted to the tile's type."""
    shaped = _stored(region, values).reshape(_shape_of(region))
    region.write(np.moveaxis(shaped, 0, 1) if region.scope == PSUM else shaped)


def store_plain(region: SimRegion, values: Any) -> None:
    """Write elements in the order of the box, whatever memory it lies in."""
    region.write(_stored(region, values).reshape(region.shape))


def written_part(region: SimRegion, values: Any, mask: Any) -> None:
    """Write only where `mask` holds."""
    shape = _shape_of(region)
    parts = [np.asarray(part).reshape(shape) for part in (values, mask)]
    if region.scope == PSUM:
        parts = [np.moveaxis(part, 0, 1) for part in parts]
    region.write(parts[0], parts[1])


def reduced(op: str, values: Any, axes: Sequence[int]) -> Any:
    """Reduction in float32, or of bits."""
    kind = np.float32 if values.dtype.kind == "f" else values.dtype
    return REDUCE[op].reduce(values, axis=tuple(axes), dtype=kind)


def bits(op: str, a: Any, b: Any) -> Any:
    """Bit patterns combined; shifting by all bits or more leaves zeros, or the sign to the right."""
    if op not in ("left_shift", "right_shift"):
        return ALU[op](a, b)
    width, amount = a.dtype.itemsize * 8, np.clip(b.astype(np.int64), 0, 63)
    shifted = ALU[op](a.astype(np.int64), np.minimum(amount, 62 if op == "left_shift" else 63))
    return (np.where(amount < width, shifted, 0) if op == "left_shift" else shifted).astype(a.dtype)


def pattern_index(region: SimRegion, offset: Any, multiplier: Any, pattern: Sequence[Any]) -> Any:
    """What the pattern gives each element (offset + partition * multiplier + sum(index * step)), partitions first."""
    values = [int(number(value)) for value in pattern]
    steps, counts = values[::2], values[1::2]
    place = np.zeros(counts, np.int64)
    for axis, (step, count) in enumerate(zip(steps, counts, strict=True)):
        place += step * np.arange(count).reshape([-1 if dim == axis else 1 for dim in range(len(counts))])
    rows = np.arange(_shape_of(region)[0])[:, None] * int(number(multiplier))
    return int(number(offset)) + rows + place.reshape(1, -1)
