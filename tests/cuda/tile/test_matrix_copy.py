"""`copy` by `ldmatrix` and `stmatrix`: what the lanes get, transposed and swizzled, and what is refused."""

from __future__ import annotations

import pytest

from tirx.backend import load
from tirx.layout import ComposeLayout, S, TileLayout
from tirx.layout.syntax import AxisNames
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

load("cuda")

from tirx_cuda.layout.mma import mma_fragment_layout  # noqa: E402  # the backend must be loaded first

A16 = mma_fragment_layout("A", "m16n8k16", "float16")
B16 = mma_fragment_layout("B", "m16n8k16", "float16")
A_TILE = A16.tile_to([32, 32], [16, 16])
B_TILE = B16.tile_to([32, 16], [16, 8])
SWIZZLED = ComposeLayout(3, 2, 3, TileLayout(S[(32, 32) : (32, 1)]))
COLUMNS = TileLayout(S[(32, 16) : (1, 32)])  # column by column
WARPS = TileLayout(S[(4, 2, 8, 2, 4, 2) : (1 @ AxisNames.warpid, 2, 4 @ AxisNames.laneid, 4, 1 @ AxisNames.laneid, 1)])


def moved(dst, src, **keywords):
    keywords = {"scope": "warp", "target": "cuda -arch=sm_90a", "dispatch": "ldstmatrix", **keywords}
    return check_tile_operation("copy", {"dst": dst, "src": src}, **keywords)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int16"])
@pytest.mark.parametrize("memory", [None, SWIZZLED])
def test_operand_a_from_rows(dtype, memory):
    moved(Place("local", (32, 32), dtype, A_TILE), Place("shared", (32, 32), dtype, memory))


@pytest.mark.parametrize("memory", [None, COLUMNS])
def test_operand_b_from_rows_and_from_columns(memory):
    moved(Place("local", (32, 16), "float16", B_TILE), Place("shared", (32, 16), "float16", memory))


@pytest.mark.parametrize("memory", [None, SWIZZLED])
def test_stores(memory):
    moved(Place("shared", (32, 32), "float16", memory), Place("local", (32, 32), "float16", A_TILE))


def test_each_warp_its_rows():
    moved(Place("local", (64, 16), "float16", WARPS), Place("shared", (64, 16), "float16"), scope="cta", threads=128)


def test_refusals_say_why():
    tile, memory = Place("local", (32, 32), "float16", A_TILE), Place("shared", (32, 32), "float16")

    def refusal(*places, **keywords):
        with pytest.raises(DispatchError) as raised:
            moved(*places, **keywords)
        return " ".join(str(raised.value).split())

    assert "the architecture lacks the instruction (arch=sm_80, since=sm_90)" in refusal(
        memory, tile, target="cuda -arch=sm_80"
    )
    assert "one side is shared memory, the other spread over registers (dst=shared, src=shared)" in refusal(
        memory, memory
    )
    wide = [Place(place.scope, (32, 32), "float32", place.layout) for place in (tile, memory)]
    assert "elements have 16 bits (dtype=float32)" in refusal(*wide)
    odd = Place("shared", (32, 32), "float16", TileLayout(S[(32, 32) : (34, 1)]))
    assert "no rows of 16 bytes of" in refusal(tile, odd)
    rows = Place("local", (32, 32), "float16", TileLayout(S[(32, 32) : (1 @ AxisNames.laneid, 1)]))
    assert "does not hold 8 x 8 matrices as the instruction gives them to the lanes" in refusal(rows, memory)
