"""Rules that several instructions share. Source: "Constraints" of the nki.isa pages, v2 architecture guide for partitions."""

from __future__ import annotations

from enum import Enum
from typing import Any, NoReturn

import numpy as np

from tests.trn.nki_numpy import language as nl
from tests.trn.nki_numpy.state import NkiError, machine
from tests.trn.nki_numpy.tensor import Tensor

engine = Enum("engine", "unknown tensor vector scalar gpsimd dma sync")
matmul_perf_mode = Enum("matmul_perf_mode", "none double_row")
reduce_cmd = Enum("reduce_cmd", "idle reset reduce reset_reduce load_reduce")


def refuse(message: str) -> NoReturn:
    """The kernel is wrong."""
    raise NkiError(message)


def runs_on(chosen: Any, allowed: tuple[str, ...], *tiles: Any) -> str:
    """The engine, by member; GpSimd does not reach PSUM."""
    if not isinstance(chosen, engine) or chosen.name not in ("unknown", *allowed):
        refuse(f"engine {chosen!r} does not run this")
    if chosen.name == "gpsimd" and any(tile.memory == "psum" for tile in tiles):
        refuse("the GpSimd engine does not reach PSUM")
    return chosen.name


def chip(*tiles: Any) -> None:
    """Operands are on-chip tiles that start where an access of that many partitions may start, of at most 4 free dimensions."""
    for tile in tiles:
        if not isinstance(tile, Tensor):
            refuse(f"an operand is {type(tile).__name__}, not a tile")
        if not tile.on_chip:
            refuse(f"an engine computes on SBUF and PSUM, not {tile.memory}")
        if tile.data.ndim > 5:
            refuse("an access has at most 4 free dimensions")
        if max(tile.shape) > 65535:
            refuse(f"a dimension of {max(tile.shape)} does not fit the 16 bits of an access")
        if tile.memory == "psum" and tile.offset() % 4:
            refuse(f"an access of PSUM starts at byte {tile.offset()}, no multiple of 4")
        count, step = tile.shape[0], 128 if tile.shape[0] > 64 else 64 if tile.shape[0] > 32 else 32
        if tile.partition % step:
            refuse(f"{count} partitions cannot start at {tile.partition}")


def pointwise(*tiles: Tensor) -> None:
    """Operands have equal partitions and equal elements per partition."""
    first = tiles[0]
    for tile in tiles[1:]:
        if (tile.shape[0], tile.free) != (first.shape[0], first.free):
            refuse(f"operands of {first.shape} and {tile.shape}")


def not_both_in_psum(a: Tensor, b: Tensor, name: str) -> None:
    """One read port to PSUM."""
    if a.memory == b.memory == "psum":
        refuse(f"{name} has at most one operand in PSUM")


def vector_or_number(value: Any, data: Tensor, name: str) -> np.ndarray:
    """A number, or a tile with one element for each partition of `data`: of float32, but for a bias."""
    if isinstance(value, bool) or not isinstance(value, int | float | Tensor):
        refuse(f"{name} is {value!r}, neither a number nor a tile")
    if not isinstance(value, Tensor):
        return np.float32(value)  # type: ignore[return-value]
    chip(value)
    any_type = name == "bias"
    if (value.shape[0], value.free) != (data.shape[0], 1) or not (any_type or value.dtype is nl.float32):
        refuse(f"{name} is a tile of {value.shape} {value.dtype.name}; it takes ({data.shape[0]}, 1) float32")
    return value.read_flat()


def arithmetic(op: Any, *, more: tuple[str, ...] = ()) -> nl.Op:
    """An ALU operation in float32, or one of the kinds `more`."""
    if not isinstance(op, nl.Op) or op.kind not in ("alu", "compare", *more):
        refuse(f"{getattr(op, 'name', op)!r} is no ALU operation")
    if op.since > machine.generation:
        refuse(f"nl.{op.name} came with NeuronCore-{op.since}")
    return op


def bit_tiles(*tiles: Tensor) -> None:
    """Bit patterns are integers of one type."""
    if any(tile.dtype.is_float or tile.dtype is not tiles[0].dtype for tile in tiles):
        refuse("bits are combined of integers of one type")


def compare(op: Any) -> nl.Op:
    """A comparison."""
    if not isinstance(op, nl.Op) or op.kind != "compare":
        refuse(f"{getattr(op, 'name', op)!r} is no comparison")
    return op


def function(op: Any) -> nl.Op:
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


def column(tile: Any, data: Tensor, name: str) -> None:
    """A tile with one element per partition."""
    chip(tile)
    if (tile.shape[0], tile.free) != (data.shape[0], 1):
        refuse(f"{name} has one element per partition")


def command(value: Any, *allowed: str) -> str:
    """What to do with the accumulation registers, by member."""
    if not isinstance(value, reduce_cmd) or value.name not in allowed:
        refuse(f"reduce_cmd is {value!r}, not one of {allowed}")
    return value.name


def pattern_index(dst: Tensor, pattern: Any, offset: int, channel_multiplier: int) -> np.ndarray:
    """offset + partition * channel_multiplier + sum(index * step), as (partitions, elements)."""
    if not 1 <= len(pattern) <= 4 or int(np.prod([count for _, count in pattern])) != dst.free:
        refuse("the pattern covers the elements of a partition in up to 4 dimensions")
    grids = np.meshgrid(*(np.arange(count) * step for step, count in pattern), indexing="ij")
    return offset + np.arange(dst.shape[0])[:, None] * channel_multiplier + sum(grids).reshape(1, -1)
