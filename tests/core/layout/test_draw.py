"""What pictures of layouts show, compared with every element counted one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise, product
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tirx import ir
from tirx.layout import ComposeLayout, Iter, R, S, TileLayout, laneid, tid_in_wg, warpid, wid_in_wg
from tirx.layout.draw import Picture, data_of, picture_of
from tirx.support.errors import LayoutError

FRAGMENT = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid)
AXES = ("m", "laneid", "warpid")


def iters(extents: st.SearchStrategy[int]) -> st.SearchStrategy[Iter]:
    return st.builds(Iter, extents, st.integers(-2, 9), st.sampled_from(AXES))


layouts = st.builds(
    TileLayout.from_iters,
    st.lists(iters(st.integers(1, 5)), min_size=1, max_size=4),
    st.lists(iters(st.integers(1, 3)), max_size=2),
    st.dictionaries(st.sampled_from(AXES), st.integers(0, 50), max_size=2),
)


def places(layout: TileLayout, coord: tuple[int, ...], shape: tuple[int, ...]) -> list[dict[str, Any]]:
    """Where an element lies, copy after copy, counted out."""
    found = []
    for steps in product(*(range(int(item.extent)) for item in layout.replica)):
        place = dict.fromkeys(layout.axes(), 0) | layout.apply(*coord, shape=shape)
        for step, item in zip(steps, layout.replica, strict=True):
            place[item.axis] += step * item.stride
        found.append(place)
    return found


def elements(picture: Picture) -> Iterator[tuple[tuple[int, ...], list[dict[str, int]]]]:
    """Every element that a picture shows, and where it says that it lies."""
    along = picture.grid.along
    for cell in picture.grid.flat():
        for step in range(cell.length):
            moved = [{axis: at + (step if axis == along else 0) for axis, at in place.items()} for place in cell.places]
            yield (*picture.grid.coordinates(cell.row), cell.column + step), moved


@settings(max_examples=80)
@given(layouts, st.integers(0, 3))
def test_each_element_is_shown_once_and_where_it_lies(layout: TileLayout, split: int) -> None:
    extents = tuple(int(item.extent) for item in layout.shard)
    split = min(split, len(extents) - 1)
    shape = (*extents[:split], prod(extents[split:]))
    picture = picture_of(layout, shape, limit=(1000, 1000))
    shown = list(elements(picture))
    assert sorted(coord for coord, _ in shown) == list(product(*map(range, shape)))
    for coord, found in shown:
        assert sorted(map(sorted_items, found)) == sorted(map(sorted_items, places(layout, coord, shape)))


def sorted_items(place: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(place.items())


def test_neighbours_in_one_place_share_a_cell() -> None:
    grid = picture_of(FRAGMENT, (8, 16)).grid
    assert (grid.along, grid.step, grid.shown_rows, grid.shown_columns) == ("m", 2, 8, 16)
    assert picture_of(TileLayout(S[(128, 64) : (1 @ tid_in_wg, 1)])).grid.step == 64


def test_lanes_of_different_threads_never_share_a_cell() -> None:
    assert picture_of(TileLayout(S[(4, 8) : (8 @ laneid, 1 @ laneid)])).grid.step == 1


def test_vectors_of_memory_end_cells() -> None:
    steps = {
        dtype: picture_of(TileLayout(S[8, 64]), dtype=dtype).grid.step
        for dtype in ("float64", "float16", "int8", "float4_e2m1fn")
    }
    assert steps == {"float64": 2, "float16": 8, "int8": 16, "float4_e2m1fn": 32}


@pytest.mark.parametrize(
    ("layout", "shape"),
    [
        (FRAGMENT, (8, 16)),
        (TileLayout(S[8, 4]), (8, 4)),
        (TileLayout(S[(4, 32, 8) : (1 @ wid_in_wg, 1 @ laneid, 1)]), (128, 8)),
        (TileLayout(S[512]), (16, 32)),
        (TileLayout(S[512 : 1 @ laneid]), (1, 512)),
        (TileLayout(S[7]), (1, 7)),
        (TileLayout(S[1]), (1, 1)),
    ],
)
def test_shapes_that_suit_a_layout(layout: TileLayout, shape: tuple[int, int]) -> None:
    assert picture_of(layout).grid.shape == shape


def test_names_of_axes_are_as_short_as_tells_them_apart() -> None:
    assert picture_of(FRAGMENT).names == {"laneid": "L", "warpid": "W", "m": "r"}
    layout = TileLayout(S[(2, 4, 32) : (1 @ warpid, 1 @ wid_in_wg, 1 @ laneid)])
    assert picture_of(layout).names == {"warpid": "Wa", "wid_in_wg": "Wi", "laneid": "L"}


def test_cells_say_who_holds_them_and_where() -> None:
    picture = picture_of(FRAGMENT, (8, 16))
    assert picture.rows[1][4].lines == ("W6,10 L4", "r0-1")
    memory = picture_of(TileLayout(S[8, 64]), dtype="float16")
    assert memory.rows[1][1].lines == ("72", "b4-7")
    many = picture_of(TileLayout(S[4 : 1 @ laneid] + R[8 : 4 @ laneid]))
    assert [shown.lines for shown in many.rows[0]] == [("L0,..",), ("L1,..",), ("L2,..",), ("L3,..",)]


def test_one_owner_has_one_colour_and_neighbours_have_others() -> None:
    picture = picture_of(FRAGMENT, (8, 16))
    colours: dict[str, set[int]] = {}
    for row in picture.rows:
        assert all(a.colour != b.colour for a, b in pairwise(row))
        for shown in row:
            colours.setdefault(shown.lines[0], set()).add(shown.colour)
    assert all(len(found) == 1 for found in colours.values())


def test_the_notes_name_copies_and_what_is_left_out() -> None:
    notes = picture_of(FRAGMENT, (8, 16), limit=(3, 4)).notes
    assert "each element is held 2 times: again at warpid +4" in notes
    assert "only rows 0-2 of 8 and columns 0-7 of 16 are shown" in notes
    many = picture_of(TileLayout(S[4] + R[6:4])).notes
    assert "each element is held 6 times: again at m +4; m +8; m +12, and 2 more" in many


def test_of_many_copies_the_first_are_told_apart() -> None:
    picture = picture_of(TileLayout(S[4] + R[10**9 : 4]))
    assert len(picture.rows[0][0].cell.places) == 16
    assert "each element is held 1000000000 times: again at m +4; m +8; m +12, and 999999996 more" in picture.notes


def test_the_notes_name_elements_that_share_a_place() -> None:
    assert (
        "several elements share a place: (0, 0) and (1, 0), for example"
        in picture_of(TileLayout(S[(4, 8) : (0, 1)])).notes
    )
    assert not any("share" in note for note in picture_of(FRAGMENT, (8, 16)).notes)


def test_a_long_row_is_not_looked_at_in_full() -> None:
    grid = picture_of(TileLayout(S[2, 1 << 20]), dtype="int8").grid
    assert (grid.shown_rows, grid.shown_columns) == (2, 32 * 16)
    assert picture_of(TileLayout(S[(2, 1 << 20) : (1 @ laneid, 1)])).grid.step == 512


def test_data_says_the_same_as_the_picture() -> None:
    picture = picture_of(TileLayout(S[(2, 16) : (20, 1)] + 4), dtype="float32")
    data = json.loads(json.dumps(data_of(picture)))
    assert [(cell["at"], cell["count"], cell["places"], cell["banks"]) for cell in data["cells"][:2]] == [
        ([0, 0], 4, [{"m": 4}], [[4, 7]]),
        ([0, 4], 4, [{"m": 8}], [[8, 11]]),
    ]
    assert data["axes"]["m"]["kind"] == "memory"
    assert data["banks"] == {"number": 32, "width": 4, "vector": 16, "lanes": 32, "bits": 32}
    assert data["notes"] == list(picture.notes)


def test_axes_are_described() -> None:
    assert data_of(picture_of(FRAGMENT, (8, 16)))["axes"]["warpid"] == {
        "kind": "thread",
        "level": "warp",
        "within": "cta",
        "doc": "warps of a cta",
    }


def test_each_copy_in_a_swizzle_is_swizzled_where_it_lies() -> None:
    layout = ComposeLayout(1, 2, 2, TileLayout(S[4, 8] + R[2:36]))
    grid = picture_of(layout, dtype="float64", limit=(100, 100)).grid
    for cell in grid.flat():
        for copy, place in enumerate(cell.places):
            assert place["m"] == layout.swizzled(8 * cell.row + cell.column + 36 * copy)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (8, 17)}, "shape (8, 17) has 136 elements, the layout 128"),
        ({"shape": (0, 8)}, "a shape has positive extents, not (0, 8)"),
        ({"shape": ()}, "a shape has positive extents, not ()"),
        ({"limit": (0, 4)}, "a limit is rows and columns that are shown, not (0, 4)"),
        ({"banks": (12, 4)}, "the number of banks is a power of two, not 12"),
        ({"banks": (32, 3)}, "the width of a bank in bytes is a power of two, not 3"),
        ({"vector": 24}, "the width of a vector in bytes is a power of two, not 24"),
        ({"lanes": 0}, "the number of threads is a power of two, not 0"),
        ({"vector": 256}, "a vector of 256 bytes is wider than all 32 banks of 4 bytes together"),
        ({"dtype": "void"}, "elements of type void take no storage"),
        ({"dtype": "flout16"}, "unknown dtype 'flout16'; did you mean `float16` or `bfloat16` or `float64`?"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        picture_of(FRAGMENT, **options)
    assert caught.value.message == message


def test_a_symbol_is_refused_by_name() -> None:
    n = ir.Var("n", ir.DType("int32"))
    with pytest.raises(LayoutError, match="`n` is not constant; a picture needs numbers"):
        TileLayout(S[n, 8]).to_svg()
    assert TileLayout(S[n, 8])._repr_html_() is None


def test_layouts_show_themselves() -> None:
    assert FRAGMENT.to_text((8, 16)).splitlines()[3].startswith("0  W5,9 L0 r0")
    assert FRAGMENT.to_svg((8, 16)).startswith("<svg ")
    html = FRAGMENT._repr_html_()
    assert html is not None
    assert html.startswith('<div style="overflow-x:auto"><svg ')


def test_text_is_coloured_only_when_asked() -> None:
    assert "\x1b[" not in FRAGMENT.to_text((8, 16))
    coloured = FRAGMENT.to_text((8, 16), colour=True)
    assert coloured.count("\x1b[0m") == 8 * 8
