"""Host functions of tensor maps: they run before a launch, on a device and in the simulator alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.intrinsic import SimContext

from ..descriptor import DescriptorError
from ..tensor_map import MODES, TensorMap, check, element_of

__all__ = ["encode_im2col", "encode_tiled", "record"]

_MODE_IM2COL = 1


def record(ctx: SimContext) -> TensorMap:
    """An empty map."""
    return TensorMap()


def encode_tiled(
    ctx: SimContext, map: TensorMap, pointer: Any, *numbers: Any, descriptor_dtype: str, rank: int, interleave: int, swizzle: int,
    l2_promotion: int, oob_fill: int, force_cu_dtype: int,
) -> None:  # fmt: skip
    """Describe a tensor that is copied in boxes."""
    map.dims, map.strides, map.box, map.steps = _split(numbers, (rank, rank - 1, rank, rank))
    _fill(ctx, map, pointer, descriptor_dtype, force_cu_dtype, (interleave, swizzle, l2_promotion, oob_fill))


def encode_im2col(
    ctx: SimContext, map: TensorMap, pointer: Any, *numbers: Any, descriptor_dtype: str, rank: int, mode: str, interleave: int,
    swizzle: int, l2_promotion: int, oob_fill: int, force_cu_dtype: int,
) -> None:  # fmt: skip
    """Describe a tensor that is copied as columns of pixels."""
    map.mode = MODES.index(mode)
    spatial = rank - 2 if map.mode == _MODE_IM2COL else 1
    parts = _split(numbers, (rank, rank - 1, spatial, spatial, 2, rank))
    map.dims, map.strides, map.lower, map.upper, map.box, map.steps = parts
    _fill(ctx, map, pointer, descriptor_dtype, force_cu_dtype, (interleave, swizzle, l2_promotion, oob_fill))


def _split(numbers: Sequence[Any], counts: Sequence[int]) -> list[tuple[int, ...]]:
    found, rest = [], [int(number) for number in numbers]
    for count in counts:
        found.append(tuple(rest[:count]))
        rest = rest[count:]
    return found


def _fill(ctx: SimContext, map: TensorMap, pointer: Any, dtype: str, forced: int, choices: tuple[int, ...]) -> None:
    map.element = element_of(dtype, forced)
    map.address = int(getattr(pointer, "address", pointer))  # of an array of the caller's, or on a device
    map.interleave, map.swizzle, map.l2, map.fill = choices
    try:
        check(map)
    except DescriptorError as problem:
        map.element = None
        ctx.finding("tensor_map", f"{problem.message}; {problem.hint}")
