"""Which elements of a tensor a copy moves, in the order in which they lie in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tensor_map import TILED, TensorMap

__all__ = ["Box", "box_of"]


class Box:
    """Addresses of elements, and whether they belong to the tensor: (units of 16 bytes, elements in one).

    `whole` units lie in one piece inside the tensor, at a multiple of 16 bytes.
    """

    __slots__ = ("address", "inside", "units", "whole")

    def __init__(self, address: Any, inside: Any, size: int) -> None:
        each = 16 // size
        self.address = address.reshape(-1, each)
        self.inside = inside.reshape(-1, each)
        self.units = len(self.address)
        together = self.address[:, -1] - self.address[:, 0] == 16 - size
        self.whole = self.inside.all(axis=1) & together & (self.address[:, 0] % 16 == 0)


def box_of(made: TensorMap, coordinates: Sequence[int], offsets: Sequence[int], rows: bool) -> Box:
    """The box at `coordinates` (innermost first); `rows`: the first is a column, the others are rows of their own."""
    assert made.element is not None
    if rows:
        axes = [coordinates[0] + np.arange(made.box[0]), np.asarray(coordinates[1:], np.int64)]
        return _of_axes(made, axes)
    if made.mode == TILED:
        counts = [-(-extent // step) for extent, step in zip(made.box[1:], made.steps[1:], strict=True)]
        axes = [coordinates[0] + np.arange(made.box[0])]
        axes += [c + step * np.arange(n) for c, step, n in zip(coordinates[1:], made.steps[1:], counts, strict=True)]
        return _of_axes(made, axes)
    return _of_pixels(made, coordinates, offsets)


def _of_axes(made: TensorMap, axes: Sequence[Any]) -> Box:
    """All combinations of positions along each dimension."""
    assert made.element is not None
    size, rank = made.element.bytes, len(axes)
    address: Any = np.int64(made.address)
    inside: Any = np.array(True)
    for at, (positions, dim, stride) in enumerate(zip(axes, made.dims, (size, *made.strides), strict=True)):
        shape = [1] * rank
        shape[rank - 1 - at] = len(positions)
        address = address + (positions.astype(np.int64) * stride).reshape(shape)
        inside = inside & ((positions >= 0) & (positions < dim)).reshape(shape)
    return Box(address, inside, size)


def _of_pixels(made: TensorMap, coordinates: Sequence[int], offsets: Sequence[int]) -> Box:
    """Pixels along W, then H, then D, then images, between the corners of the box of pixels; then moved by the offsets."""
    assert made.element is not None
    channels, pixels = made.box
    first, last = made.lower[::-1], [dim - 1 + far for dim, far in zip(made.dims[1:-1], made.upper[::-1], strict=True)]
    at, steps = list(coordinates[1:]), made.steps[1:]
    moved = [*(offsets or [0] * len(first)), 0]
    places = np.empty((pixels, len(at)), np.int64)
    for pixel in range(pixels):
        places[pixel] = [position + off for position, off in zip(at, moved, strict=True)]
        _next(at, first, last, steps)
    channel = coordinates[0] + np.arange(channels)
    size = made.element.bytes
    address = made.address + (places * np.asarray(made.strides)).sum(axis=1)[:, None] + channel * size
    rows: Any = ((places >= 0) & (places < np.asarray(made.dims[1:]))).all(axis=1)
    inside = rows[:, None]
    return Box(address, inside & (channel >= 0) & (channel < made.dims[0]), size)


def _next(at: list[int], first: Sequence[int], last: Sequence[int], steps: Sequence[int]) -> None:
    """The pixel behind `at`: on along W; behind the corner, from the other corner on in the next row."""
    for axis in range(len(first)):
        at[axis] += steps[axis]
        if at[axis] <= last[axis]:
            return
        at[axis] = first[axis]
    at[-1] += steps[-1]
