"""Tensor maps of `Tx.cuda`: descriptions of tensors that the copy engine reads. They are made on the host, before the kernel part.

A_map = Tx.cuda.tensor_map(A, box=(128, 64), swizzle="128B")
Tx.device_entry()
...
Tx.ptx["cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"](
    tile.ptr_to([0, 0]), A_map, column, row, barrier.ptr_to([0]))

Instructions take coordinates innermost first, as the hardware does; `box` and `element_strides` follow the buffer's own order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.intrinsic import call
from tirx.ir import Buffer, Call, IntImm, Var, as_expr, cast
from tirx.script.builder import bind, evaluate

from ..op_tensor_map import INTRINSICS
from ..tensor_map import (
    IM2COL,
    MODES,
    TILED,
    TensorMap,
    check,
    choices,
    code_of,
    element_of,
)
from .checked import at_line, known, refuse

__all__ = [
    "tensor_map", "tensor_map_im2col", "tensormap_encode_im2col", "tensormap_encode_tiled", "tensormap_record", "tvm_stack_alloca",
]  # fmt: skip

_ROW = {row.name.removeprefix("cuda."): row for row in INTRINSICS}


def tensor_map(
    buffer: Buffer,
    box: Sequence[int],
    *,
    dtype: str | None = None,
    swizzle: int | str = "none",
    element_strides: Sequence[int] | None = None,
    interleave: int | str = "none",
    l2_promotion: int | str = "128B",
    oob_fill: int | str = "zero",
) -> Var:
    """A tensor map of a buffer argument, which instructions copy a `box` of at a time.

    `box` is its extents in the buffer's order. `swizzle`: `"none"`, `"32B"`, `"64B"`, `"128B"`, or of 128 bytes in larger pieces
    `"128B_atom_32B"`, `"128B_atom_32B_flip_8B"`, `"128B_atom_64B"`. `element_strides` steps over elements. What lies outside the
    tensor reads as `oob_fill` (`"zero"`, `"nan"`), and is not written. `dtype="tf32"` rounds float32 on the way. Choices may be the
    driver's numbers.
    """
    dims, strides = _described(buffer)
    steps = _reversed("element_strides", element_strides or (1,) * buffer.ndim, buffer.ndim)
    numbers = [*dims, *strides, *_reversed("box", box, buffer.ndim), *steps]
    made = bind(tensormap_record())
    chosen = at_line(choices, interleave, swizzle, l2_promotion, oob_fill)
    evaluate(
        tensormap_encode_tiled(
            made, buffer.data, *numbers, descriptor_dtype=dtype or buffer.dtype.name, rank=buffer.ndim, **chosen
        )
    )
    return made


def tensor_map_im2col(
    buffer: Buffer,
    lower: Sequence[int],
    upper: Sequence[int],
    channels: int,
    pixels: int,
    *,
    mode: str = "im2col",
    dtype: str | None = None,
    swizzle: int | str = "none",
    element_strides: Sequence[int] | None = None,
    interleave: int | str = "none",
    l2_promotion: int | str = "128B",
    oob_fill: int | str = "zero",
) -> Var:
    """A tensor map of a buffer of images (N, D, H, W, C; D and H may lack) that is copied as columns of `pixels` with `channels` each.

    `lower` and `upper` are offsets of the corners of the box of pixels from those of the image, in the order D, H, W (one for W in the
    modes `"im2col_w"` and `"im2col_w128"`).
    """
    dims, strides = _described(buffer)
    steps = _reversed("element_strides", element_strides or (1,) * buffer.ndim, buffer.ndim)
    numbers = [*dims, *strides, *lower, *upper, channels, pixels, *steps]
    made = bind(tensormap_record())
    chosen = at_line(choices, interleave, swizzle, l2_promotion, oob_fill)
    evaluate(
        tensormap_encode_im2col(
            made,
            buffer.data,
            *numbers,
            descriptor_dtype=dtype or buffer.dtype.name,
            rank=buffer.ndim,
            mode=mode,
            **chosen,
        )
    )
    return made


def _reversed(what: str, values: Sequence[int], rank: int) -> list[int]:
    if len(values) != rank:
        raise refuse(
            f"`{what}` has {len(values)} extents and the buffer {rank}", "give one for each dimension of the buffer"
        )
    return [known(what, value) for value in reversed(values)]


def _described(buffer: Any) -> tuple[list[Any], list[Any]]:
    """Extents, and strides in bytes, of a buffer: innermost first."""
    if not isinstance(buffer, Buffer) or buffer.scope_name != "global":
        raise refuse("a tensor map describes a buffer in global memory", "give a buffer argument")
    if as_int(buffer.elem_offset) != 0:
        raise refuse(
            f"`{buffer.name}` does not start where its storage does",
            "describe the whole buffer, and move the coordinates",
        )
    size = buffer.dtype.bytes
    dims = list(buffer.shape)
    if buffer.strides:
        steps = [_wide(step) for step in buffer.strides]
        if as_int(steps[-1]) != 1:
            raise refuse(
                f"elements of `{buffer.name}` are not neighbours", "a tensor map needs an innermost stride of 1"
            )
    else:
        steps = [1]
        for extent in reversed(dims[1:]):
            steps.insert(0, steps[0] * _wide(extent))
    return dims[::-1], [step * size for step in steps[-2::-1]]


def _wide(value: Any) -> Any:
    return value if isinstance(value, int) else cast(as_expr(value), "int64")


def as_int(value: Any) -> int | None:
    """A number that is known while the kernel is built; None otherwise."""
    if isinstance(value, int):
        return value
    return int(value.value) if isinstance(value, IntImm) else None


# ---- as the driver's functions are called -----------------------------------------------------------------------------


def tensormap_record() -> Call:
    """Room for a tensor map, on the host; `tensormap_encode_tiled` or `_im2col` fills it."""
    return call(_ROW["tensormap_record"])


def tvm_stack_alloca(dtype: str, n: int = 1) -> Call:
    """The published name of `tensormap_record()`: `tvm_stack_alloca("tensormap", 1)`."""
    if str(dtype) != "tensormap" or n != 1:
        raise refuse(
            f"tvm_stack_alloca({str(dtype)!r}, {n}) makes room for an argument of a packed call, which TIRx does not have",
            'tvm_stack_alloca("tensormap", 1) is a tensor map',
        )
    return tensormap_record()


def tensormap_encode_tiled(
    map: Any,
    pointer: Any,
    *numbers: Any,
    descriptor_dtype: str,
    rank: int,
    interleave: int = 0,
    swizzle: int = 0,
    l2_promotion: int = 0,
    oob_fill: int = 0,
    force_cu_dtype: int = -1,
) -> Call:
    """Fill `map` for copies of boxes of the tensor at `pointer`.

    `numbers`, innermost dimension first: `rank` extents, `rank - 1` strides in bytes, `rank` extents of the box, `rank` element
    strides. The choices are the driver's numbers; `force_cu_dtype` is its type of elements where that is not the type of
    `descriptor_dtype`.
    """
    counts = (rank, rank - 1, rank, rank)
    parts = _parts("tensormap_encode_tiled", rank, counts, "extents, strides, box, element strides", numbers)
    made = _described_so_far(TILED, descriptor_dtype, force_cu_dtype, interleave, swizzle, l2_promotion, oob_fill)
    made.dims, made.strides, made.box, made.steps = parts
    at_line(check, made)
    return call(
        _ROW["tensormap_encode_tiled"], map, pointer, *numbers, descriptor_dtype=str(descriptor_dtype), rank=rank,
        interleave=made.interleave, swizzle=made.swizzle, l2_promotion=made.l2, oob_fill=made.fill, force_cu_dtype=force_cu_dtype,
    )  # fmt: skip


def tensormap_encode_im2col(
    map: Any,
    pointer: Any,
    *numbers: Any,
    descriptor_dtype: str,
    rank: int,
    mode: str = "im2col",
    interleave: int = 0,
    swizzle: int = 0,
    l2_promotion: int = 0,
    oob_fill: int = 0,
    force_cu_dtype: int = -1,
) -> Call:
    """Fill `map` for copies of columns of pixels of the tensor at `pointer`.

    `numbers`: `rank` extents and `rank - 1` strides in bytes, innermost first; the corners of the box of pixels, `rank - 2` offsets
    each in the order D, H, W (in modes `"im2col_w"` and `"im2col_w128"` one each); channels and pixels of a copy; `rank` element
    strides.
    """
    kind = at_line(code_of, "mode", MODES, mode)
    if kind == TILED:
        raise refuse("a map of mode `tiled` is encoded by tensormap_encode_tiled", "call that")
    spatial = rank - 2 if kind == IM2COL else 1
    counts = (rank, rank - 1, spatial, spatial, 2, rank)
    parts = _parts(
        "tensormap_encode_im2col",
        rank,
        counts,
        "extents, strides, corners, channels and pixels, element strides",
        numbers,
    )
    made = _described_so_far(kind, descriptor_dtype, force_cu_dtype, interleave, swizzle, l2_promotion, oob_fill)
    made.dims, made.strides, made.lower, made.upper, made.box, made.steps = parts
    at_line(check, made)
    return call(
        _ROW["tensormap_encode_im2col"], map, pointer, *numbers, descriptor_dtype=str(descriptor_dtype), rank=rank, mode=mode,
        interleave=made.interleave, swizzle=made.swizzle, l2_promotion=made.l2, oob_fill=made.fill, force_cu_dtype=force_cu_dtype,
    )  # fmt: skip


_MAY_VARY = 2  # parts whose numbers the call decides: extents and strides


def _parts(name: str, rank: int, counts: Sequence[int], words: str, numbers: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The numbers by what they are for; those that only a call knows are None."""
    if not 1 <= rank <= 5:
        raise refuse(f"a tensor map has {rank} dimensions", "it may have 1 to 5")
    if len(numbers) != sum(counts):
        listed = " + ".join(map(str, counts))
        raise refuse(f"{name} of rank {rank} takes {listed} numbers, and gets {len(numbers)}", f"give {words}")
    found, rest = [], list(numbers)
    for at, count in enumerate(counts):
        taken, rest = rest[:count], rest[count:]
        found.append(tuple(as_int(item) if at < _MAY_VARY else known("box", item) for item in taken))
    return found


def _described_so_far(
    mode: int, dtype: str, forced: int, interleave: Any, swizzle: Any, l2_promotion: Any, oob_fill: Any
) -> TensorMap:
    made = TensorMap()
    made.mode = mode
    made.element = at_line(element_of, str(dtype), forced)
    chosen = at_line(choices, interleave, swizzle, l2_promotion, oob_fill)
    made.interleave, made.swizzle, made.l2, made.fill = chosen.values()
    return made
