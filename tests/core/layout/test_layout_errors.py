"""What is malformed: what the error says about it, where, and what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tirx import ir
from tirx.layout import Axis, ComposeLayout, Iter, R, S, TileLayout, laneid, tx, warpid
from tirx.layout.axis import Axis as AxisRow
from tirx.layout.axis import check_axis
from tirx.support.errors import LayoutError

A = TileLayout(S[4, 8])
C = ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))
N = ir.Var("n", ir.INT32)

# What to do, where that is long.
FOLLOW = "pack along an innermost dimension of stride 1 that the number divides"
LINE_UP = "each dimension is a product of extents, or of parts that divide them"
COMMON = "of the products of their first dimensions each must divide the next"
RANK = "give both the same number; a dimension that is not tiled has 1"
SWIZZLE_INNER = "swizzle the inner layout: the outer one counts whole tiles"
TILES = "use a shape that the tile divides, and treat the rest apart"
ATOM = "atom_len is at least swizzle_len: the bits that change must not be those that they change with"
CHAIN = "use axes of which each counts inside what the next one counts, such as laneid with warpid"
MIXED = "give (left_0, right_0, left_1, right_1, ...)"
PERMUTATION = "name each dimension from 0 on once"
BITS = "give a number of bits: a constant from 0 on"
TOGETHER = "pack at most as many elements as the swizzle keeps together"
NO_CHAIN = "the thread axes of {} are no chain of levels: {}"
APART = "2 elements of {} are not consecutive: {}"

# (what is written, what is wrong, what to do)
MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    # how layouts are written
    (lambda: S[(8, 4) : (4, 1, 1)], "2 extents and 3 strides", "give one stride for each extent"),
    (lambda: S[8:4, 4:1], "extents and strides are given as two tuples", "write S[(8, 4):(4, 1)], not S[8:4, 4:1]"),
    (lambda: S[8:4:1], "a layout is written S[extents:strides]", "there is one colon"),
    (lambda: TileLayout(S[0]), "extent 0 of a layout is not positive", "leave out what holds no element"),
    (lambda: TileLayout(S[8] + R[-2:1]), "extent -2 of a layout is not positive", "leave out what holds no element"),
    (lambda: TileLayout(S[2.5]), "2.5 in a layout is no integer", "write an integer"),
    (lambda: TileLayout(S[True]), "True in a layout is no integer", "write an integer"),
    (lambda: TileLayout(S["8"]), "'8' in a layout is no integer", "write an integer"),
    (lambda: Iter(ir.cast(N, ir.FLOAT32), 1), "a layout is made of integers, not float32", "cast it to an integer"),
    (lambda: TileLayout(S[8] + "m"), "'m' is no stride or offset of a layout", "write a number, or number @ axis"),
    (lambda: TileLayout(S[8:"m"]), "'m' is no stride or offset of a layout", "write a number, or number @ axis"),
    (lambda: TileLayout(3), "a TileLayout is made from S[...], not int", "write TileLayout(S[(8, 4):(4, 1)])"),
    (lambda: TileLayout(R[2:4]), "a layout has at least one iter", "write S[1] for a single element"),
    (lambda: TileLayout.from_iters([]), "a layout has at least one iter", "write S[1] for a single element"),
    (lambda: TileLayout.from_iters([8]), "8 is no iter of a layout", "write Iter(extent, stride, axis)"),
    (lambda: Iter(8, 1, 3), "3 is no axis", "write Axis.laneid, or its name"),
    (lambda: TileLayout(S[8 : 1 @ Axis.landid]), "there is no layout axis `landid`", "did you mean `laneid`?"),
    (lambda: TileLayout.from_iters([Iter(8, 1, "landid")]), "there is no layout axis `landid`", "did you mean `laneid`?"),
    # coordinates
    (
        lambda: A.apply(1, 2, shape=[4, 4]),
        "shape (4, 4) does not hold the 32 elements of the layout",
        "the product of the shape is the size of the layout",
    ),
    (lambda: A.apply(4, 0), "coordinate 4 is outside dimension 0 of extent 4", "coordinates go from 0 to 3"),
    (lambda: A.apply(-1, 0), "coordinate -1 is outside dimension 0 of extent 4", "coordinates go from 0 to 3"),
    (lambda: A.apply(32), "coordinate 32 is outside dimension 0 of extent 32", "coordinates go from 0 to 31"),
    (lambda: A.apply(1, 2, 3), "3 coordinates for a layout of 2 iters", "give shape=(...)"),
    (lambda: A.apply(1, shape=[4, 8]), "1 coordinates for 2 dimensions", "give one coordinate for each dimension of the shape"),
    (lambda: A.apply_to_shape((0, 9), (4, 8)), "coordinate 9 is outside dimension 1 of extent 8", "coordinates go from 0 to 7"),
    (lambda: C.apply(8, 0), "coordinate 8 is outside dimension 0 of extent 8", "coordinates go from 0 to 7"),
    # lining up
    (lambda: TileLayout(S[6, 4]).group([4, 6]), "layout S[(6, 4):(4, 1)] can not be grouped by shape (4, 6)", LINE_UP),
    (lambda: A.group([4, 4]), "layout S[(4, 8):(8, 1)] can not be grouped by shape (4, 4)", "the layout has 32 elements, the shape 16"),
    (lambda: A.group([64]), "layout S[(4, 8):(8, 1)] can not be grouped by shape (64,)", "the layout has 32 elements, the shape 64"),
    (lambda: A.group_many([]), "group_many needs at least one shape", "give a list of shapes"),
    (lambda: TileLayout(S[24]).group_many([[4, 6], [6, 4]]), "the shapes (4, 6), (6, 4) have no common refinement", COMMON),
    (lambda: A.permute_dims([0, 0]), "[0, 0] is no permutation of 2 dimensions", PERMUTATION),
    (lambda: A.permute_dims([0]), "[0] is no permutation of 2 dimensions", PERMUTATION),
    (lambda: A.permute_by_groups([0, 1, 2], [0, 2]), "[0, 2] is no permutation of 2 dimensions", PERMUTATION),
    (lambda: A.permute_by_groups([0, 1], [0]), "[0, 1] are no separators of 2 iters", "they rise from 0 to 2, as group() answers them"),
    # tiles
    (lambda: A.tile(TileLayout(S[6]), [2, 3], [32]), "shapes (2, 3) and (32) have 2 and 1 dimensions", RANK),
    (
        lambda: A.tile(TileLayout(S[6]), [3, 3], [4, 8]),
        "layout S[6:1] can not be grouped by shape (3, 3)",
        "the layout has 6 elements, the shape 9",
    ),
    (lambda: A.tile(C, [8, 64], [4, 8]), "the outer layout is ComposeLayout, not a TileLayout", SWIZZLE_INNER),
    (lambda: A.direct_sum(C, [8, 64], [4, 8]), "the left layout is ComposeLayout, not a TileLayout", SWIZZLE_INNER),
    (lambda: A.tile_to([8, 20], [4, 8]), "dimension 1 of extent 20 is no whole number of tiles of 8", TILES),
    (lambda: A.tile_to([2, 8, 16], [4, 8]), "shapes (2, 8, 16) and (4, 8) have 3 and 2 dimensions", RANK),
    (
        lambda: A.is_tile_inner(TileLayout(S[64]), [8, 16], [4, 8]),
        "layout S[64:1] can not be grouped by shape (2, 4, 2, 8)",
        "the layout has 64 elements, the shape 128",
    ),
    (lambda: A.is_direct_sum_left(A, [4, 8], [4, 8]), "an interleaved shape of 2 dimensions for 2", MIXED),
    (lambda: A.is_direct_sum_right(A, [1, 8, 1, 4], [4, 8]), "the interleaved shape (1, 8, 1, 4) does not hold (4, 8)", MIXED),
    # boxes
    (lambda: A.slice([4, 8], [(0, 4)]), "a region of 1 dimensions of a shape of 2", "give (begin, end) for each dimension"),
    (lambda: A.slice([4, 8], [(0, 5), (0, 8)]), "5 is outside dimension 0 of extent 4", "a region lies between 0 and 4"),
    (lambda: A.slice([4, 8], [(0, 4), (-1, 8)]), "-1 is outside dimension 1 of extent 8", "a region lies between 0 and 8"),
    (lambda: A.slice([4, 8], [(2, 2), (0, 8)]), "2 to 2 of dimension 0 holds no element", "let it end behind its begin"),
    (lambda: A.slice([4, 8], [3, (0, 8)]), "dimension 0 of a region is 3", "give (begin, end), or begin:end"),
    (lambda: A.slice([4, 8], [slice(0, 4, 2), (0, 8)]), "dimension 0 of a region is slice(0, 4, 2)", "give (begin, end), or begin:end"),
    # elements
    (lambda: TileLayout(S[4, 7]).pack(2), APART.format("S[(4, 7):(7, 1)]", "7 elements are no whole number of 2"), FOLLOW),
    (lambda: TileLayout(S[(4, 8) : (1, 4)]).pack(2), APART.format("S[(4, 8):(1, 4)]", "the innermost step is 4 on m"), FOLLOW),
    (
        lambda: TileLayout(S[(4, 8) : (9, 1)]).pack(2),
        APART.format("S[(4, 8):(9, 1)]", "a stride of 9 would fall between packed elements"),
        FOLLOW,
    ),
    (
        lambda: TileLayout(S[4, 8] + 3).pack(2),
        APART.format("S[(4, 8):(8, 1)] + 3", "the offset of 3 would fall between packed elements"),
        FOLLOW,
    ),
    (lambda: A.pack(64), "64 elements of S[(4, 8):(8, 1)] are not consecutive: it has 32 elements", FOLLOW),
    (lambda: A.unpack(0), "0 is no number of elements", "give a positive constant integer"),
    (lambda: A.pack(N), "`n` is no number of elements", "give a positive constant integer"),
    (lambda: A.broadcast(3, 5), "there is no place 5 among 2 iters", "give a position between -3 and 2"),
    # swizzles
    (lambda: ComposeLayout(3, 4, 3, A), "a swizzle of 4 bits does not fit an atom of 3", ATOM),
    (lambda: ComposeLayout(-1, 3, 3, A), "per_element of a swizzle is -1", BITS),
    (lambda: ComposeLayout(3, 3, N, A), "atom_len of a swizzle is `n`", BITS),
    (
        lambda: ComposeLayout(3, 3, 3, C),
        "a swizzle is around a TileLayout, not ComposeLayout",
        "write ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))",
    ),
    (lambda: C.pack(16), "16 elements do not stay together in chunks of 8", TOGETHER),
    (lambda: C.pack(3), "3 elements of a swizzled layout are no chunk of its bits", "give a power of two"),
    (lambda: C.unpack(6), "6 elements of a swizzled layout are no chunk of its bits", "give a power of two"),
    # threads
    (
        lambda: TileLayout(S[(4, 8) : (1 @ tx, 1 @ laneid)]).get_scope(),
        NO_CHAIN.format("S[(4, 8):(1 @ Axis.tx, 1 @ Axis.laneid)]", "`tx` and `laneid` both count thread, inside cta and warp"),
        CHAIN,
    ),
    (
        lambda: TileLayout(S[(4, 8) : (1 @ Axis.wgid, 1 @ laneid)]).get_scope(),
        NO_CHAIN.format("S[(4, 8):(1 @ Axis.wgid, 1 @ Axis.laneid)]", "there is a gap between `wgid` and `laneid`"),
        CHAIN,
    ),
    (
        lambda: TileLayout(S[(4, 8) : (1 @ warpid, 1 @ laneid)]).canonicalize(scopes=32),
        "scopes is int, which knows no widths",
        "give the levels of a target: target.scope_model()",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message", "hint"), MISTAKES, ids=[message for _, message, _ in MISTAKES])
def test_mistake(make: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(LayoutError) as caught:
        make()
    assert (caught.value.message, caught.value.hint) == (message, hint)
    span = caught.value.span
    assert span is not None
    assert (span.path, span.line) == (__file__, make.__code__.co_firstlineno)


def test_axes_without_likeness_are_listed() -> None:
    with pytest.raises(LayoutError, match="there is no layout axis `q`") as caught:
        TileLayout.from_iters([Iter(8, 1, "q")])
    assert "laneid" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (3, "expected an Axis, got int"),
        (AxisRow("a b"), "axis name 'a b' is not an identifier"),
        (AxisRow("a", level="warp"), "axis a: a thread axis gives both level and within, a memory axis neither"),
        (AxisRow("a", joins={"laneid": "tx"}), "axis a: only thread axes join others"),
    ],
)
def test_malformed_rows(row: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_axis(row)
