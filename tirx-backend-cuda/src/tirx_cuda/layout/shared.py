"""Tiles of shared memory as matrix instructions and tensor maps read them: rows of 32, 64 or 128 bytes, swizzled.

An atom is 8 rows of 16 bytes times 1, 2, 4 or 8, one after another. In row r, the 16-byte piece c of an atom of 128 bytes lies where
piece c ^ r would; with 64 (32) bytes, c ^ r // 2 (r // 4). Without a swizzle, pieces of a column of 16 bytes lie below each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import prod
from typing import Any

from tirx.ir import DType, Layout
from tirx.layout import ComposeLayout, TileLayout

from .refusal import fault, one_of, positive, tile

__all__ = ["SwizzleMode", "get_swizzle_mode_from_layout", "mma_atom_layout", "mma_shared_layout"]

ROWS = 8  # of an atom
_PIECE_BITS = 128
_ATOM_LEN = 3


class SwizzleMode(IntEnum):
    """How rows of a tile are exchanged, by the bytes of a row of an atom; also accepted as 0 .. 3 or "none", "32B" ..."""

    SWIZZLE_NONE = 0
    SWIZZLE_32B_ATOM = 1
    SWIZZLE_64B_ATOM = 2
    SWIZZLE_128B_ATOM = 3


_NAMES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}


def mma_atom_layout(dtype: Any, swizzle_mode: SwizzleMode | int | str) -> ComposeLayout:
    """The smallest tile of a mode: 8 rows of 16, 32, 64 or 128 bytes."""
    per_element, mode = _per_element(dtype), _mode(swizzle_mode)
    return ComposeLayout(per_element, mode, _ATOM_LEN, tile((ROWS * _atom_columns(per_element, mode), 1, "m")))


def mma_shared_layout(dtype: Any, swizzle_mode: SwizzleMode | int | str, shape: Sequence[int]) -> Layout:
    """A tile of `shape` (its last two dimensions are rows and columns): atoms below each other, then to the right."""
    per_element, mode = _per_element(dtype), _mode(swizzle_mode)
    if len(shape) < 2:
        raise fault(f"shape is {tuple(shape)}", "it has at least two dimensions")
    *lead, rows, columns = (positive("an extent of shape", extent) for extent in shape)
    width = _atom_columns(per_element, mode)
    if (mode and rows % ROWS) or columns % width:
        atoms = f"multiples of {ROWS} rows and {width} columns" if mode else f"columns in multiples of {width}"
        raise fault(f"a tile of {rows} x {columns} {dtype} is not made of whole atoms", f"this swizzle takes {atoms}")
    inner = tile(
        (prod(lead), rows * columns, "m"), (rows, width, "m"), (columns // width, rows * width, "m"), (width, 1, "m")
    )
    return ComposeLayout(per_element, mode, _ATOM_LEN, inner.canonicalize()) if mode else inner


def get_swizzle_mode_from_layout(layout: Layout) -> SwizzleMode:
    """The mode of a layout; `LayoutError` for a swizzle that no mode has."""
    if isinstance(layout, TileLayout):
        return SwizzleMode.SWIZZLE_NONE
    if not isinstance(layout, ComposeLayout):
        raise fault(f"{layout!r} is neither a TileLayout nor a ComposeLayout")
    length = layout.swizzle_len
    if length == 0:
        return SwizzleMode.SWIZZLE_NONE
    if not layout.swizzle_inner:
        raise fault(
            "the swizzle exchanges rows by their columns, the hardware's columns by their rows",
            "use swizzle_inner=True",
        )
    if layout.atom_len != _ATOM_LEN or length > _ATOM_LEN:
        raise fault(
            f"no swizzle of the hardware has swizzle_len={length}, atom_len={layout.atom_len}",
            "swizzle_len is 0 to 3, atom_len 3",
        )
    return SwizzleMode(length)


def _per_element(dtype: Any) -> int:
    """Elements of 16 bytes, as a power of two."""
    try:
        bits = DType(dtype).total_bits
    except ValueError as error:
        raise fault(str(error)) from None
    one_of(f"the number of bits of {dtype}", bits, (4, 8, 16, 32, 64))
    return (_PIECE_BITS // bits).bit_length() - 1


def _mode(value: SwizzleMode | int | str) -> int:
    found = _NAMES.get(value, value) if isinstance(value, str) else value
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= _ATOM_LEN:
        raise fault(f"swizzle_mode is {value!r}", f"it is one of 0, 1, 2, 3, {', '.join(map(repr, _NAMES))}")
    return int(found)


def _atom_columns(per_element: int, mode: int) -> int:
    return 1 << (per_element + mode)
