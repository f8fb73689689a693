"""Views and addresses of buffers with layouts: what they are, and what is refused."""

from __future__ import annotations

import pytest

from tirx import ir
from tirx.layout import Axis, ComposeLayout, S, TileLayout
from tirx.script import from_source
from tirx.support.errors import TirxError

SWIZZLED = ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (64, 1)]))
STAGES = ComposeLayout(3, 3, 3, TileLayout(S[4, 8, 64]))
A = ir.Buffer("A", (64, 64), "float16", layout=SWIZZLED)
P = ir.Buffer("P", (4, 8, 64), "float16", layout=STAGES)
R = ir.Buffer("R", (128, 2, 8), "float32", layout=TileLayout(S[(128, 2, 8) : (1 @ Axis.tx, 8, 1)]))
CUT = ir.Buffer("C", (16,), layout=TileLayout(S[(4, 4) : (1, 4)]))
i = ir.Var("i", ir.INT32)


def test_rows_of_a_swizzle_that_repeat_move_the_start() -> None:
    rows = A.sub[i * 8 : i * 8 + 8, :]
    assert rows.shape == (8, 64)
    assert isinstance(rows.elem_offset, ir.Expr)
    assert rows.elem_offset.script() == "i * 512"
    assert rows.layout == ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))


def test_constant_parts_of_a_swizzle_stay_in_the_layout() -> None:
    part = A.sub[9:17, 8:16]
    assert part.elem_offset == 512
    assert part.layout == ComposeLayout(3, 3, 3, TileLayout(S[(8, 8) : (64, 1)] + 72))


def test_stages_are_tiles_of_their_own() -> None:
    assert P.sub[i].layout == ComposeLayout(3, 3, 3, TileLayout(S[(8, 64) : (64, 1)]))
    assert P.sub[2].elem_offset == 1024


def test_other_element_types_of_a_swizzle() -> None:
    assert A.view("float32").layout == ComposeLayout(2, 3, 3, TileLayout(S[(64, 32) : (32, 1)]))
    assert A.view("uint8").shape == (64, 128)
    assert A.view("uint8").layout == SWIZZLED.unpack(2)


def test_transposes_of_a_swizzle() -> None:
    assert A.permute(1, 0).layout == ComposeLayout(3, 3, 3, TileLayout(S[(64, 64) : (1, 64)]))


def test_the_part_of_a_thread() -> None:
    assert R.local().shape == (16,)
    assert R.local(2, 8).has_default_layout
    assert R.sub[:, 1, :].local().shape == (8,)
    assert R.sub[:, 1, :].local().elem_offset == 8


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda: A.sub[i, :], r"an offset of i \* 64 elements does not commute with the XOR", "whole repetitions"),
        (lambda: A.sub[:, i * 16 : i * 16 + 16], "which repeats every 512", "index elements of the tile"),
        (lambda: A.access_ptr("r", offset=64), "64 elements into `A` do not commute with the XOR", "A.ptr_to"),
        (lambda: A.view("uint8").view("int32x8"), "do not stay together in chunks of 16", "keeps together"),
        (lambda: A.sub[0:8, 1:5].view("float32"), "not consecutive", ""),
        (lambda: R.local(5), "keeps its 16 elements", ""),
        (lambda: R.sub[i : i + 64], "starts at i along `tx` has no layout", "constant"),
        (lambda: CUT.sub[1:8], "elements 1:8 of dimension 0 do not lie evenly", "whole blocks"),
    ],
)
def test_refusals(make: object, message: str, hint: str) -> None:
    with pytest.raises(TirxError, match=message) as caught:
        make()
    assert hint in (caught.value.hint or "")


def test_pointers_into_a_swizzle_take_whole_repetitions() -> None:
    assert A.access_ptr("r", offset=i * 512).dtype.is_handle


def test_a_view_stays_where_it_was_taken() -> None:
    text = from_source(
        """
@Tx.prim_func
def k(A: Tx.Buffer((64, 64), "float32")):
    Tx.device_entry()
    row: Tx.int32 = 1
    R = A.sub[row]
    row = 2
    R[0] = 1.0
"""
    ).script()
    assert "elem_offset=A_view_offset" in text
    assert text.index("A_view_offset: T.let = row * 64") < text.index("row = 2")
