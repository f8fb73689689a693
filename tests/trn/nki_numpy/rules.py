"""Rules that several instructions share. Source: "Constraints" of the nki.isa pages, v2 architecture guide for partitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.state import NkiError
from tests.trn.nki_numpy.tensor import Tensor


def refuse(message: str) -> NoReturn:
    """The kernel is wrong."""
    raise NkiError(message)


def chip(*tiles: Any) -> None:
    """Operands are on-chip tiles that start where an access of that many partitions may start, of at most 4 free dimensions."""
    for tile in tiles:
        if not isinstance(tile, Tensor):
            refuse(f"an operand is {type(tile).__name__}, not a tile")
        if not tile.on_chip:
            refuse(f"an engine computes on SBUF and PSUM, not {tile.memory}")
        if tile.data.ndim > 5:
            refuse("an access has at most 4 free dimensions")
        count, step = tile.shape[0], 128 if tile.shape[0] > 64 else 64 if tile.shape[0] > 32 else 32
        if tile.partition % step:
            refuse(f"{count} partitions cannot start at {tile.partition}")


def pointwise(*tiles: Tensor) -> None:
    """Operands have equal partitions and equal elements per partition."""
    first = tiles[0]
    for tile in tiles[1:]:
        if (tile.shape[0], tile.free) != (first.shape[0], first.free):
            refuse(f"operands of {first.shape} and {tile.shape}")


def vector_or_number(value: Any, data: Tensor, name: str) -> np.ndarray:
    """A number, or a float32 tile with one element for each partition of `data`."""
    if isinstance(value, bool) or not isinstance(value, int | float | Tensor):
        refuse(f"{name} is {value!r}, neither a number nor a tile")
    if not isinstance(value, Tensor):
        return np.float32(value)  # type: ignore[return-value]
    chip(value)
    if (value.shape[0], value.free) != (data.shape[0], 1) or value.dtype is not nl.float32:
        refuse(f"{name} is a tile of {value.shape} {value.dtype.name}; it takes ({data.shape[0]}, 1) float32")
    return value.read_flat()


def arithmetic(op: Any) -> nl.Op:
    """An ALU operation."""
    if not isinstance(op, nl.Op) or op.kind not in ("alu", "compare"):
        refuse(f"{getattr(op, 'name', op)!r} is no ALU operation")
    return op


def compare(op: Any) -> nl.Op:
    """A comparison."""
    if not isinstance(op, nl.Op) or op.kind != "compare":
        refuse(f"{getattr(op, 'name', op)!r} is no comparison")
    return op


def function(op: Any) -> Callable[..., Any]:
    """An activation function."""
    if not isinstance(op, nl.Op) or op.kind != "activation":
        refuse(f"{getattr(op, 'name', op)!r} is no activation function")
    return op


def reduction(axis: Any, data: Tensor) -> tuple[int, ...]:
    """Axes of a reduction: trailing, free."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = data.data.ndim
    if 0 in axes or sorted(axes) != list(range(rank - len(axes), rank)):
        refuse(f"axes {axes} of a tile of rank {rank} are not its last free ones")
    return axes
