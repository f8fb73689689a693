"""Tensor memory: where data paths put accumulators, and where operands of tcgen05.mma lie."""

from __future__ import annotations

from typing import Any

import pytest

from tirx.layout import (
    R,
    S,
    TCol,
    TileLayout,
    TLane,
    tid_in_wg,
    tmem_datapath_layout,
    tmem_mma_operand_layout,
    wg_local_layout,
)
from tirx.support.errors import LayoutError

IDENTITY = TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)])
FOLDED = TileLayout(S[(64, 2, 32) : (1 @ TLane, 64 @ TLane, 1 @ TCol)])
SCATTERED = TileLayout(S[(4, 16, 64) : (32 @ TLane, 1 @ TLane, 1 @ TCol)])


@pytest.mark.parametrize(
    ("letter", "rows", "layout"),
    [
        ("A", 128, IDENTITY),
        ("D", 128, IDENTITY),
        ("B", 64, FOLDED),
        ("E", 64, FOLDED),
        ("C", 64, SCATTERED),
        ("F", 64, SCATTERED),
        ("G", 32, TileLayout(S[(32, 4, 16) : (1 @ TLane, 32 @ TLane, 1 @ TCol)])),
    ],
)
def test_data_paths(letter: str, rows: int, layout: TileLayout) -> None:
    assert tmem_datapath_layout(letter, rows, 64) == layout


def test_the_upper_half_of_the_slabs() -> None:
    upper = TileLayout(S[(4, 16, 8) : (32 @ TLane, 1 @ TLane, 1 @ TCol)] + 16 @ TLane)
    assert tmem_datapath_layout("F", 64, 8, 1) == tmem_datapath_layout("C", 64, 8, sub_slab=1) == upper


def test_both_halves_together_fill_all_lanes() -> None:
    lanes = [
        tmem_datapath_layout("F", 64, 1, half).apply(row, 0, shape=(64, 1))["TLane"]
        for half in (0, 1)
        for row in range(64)
    ]
    assert sorted(lanes) == list(range(128))


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("H", 64, 8), "datapath is 'H'", "it is one of A, B, C, D, E, F, G"),
        (("d", 128, 8), "datapath is 'd'", "it is one of A, B, C, D, E, F, G"),
        (("A", 64, 8), "data path A has 128 rows, not 64", None),
        (("B", 64, 7), "cols is 7", "it is a multiple of 2"),
        (("G", 32, 6), "cols is 6", "it is a multiple of 4"),
        (("A", 128, 0), "cols is 0", "it is a constant above zero"),
        (("D", 128, 8, 1), "data path D fills both halves of a warp's lanes", "only C and F have sub_slab=1"),
        (("F", 64, 8, 2), "sub_slab is 2", "it is one of 0, 1"),
    ],
)
def test_data_paths_that_are_not(arguments: tuple[Any, ...], message: str, hint: str | None) -> None:
    with pytest.raises(LayoutError) as caught:
        tmem_datapath_layout(*arguments)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("operand", "shape", "options", "layout"),
    [
        ("D", (128, 64), {"M": 128, "cta_group": 1}, IDENTITY),
        ("D", (64, 64), {"M": 64, "cta_group": 1}, SCATTERED),
        ("D", (64, 64), {"M": 64, "cta_group": 1, "ws": True}, FOLDED),
        ("D", (128, 64), {"M": 256, "cta_group": 2}, IDENTITY),
        ("D", (64, 64), {"M": 128, "cta_group": 2}, FOLDED),
        ("D", (2, 64, 64), {"M": 128, "cta_group": 2}, IDENTITY),
        ("D", (2, 64, 64), {"M": 64, "cta_group": 1, "ws": True}, IDENTITY),
        ("D", (64, 64), {"M": 128, "cta_group": 2, "group": (1, 2, 32)}, FOLDED),
        (
            "D",
            (64, 64),
            {"M": 128, "cta_group": 2, "group": (2, 2, 16)},
            TileLayout(S[(64, 2, 2, 16) : (1 @ TLane, 16 @ TCol, 64 @ TLane, 1 @ TCol)]),
        ),
        ("A", (128, 64), {"M": 128, "cta_group": 1}, IDENTITY),
        ("A", (64, 64), {"M": 64, "cta_group": 1}, TileLayout(S[(64, 64) : (1 @ TLane, 1 @ TCol)])),
        ("A", (128, 64), {"M": 256, "cta_group": 2}, IDENTITY),
        (
            "A",
            (64, 64),
            {"M": 128, "cta_group": 2},
            TileLayout(S[(64, 64) : (1 @ TLane, 1 @ TCol)] + R[2 : 64 @ TLane]),
        ),
        ("A", (2, 64, 64), {"M": 128, "cta_group": 2}, IDENTITY),
        ("A", (2, 64, 64), {"M": 64, "cta_group": 1, "ws": True}, IDENTITY),
    ],
)
def test_operands(operand: str, shape: tuple[int, ...], options: dict[str, Any], layout: TileLayout) -> None:
    dtype = "bfloat16" if operand == "A" else "float32"
    assert tmem_mma_operand_layout(operand, shape, dtype, **options) == layout


@pytest.mark.parametrize(
    ("operand", "shape", "options", "message", "hint"),
    [
        ("B", (128, 64), {"M": 128, "cta_group": 1}, "operand is 'B'", "it is one of A, D"),
        ("D", (64, 64), {"M": 128, "cta_group": 1}, "operand D on data path D does not have shape (64, 64)", "it has (128, n)"),
        ("D", (128, 64), {"M": 128, "cta_group": 2}, "operand D on data path B does not have shape (128, 64)",
         "it has (64, n) or (2, 64, n)"),
        ("A", (64, 64), {"M": 64, "cta_group": 1, "ws": True}, "operand A on data path E does not have shape (64, 64)",
         "it has (2, 64, n)"),
        ("D", (2, 64, 64), {"M": 64, "cta_group": 1}, "operand D on data path F does not have shape (2, 64, 64)", "it has (64, n)"),
        ("D", (32, 64), {"M": 32, "cta_group": 1}, "no instruction has M=32, cta_group=1",
         "there are M=128 cta_group=1, M=64 cta_group=1, M=64 cta_group=1 ws=True, M=256 cta_group=2, M=128 cta_group=2"),
        ("D", (128, 64), {"M": 128, "cta_group": 1, "ws": True}, "no instruction has M=128, cta_group=1, ws=True", None),
        ("D", (128, 64), {"M": 128, "cta_group": 1, "sparse": True}, "the layout of a sparse operand A is not offered", None),
        ("D", (128, 64), {"M": 128, "cta_group": 1, "group": (2, 2, 16)},
         "the columns of operand D of shape (128, 64) on data path D have no groups",
         "group is for operand D with two dimensions on data paths B and E"),
        ("D", (64, 64), {"M": 128, "cta_group": 2, "group": (2, 2, 32)}, "group is (2, 2, 32)",
         "it is (s, 2, n) with s * 2 * n = 64 columns"),
        ("D", (2, 64, 64), {"M": 128, "cta_group": 2, "group": (2, 2, 16)},
         "the columns of operand D of shape (2, 64, 64) on data path B have no groups", None),
        ("A", (64, 64), {"M": 128, "cta_group": 2, "group": (2, 2, 16)},
         "the columns of operand A of shape (64, 64) on data path B have no groups", None),
        ("D", (64, 0), {"M": 128, "cta_group": 2}, "an extent of shape is 0", "it is a constant above zero"),
    ],
)  # fmt: skip
def test_operands_that_are_not(
    operand: str, shape: Any, options: dict[str, Any], message: str, hint: str | None
) -> None:
    with pytest.raises(LayoutError) as caught:
        tmem_mma_operand_layout(operand, shape, "bfloat16" if operand == "A" else "float32", **options)
    assert caught.value.message == message
    assert hint is None or caught.value.hint == hint


def test_dtypes_of_operands() -> None:
    with pytest.raises(LayoutError, match="the dtype of operand D is 'int8'") as caught:
        tmem_mma_operand_layout("D", (128, 64), "int8", M=128, cta_group=1)
    assert caught.value.hint == "it is one of float32, float16, int32"
    with pytest.raises(LayoutError, match="unknown dtype 'flout32'"):
        tmem_mma_operand_layout("D", (128, 64), "flout32", M=128, cta_group=1)


def test_a_row_for_each_thread_of_a_warpgroup() -> None:
    assert wg_local_layout(8) == TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)])
    assert wg_local_layout(16, rows=64) == TileLayout(S[(64, 16) : (1 @ tid_in_wg, 1)])
    for arguments, message in (((0,), "cols is 0"), ((8, 256), "rows is 256"), ((8, 0), "rows is 0")):
        with pytest.raises(LayoutError, match=message):
            wg_local_layout(*arguments)
