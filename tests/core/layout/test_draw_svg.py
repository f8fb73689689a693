"""SVG pictures: well-formed, complete, readable on light and dark pages, on wide and narrow ones."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tirx.layout import ComposeLayout, R, S, TileLayout, laneid, warpid
from tirx.layout.draw import picture_of, svg_of
from tirx.layout.draw.palette import BAD, COLOURS, DARK, FAINT, GOOD, INK, LIGHT, PAPER

SVG = "{http://www.w3.org/2000/svg}"
FRAGMENT = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid])
PICTURES = {
    "fragment": picture_of(FRAGMENT, (8, 16)),
    "swizzle": picture_of(ComposeLayout(3, 3, 3, TileLayout(S[8, 64])), dtype="float16"),
    "scalars": picture_of(TileLayout(S[32, 32]), vector=4),
    "cut": picture_of(TileLayout(S[1000, 1000]), dtype="float16"),
    "one element": picture_of(TileLayout(S[1])),
    "dimensions": picture_of(TileLayout(S[2, 3, 8]), (2, 3, 8)),
    "many banks": picture_of(TileLayout(S[4, 128]), banks=(128, 4), vector=4),
}


def tree_of(name: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg_of(PICTURES[name]))


@pytest.mark.parametrize("name", PICTURES)
def test_each_cell_is_drawn_once_with_its_words(name: str) -> None:
    groups = [item for item in tree_of(name).iter(f"{SVG}g") if item.get("class") == "tirx-cell"]
    shown = [item for row in PICTURES[name].rows for item in row]
    assert [(g.get("data-row"), g.get("data-column"), g.get("data-count")) for g in groups] == [
        (str(item.cell.row), str(item.cell.column), str(item.cell.length)) for item in shown
    ]
    assert [tuple(text.text for text in g.iter(f"{SVG}text")) for g in groups] == [item.lines for item in shown]
    assert [g.find(f"{SVG}rect").get("class") for g in groups] == [f"tirx-c{item.colour}" for item in shown]  # type: ignore[union-attr]


@pytest.mark.parametrize("name", PICTURES)
def test_everything_lies_inside_the_picture(name: str) -> None:
    tree = tree_of(name)
    width, height = (float(part) for part in tree.attrib["viewBox"].split()[2:])
    for item in (*tree.iter(f"{SVG}rect"), *tree.iter(f"{SVG}text")):
        x, y = float(item.get("x", 0)), float(item.get("y", 0))
        assert 0 <= x <= x + float(item.get("width", 0)) <= width
        assert 0 <= y <= y + float(item.get("height", 0)) <= height
    letters = [len(item.text or "") for item in tree.iter(f"{SVG}text") if "tirx-note" in item.attrib["class"]]
    assert max(letters) * 7.3 <= width


@pytest.mark.parametrize("name", PICTURES)
def test_cells_do_not_overlap_and_their_text_fits(name: str) -> None:
    rows: dict[str, list[tuple[float, float, int]]] = {}
    for group in tree_of(name).iter(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        longest = max(len(text.text or "") for text in group.iter(f"{SVG}text"))
        rows.setdefault(rect.attrib["y"], []).append((float(rect.attrib["x"]), float(rect.attrib["width"]), longest))
    for cells in rows.values():
        assert all(x + width <= after for (x, width, _), (after, _, _) in pairwise(cells))
        assert all(letters * 6.6 <= width + 2 for _, width, letters in cells)


def test_the_edges_say_how_many_turns_a_row_and_a_column_take() -> None:
    plain = svg_of(picture_of(TileLayout(S[8, 64]), dtype="float16"))
    assert (plain.count(">x1<"), plain.count(">x8<")) == (8, 8)
    assert plain.count('class="tirx-bad"') == 8
    assert (svg_of(PICTURES["swizzle"]).count(">x1<"), svg_of(PICTURES["swizzle"]).count('class="tirx-bad')) == (16, 0)


def test_banks_have_a_legend_where_there_are_colours_for_all() -> None:
    assert ">b28-31</text>" in svg_of(PICTURES["swizzle"])
    assert svg_of(PICTURES["many banks"]).count(">b0</text>") == sum(
        item.lines[1] == "b0" for row in PICTURES["many banks"].rows for item in row
    )


def test_what_a_picture_shows_is_also_in_words() -> None:
    tree = tree_of("swizzle")
    assert tree.get("role") == "img"
    assert tree.findtext(f"{SVG}title") == "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(64, 1)]))"
    assert "no bank conflicts" in (tree.findtext(f"{SVG}desc") or "")
    words = [group.findtext(f"{SVG}title") for group in tree_of("fragment").iter(f"{SVG}g")]
    assert words[9] == "(1, 2-3): warpid 0, laneid 5, m 0-1; also warpid 4, laneid 5, m 0-1"
    assert [group.findtext(f"{SVG}title") for group in tree.iter(f"{SVG}g")][9] == "(1, 8-15): m 64-71, bank 0-3"


def test_wide_pictures_scroll_and_narrow_ones_shrink() -> None:
    widths = {name: float(tree_of(name).attrib["width"]) for name in PICTURES}
    assert widths["fragment"] < 600
    assert widths["swizzle"] < 520
    for name in PICTURES:
        style = tree_of(name).attrib["style"]
        assert style.startswith("max-width:100%;height:auto;")
        (least,) = re.findall(r"min-width:([\d.]+)px", style)
        assert float(least) <= min(widths[name], 760)


def test_every_colour_that_is_used_is_defined_for_light_and_dark() -> None:
    for name in PICTURES:
        text = svg_of(PICTURES[name])
        light, dark = text.split("@media (prefers-color-scheme: dark)")
        used = {word for found in re.findall(r'class="([^"]*)"', dark) for word in found.split()}
        coloured = {word for word in used if re.fullmatch(r"tirx-(c\d+|paper|title|note|in|head|good|bad)", word)}
        assert len(coloured) >= 5
        for word in coloured:
            rule = re.compile(rf"\.{word} .*fill: #|\.{word}, .*fill: #|\.{word} {{ fill: #")
            assert rule.search(light), word
            assert rule.search(dark.split("</style>")[0]), word


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("page", "fills"), [(0, LIGHT), (1, DARK)])
def test_text_is_readable_on_every_colour(page: int, fills: tuple[str, ...]) -> None:
    assert len(set(fills)) == COLOURS == 32
    assert min(contrast(INK[page], fill) for fill in fills) >= 4.5
    assert min(contrast(ink[page], PAPER[page]) for ink in (INK, FAINT, GOOD, BAD)) >= 4.5
