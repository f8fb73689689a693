"""Scale factors: published values, and that every factor has a place of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tirx.layout import R, S, TCol, TileLayout, TLane, sf_smem_layout, sf_tmem_layout
from tirx.support.errors import LayoutError

WARPS = R[4 : 32 @ TLane]
COL, LANE = 1 @ TCol, 1 @ TLane


@pytest.mark.parametrize(
    ("arguments", "layout"),
    [
        ((32, 4, 4), S[(32, 4) : (LANE, COL)]),
        ((64, 4, 4), S[(2, 32, 4) : (4 @ TCol, LANE, COL)]),
        ((128, 4, 4), S[(4, 32, 4) : (4 @ TCol, LANE, COL)]),
        ((128, 16, 4), S[(4, 32, 4, 4) : (4 @ TCol, LANE, 16 @ TCol, COL)]),
        ((128, 16, 2), S[(4, 32, 4, 4) : (4 @ TCol, LANE, 16 @ TCol, COL)]),
        ((128, 2, 2), S[(4, 32, 2) : (4 @ TCol, LANE, COL)]),
        ((128, 6, 2), S[(4, 32, 3, 2) : (4 @ TCol, LANE, 16 @ TCol, COL)]),
        ((128, 3, 1), S[(4, 32, 3) : (4 @ TCol, LANE, 16 @ TCol)]),
        ((128, 2, 1), S[(4, 32, 2) : (4 @ TCol, LANE, COL)]),
        ((128, 6, 1), S[(4, 32, 3, 2) : (4 @ TCol, LANE, 16 @ TCol, COL)]),
        ((128, 1, 1), S[(4, 32) : (4 @ TCol, LANE)]),
        ((128, 4, 1, 4), S[(4, 32, 4, 4) : (4 @ TCol, LANE, COL, 0 @ TCol)]),
        ((256, 8, 4), S[(8, 32, 2, 4) : (4 @ TCol, LANE, 32 @ TCol, COL)]),
        ((256, 8, 2, 2), S[(8, 32, 2, 4, 2) : (4 @ TCol, LANE, 32 @ TCol, COL, 0 @ TCol)]),
        ((128, 4, 4, 1, 2), S[(2, 4, 32, 4) : (16 @ TCol, 4 @ TCol, LANE, COL)]),
    ],
)
def test_tensor_memory(arguments: tuple[int, ...], layout: Any) -> None:
    assert sf_tmem_layout(*arguments) == TileLayout(layout + WARPS)


@pytest.mark.parametrize(
    ("arguments", "layout"),
    [
        ((128, 4, 4), S[(4, 32, 4) : (4, 16, 1)]),
        ((128, 16, 4), S[(4, 32, 4, 4) : (4, 16, 512, 1)]),
        ((128, 16, 2), S[(4, 32, 4, 2, 2) : (4, 16, 512, 2, 1)]),
        ((128, 4, 1, 4), S[(4, 32, 4, 4) : (4, 16, 1, 0)]),
        ((256, 8, 4), S[(2, 4, 32, 2, 4) : (1024, 4, 16, 512, 1)]),
        ((256, 8, 2, 2), S[(2, 4, 32, 2, 2, 2, 2) : (1024, 4, 16, 512, 2, 1, 0)]),
        ((128, 8, 4, 1, 2), S[(2, 4, 32, 2, 4) : (1024, 4, 16, 512, 1)]),
        ((256, 16, 1, 4, 3), S[(3, 2, 4, 32, 4, 4, 4) : (4096, 2048, 4, 16, 512, 1, 0)]),
    ],
)
def test_shared_memory(arguments: tuple[int, ...], layout: Any) -> None:
    assert sf_smem_layout(*arguments).canonicalize() == TileLayout(layout).canonicalize()


@pytest.mark.parametrize("constructor", [sf_tmem_layout, sf_smem_layout])
@pytest.mark.parametrize(("rows", "factors", "depth"), [(128, 4, 1), (128, 16, 2), (256, 8, 3)])
def test_each_factor_has_a_place_of_its_own(constructor: Any, rows: int, factors: int, depth: int) -> None:
    """Also in the stages of a pipeline: published layouts let those of tensor memory overlap when SF_K is above 4."""
    layout = constructor(rows, factors, 4, 1, depth)
    places = {tuple(sorted(layout.apply(index).items())) for index in range(rows * factors * depth)}
    assert len(places) == rows * factors * depth


@pytest.mark.parametrize(
    ("constructor", "arguments", "message", "hint"),
    [
        (sf_tmem_layout, (100, 4, 4), "rows is 100", "it is a multiple of 32"),
        (sf_tmem_layout, (0, 4, 4), "rows is 0", "it is a constant above zero"),
        (sf_tmem_layout, (128, 6, 4), "SF_K is 6", "it is a multiple of 4"),
        (sf_tmem_layout, (128, 16, 3), "sf_per_mma is 3", "it is one of 1, 2, 4"),
        (sf_tmem_layout, (128, 16, 8), "sf_per_mma is 8", "it is one of 1, 2, 4"),
        (sf_tmem_layout, (128, 4, 4, 0), "sf_reuse is 0", "it is a constant above zero"),
        (sf_tmem_layout, (128, 4, 4, 1, 0), "pipe_depth is 0", "it is a constant above zero"),
        (sf_smem_layout, (64, 4, 4), "rows is 64", "it is a multiple of 128"),
        (sf_smem_layout, (128, 2, 2), "SF_K is 2", "it is a multiple of 4"),
        (sf_smem_layout, (128, 16, 0), "sf_per_mma is 0", "it is one of 1, 2, 4"),
    ],
)
def test_factors_that_are_not(constructor: Any, arguments: tuple[int, ...], message: str, hint: str) -> None:
    with pytest.raises(LayoutError) as caught:
        constructor(*arguments)
    assert (caught.value.message, caught.value.hint) == (message, hint)
