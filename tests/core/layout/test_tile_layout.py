"""Tile layouts: the worked examples of the published description, and what must be refused."""

from __future__ import annotations

import pytest

from tirx import ir
from tirx.layout import Axis, Iter, R, S, TileLayout, laneid, row_major, warpid
from tirx.layout.tile import plain_strides, spec_text
from tirx.support.errors import LayoutError

FRAGMENT = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid)
PADDED = TileLayout(S[(4, 8) : (8 @ laneid, 2)] + 3)


def test_sizes_and_spans() -> None:
    assert [FRAGMENT.size(), FRAGMENT.size("laneid"), FRAGMENT.size("warpid"), FRAGMENT.size("m")] == [128, 32, 2, 2]
    assert [FRAGMENT.span("laneid"), FRAGMENT.span("warpid"), FRAGMENT.span("m"), FRAGMENT.span()] == [32, 11, 2, 2]
    assert [PADDED.span(), PADDED.span("laneid"), PADDED.size("m")] == [18, 25, 8]


def test_apply() -> None:
    wanted = {"laneid": 4, "warpid": 6, "m": 0}
    assert FRAGMENT.apply(1, 8, shape=(8, 16)) == wanted
    assert FRAGMENT.apply(24) == wanted
    assert FRAGMENT.apply(1, 1, 0, 0) == wanted


def test_syntax() -> None:
    assert TileLayout(S[8, 4]) == TileLayout(S[(8, 4) : (4, 1)])
    assert TileLayout(S[8]) == TileLayout(S[8:1]) == TileLayout.from_iters([Iter(8, 1)])
    assert TileLayout(S[8:2] + 1 + 2) == TileLayout(S[8:2] + 3)
    assert TileLayout(S[8 : 1 @ Axis.laneid]) == TileLayout(S[8 : 1 @ laneid])


@pytest.mark.parametrize(
    ("layout", "trivial"),
    [
        (S[4, 8], True),
        (S[(4, 8) : (1, 4)], False),
        (S[8] + 1, False),
        (S[8] + R[2:8], False),
        (S[8 : 1 @ laneid], False),
    ],
)
def test_trivial(layout: object, trivial: bool) -> None:
    assert TileLayout(layout).is_trivial() is trivial


def test_canonicalize() -> None:
    assert TileLayout(S[(4, 2, 4) : (8, 4, 1)]).canonicalize() == TileLayout(S[32:1])
    assert TileLayout(S[(4, 1, 4) : (4, 7, 1)] + R[1:3]).canonicalize() == TileLayout(S[16:1] + R[1:3])


def test_group() -> None:
    assert TileLayout(S[(4, 32) : (32, 1)]).group([2, 64]) == (TileLayout(S[(2, 2, 32) : (64, 32, 1)]), [0, 1, 3])
    with pytest.raises(LayoutError, match=r"can not be grouped by shape \(4, 6\)"):
        TileLayout(S[(6, 4) : (4, 1)]).group([4, 6])


def test_permute_and_pack() -> None:
    assert TileLayout(S[(4, 8) : (8, 1)]).permute_dims([1, 0]) == TileLayout(S[(8, 4) : (1, 8)])
    permuted = TileLayout(S[(2, 4, 8) : (32, 8, 1)]).permute_by_groups([0, 2, 3], [1, 0])
    assert permuted == TileLayout(S[(8, 2, 4) : (1, 32, 8)])
    assert TileLayout(S[(4, 8) : (8, 1)]).pack(2) == TileLayout(S[(4, 4) : (4, 1)])
    assert TileLayout(S[(4, 8) : (8, 1)]).unpack(2) == TileLayout(S[(4, 8, 2) : (16, 2, 1)])


def test_storage_drops_threads() -> None:
    assert FRAGMENT.storage() == TileLayout(S[2:1])


def test_text() -> None:
    assert spec_text(FRAGMENT) == (
        "S[(8, 2, 4, 2):(4 @ Axis.laneid, 1 @ Axis.warpid, 1 @ Axis.laneid, 1)] + R[2:4 @ Axis.warpid] + 5 @ Axis.warpid"
    )


def test_dimensions_that_line_up_are_not_divided() -> None:
    i, j = ir.Var("i", ir.INT32), ir.Var("j", ir.INT32)
    found = row_major((4, 8)).physical((i, j), (4, 8))["m"]
    assert ir.structural_equal(found, i * 8 + j)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: S[(8, 4) : (4, 1, 1)], "2 extents and 3 strides"),
        (lambda: S[8:4, 4:1], "extents and strides are given as two tuples"),
        (lambda: TileLayout(S[0]), "extent 0 of a layout is not positive"),
        (lambda: TileLayout(S[8] + "m"), "'m' is no stride or offset of a layout"),
        (lambda: TileLayout(3), "a TileLayout is made from S"),
        (lambda: TileLayout(S[4, 8]).apply(1, 2, shape=[4, 4]), "does not hold the 32 elements"),
        (lambda: TileLayout(S[4, 8]).apply(4, 0), "coordinate 4 is outside dimension 0 of extent 4"),
        (lambda: TileLayout(S[4, 8]).apply(-1, 0), "coordinate -1 is outside dimension 0"),
        (lambda: TileLayout(S[4, 8]).apply(1, 2, 3), "3 coordinates for a layout of 2 iters"),
        (lambda: TileLayout(S[4, 8]).permute_dims([0, 0]), "no permutation"),
        (lambda: TileLayout(S[4, 7]).pack(2), "not consecutive"),
    ],
)
def test_malformed(make: object, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        make()


def test_unknown_axes_are_named_with_a_near_one() -> None:
    with pytest.raises(LayoutError, match="there is no layout axis `landid`") as caught:
        Axis.get("landid")
    assert caught.value.hint == "did you mean `laneid`?"


def test_plain_strides() -> None:
    assert plain_strides(TileLayout(S[(4, 8) : (8, 1)]), (32,)) == (1,)
    assert plain_strides(TileLayout(S[(4, 8) : (1, 4)]), (4, 8)) == (1, 4)
    assert plain_strides(TileLayout(S[(4, 8) : (1, 4)]), (32,)) is None
    assert plain_strides(FRAGMENT, (128,)) is None
