"""Swizzled tiles of shared memory: published values, the rule of the hardware, and no bank conflicts where they promise none."""

from __future__ import annotations

from typing import Any

import pytest

from tirx.layout import (
    ComposeLayout,
    S,
    TileLayout,
    get_swizzle_mode_from_layout,
    mma_atom_layout,
    mma_shared_layout,
)
from tirx.layout.draw import picture_of
from tirx.support.errors import LayoutError
from tirx_cuda.layout.shared import SwizzleMode


@pytest.mark.parametrize(
    ("dtype", "per_element"),
    [
        ("float64", 1),
        ("float32", 2),
        ("float16", 3),
        ("bfloat16", 3),
        ("int8", 4),
        ("float8_e4m3fn", 4),
        ("float4_e2m1fn", 5),
    ],
)
@pytest.mark.parametrize("mode", list(SwizzleMode))
def test_atoms(dtype: str, per_element: int, mode: SwizzleMode) -> None:
    columns = 1 << (per_element + mode)
    atom = mma_atom_layout(dtype, mode)
    assert atom == ComposeLayout(per_element, int(mode), 3, TileLayout(S[8 * columns]))
    assert mma_atom_layout(dtype, int(mode)) == mma_atom_layout(dtype, ("none", "32B", "64B", "128B")[mode]) == atom
    assert get_swizzle_mode_from_layout(atom) is mode


@pytest.mark.parametrize(
    ("dtype", "mode", "shape", "layout"),
    [
        ("float16", 3, (8, 64), ComposeLayout(3, 3, 3, TileLayout(S[512]))),
        ("float16", 3, (128, 64), ComposeLayout(3, 3, 3, TileLayout(S[8192]))),
        ("float16", 3, (128, 128), ComposeLayout(3, 3, 3, TileLayout(S[(128, 2, 64) : (64, 8192, 1)]))),
        ("float16", 2, (64, 64), ComposeLayout(3, 2, 3, TileLayout(S[(64, 2, 32) : (32, 2048, 1)]))),
        ("float8_e4m3fn", 3, (128, 128), ComposeLayout(4, 3, 3, TileLayout(S[16384]))),
        ("float32", 1, (16, 16), ComposeLayout(2, 1, 3, TileLayout(S[(16, 2, 8) : (8, 128, 1)]))),
        ("float16", 3, (2, 128, 64), ComposeLayout(3, 3, 3, TileLayout(S[16384]))),
        ("float16", 3, (2, 128, 128), ComposeLayout(3, 3, 3, TileLayout(S[(2, 128, 2, 64) : (16384, 64, 8192, 1)]))),
        ("float16", 0, (128, 64), TileLayout(S[(128, 8, 8) : (8, 1024, 1)])),
        ("float16", 0, (2, 128, 64), TileLayout(S[(2, 128, 8, 8) : (8192, 8, 1024, 1)])),
        ("float16", 0, (5, 64), TileLayout(S[(5, 8, 8) : (8, 40, 1)])),
    ],
)
def test_tiles(dtype: str, mode: int, shape: tuple[int, ...], layout: Any) -> None:
    assert mma_shared_layout(dtype, mode, shape) == layout
    assert get_swizzle_mode_from_layout(mma_shared_layout(dtype, mode, shape)) == mode


@pytest.mark.parametrize(("mode", "shift"), [(1, 2), (2, 1), (3, 0)])
def test_pieces_of_a_row_are_exchanged_as_the_hardware_does(mode: int, shift: int) -> None:
    pieces = 1 << mode
    tile, columns = mma_shared_layout("float16", mode, (16, 8 * pieces)), 8 * pieces
    for row in range(16):
        for column in range(columns):
            piece = (column // 8) ^ ((row % 8) >> shift)
            assert tile.physical((row, column), (16, columns))["m"] == row * columns + piece * 8 + column % 8


@pytest.mark.parametrize("mode", [0, 3])
@pytest.mark.parametrize("dtype", ["float16", "float8_e4m3fn", "float32"])
def test_eight_rows_of_a_column_meet_different_banks(dtype: str, mode: int) -> None:
    picture = picture_of(mma_shared_layout(dtype, mode, (64, 128)), (64, 128), dtype=dtype, limit=(64, 8))
    assert max(picture.turns[1]) == 1


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda: mma_atom_layout("float16", 4), "swizzle_mode is 4", "it is one of 0, 1, 2, 3, 'none', '32B', '64B', '128B'"),
        (lambda: mma_atom_layout("float16", "256B"), "swizzle_mode is '256B'", None),
        (lambda: mma_atom_layout("float16", True), "swizzle_mode is True", None),
        (lambda: mma_atom_layout("float16x8", 1), "the number of bits of float16x8 is 128", "it is one of 4, 8, 16, 32, 64"),
        (lambda: mma_atom_layout("flout16", 1), "unknown dtype 'flout16'; did you mean `float16` or `bfloat16` or `float64`?", None),
        (lambda: mma_shared_layout("float16", 3, (128, 32)), "a tile of 128 x 32 float16 is not made of whole atoms",
         "this swizzle takes multiples of 8 rows and 64 columns"),
        (lambda: mma_shared_layout("float16", 3, (4, 64)), "a tile of 4 x 64 float16 is not made of whole atoms", None),
        (lambda: mma_shared_layout("float16", 0, (128, 4)), "a tile of 128 x 4 float16 is not made of whole atoms",
         "this swizzle takes columns in multiples of 8"),
        (lambda: mma_shared_layout("float16", 3, (64,)), "shape is (64,)", "it has at least two dimensions"),
        (lambda: mma_shared_layout("float16", 3, (0, 64)), "an extent of shape is 0", None),
        (lambda: get_swizzle_mode_from_layout(ComposeLayout(3, 3, 3, TileLayout(S[8, 64]), swizzle_inner=False)),
         "the swizzle exchanges rows by their columns, the hardware's columns by their rows", "use swizzle_inner=True"),
        (lambda: get_swizzle_mode_from_layout(ComposeLayout(3, 4, 4, TileLayout(S[8, 128]))),
         "no swizzle of the hardware has swizzle_len=4, atom_len=4", "swizzle_len is 0 to 3, atom_len 3"),
        (lambda: get_swizzle_mode_from_layout(ComposeLayout(3, 3, 4, TileLayout(S[8, 128]))),
         "no swizzle of the hardware has swizzle_len=3, atom_len=4", None),
        (lambda: get_swizzle_mode_from_layout("128B"), "'128B' is neither a TileLayout nor a ComposeLayout", None),
    ],
)  # fmt: skip
def test_tiles_that_are_not(call: Any, message: str, hint: str | None) -> None:
    with pytest.raises(LayoutError) as caught:
        call()
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


def test_layouts_without_a_swizzle_have_mode_none() -> None:
    assert get_swizzle_mode_from_layout(TileLayout(S[8, 64])) is SwizzleMode.SWIZZLE_NONE
    assert get_swizzle_mode_from_layout(ComposeLayout(3, 0, 3, TileLayout(S[8, 64]))) is SwizzleMode.SWIZZLE_NONE
    flipped = ComposeLayout(3, 0, 3, TileLayout(S[8, 64]), swizzle_inner=False)
    assert get_swizzle_mode_from_layout(flipped) is SwizzleMode.SWIZZLE_NONE
