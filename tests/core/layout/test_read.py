"""Layouts read from text: what Python would make of it, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirx.ir.context import set_builder
from tirx.layout import Axis, ComposeLayout, Iter, R, S, TileLayout, laneid, warpid
from tirx.layout.read import read_layout
from tirx.support.errors import LayoutError

NAMES = {
    "S": S, "R": R, "TileLayout": TileLayout, "ComposeLayout": ComposeLayout, "Axis": Axis, "laneid": laneid, "warpid": warpid,
}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "TileLayout(S[8])",
        "TileLayout(S[8, 4])",
        "TileLayout(S[(8, 2, 4, 2):(4@laneid, 1@warpid, 1@laneid, 1)] + R[2:4@warpid] + 5@warpid + 3)",
        "TileLayout(S[(2 * 4, 16 // 2):(-8, (1 + 2) @ Axis.laneid)])",
        "TileLayout(3 + S[8:2])",
        "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(64, 1)]))",
        "ComposeLayout(3, 3, 3, TileLayout(S[8, 64]), swizzle_inner=False).tile_to((16, 64), (8, 64))",
        "TileLayout(S[4, 8]).tile(TileLayout(S[2, 3]), [2, 3], [4, 8])",
        "TileLayout(S[(4, 2, 4):(8, 4, 1)]).canonicalize()",
        "TileLayout(S[16, 64]).slice([16, 64], [(4, 8), (16, 48)])",
        "TileLayout(S[4, 8]).permute_dims([1, 0]).unpack(2)",
        "TileLayout(S[(4, 8):(8 @ laneid, 1)]).storage()",
    ],
)
def test_text_is_what_python_makes_of_it(text: str) -> None:
    assert read_layout(text) == eval(text, dict(NAMES))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("S[8, 4]", "TileLayout(S[8, 4])"),
        ("  S[8, 4]\n", "S[8, 4]"),
        ("T.TileLayout(T.S[8:1 @ Axis.laneid] + T.R[2:1])", "S[8:1@laneid] + R[2:1]"),
        ("Tx.S[8:1 @ Tx.Axis.laneid]", "S[8:1@laneid]"),
        ("ComposeLayout(3, 3, 3, S[8, 64])", "ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))"),
        ("S[4, 8].tile(S[2, 3], [2, 3], [4, 8])", "TileLayout(S[4, 8]).tile(TileLayout(S[2, 3]), [2, 3], [4, 8])"),
        ("(S[2, 2] + R[2:4]).canonicalize()", "S[4:1] + R[2:4]"),
        ("S[\n  (8, 2):\n  (4@laneid, 1)\n]", "S[(8, 2):(4@laneid, 1)]"),
        ("TileLayout(TileLayout(S[8]))", "S[8]"),
    ],
)
def test_short_forms(text: str, same: str) -> None:
    assert read_layout(text) == read_layout(same)


iters = st.builds(Iter, st.integers(1, 9), st.integers(-9, 99), st.sampled_from(["m", "laneid", "warpid"]))


@given(st.lists(iters, min_size=1, max_size=4), st.lists(iters, max_size=2), st.integers(0, 9))
def test_what_is_printed_is_read(shard: list[Iter], replica: list[Iter], offset: int) -> None:
    layout = TileLayout.from_iters(shard, replica, {"warpid": offset, "m": offset + 1})
    assert read_layout(repr(layout)) == layout
    swizzled = ComposeLayout(2, 1, 3, TileLayout.from_iters(shard))
    assert read_layout(repr(swizzled)) == swizzled


REFUSED = [
    ("", "", "this is no layout"),
    ("   ", "", "this is no layout"),
    ("S[(8, 4):(4, 1)", "[", "this is no layout: '[' was never closed"),
    ("S[(8, 4):(4@lanid, 1)]", "lanid", "there is no axis or layout `lanid`"),
    ("frob(3)", "frob", "there is no axis or layout `frob`"),
    ("S[(8, 4):(4, 1, 1)]", "S[(8, 4):(4, 1, 1)]", "2 extents and 3 strides"),
    ("R[2:4]", "R[2:4]", "a layout has at least one iter"),
    ("S[8] + S[0]", "S[0]", "extent 0 of a layout is not positive"),
    ("S", "S", "`S` without brackets is no layout"),
    ("laneid", "laneid", "the axis laneid is no layout"),
    ("4@laneid", "4@laneid", "4@laneid is no layout"),
    ("3", "3", "`3` is no layout"),
    ("(S[8], 2)", "(S[8], 2)", "a tuple is no layout"),
    ("S[8:1@2]", "1@2", "a stride is a number @ an axis"),
    ("S[8:laneid@1]", "laneid@1", "a stride is a number @ an axis"),
    ("S[8] + 'a'", "S[8] + 'a'", "a layout's part and `'a'` do not go together here"),
    ("S[8] * 2", "S[8] * 2", "a layout's part and `2` do not go together here"),
    ("S[2 ** 9]", "2 ** 9", "`2` and `9` do not go together here"),
    ("S[8 // 0]", "8 // 0", "division by zero"),
    ("S[99999999999 * 99999999999]", "99999999999 * 99999999999", "9999999999800000000001 does not fit into 64 bits"),
    ("S[2.5]", "2.5", "`2.5` is not part of a layout"),
    ("S[True]", "S[True]", "True in a layout is no integer"),
    ("S[8:]", "8:", "extents or strides are missing"),
    ("S[8][0]", "S[8][0]", "only S and R are followed by brackets"),
    ("S[+8]", "+8", "only numbers have a sign"),
    ("S[~8]", "~8", "only numbers have a sign"),
    ("[S[8] for i in S]", "[S[8] for i in S]", "this is not part of the language of layouts"),
    ("(lambda: 0)()", "lambda: 0", "this is not part of the language of layouts"),
    ("S[8] if 1 else S[9]", "S[8] if 1 else S[9]", "this is not part of the language of layouts"),
    ("__import__('os')", "__import__", "there is no axis or layout `__import__`"),
    ("S.__class__", "S.__class__", "`__class__` is not part of the language of layouts"),
    ("S[8].shard", "S[8].shard", "`shard` is not part of the language of layouts"),
    ("TileLayout.__init__", "TileLayout.__init__", "`__init__` is no constructor of layouts"),
    ("TileLayout.from_iters([])", "TileLayout.from_iters", "`from_iters` is no constructor of layouts"),
    ("S[8].frob()", "S[8].frob", "there is no operation `frob` that gives a layout"),
    ("S[8].apply(1)", "S[8].apply", "there is no operation `apply` that gives a layout"),
    ("S[8].pack()", "S[8].pack()", "wrong arguments: missing a required argument: 'factor'"),
    ("TileLayout(*[S[8]])", "*[S[8]]", "arguments are written one by one"),
    ("TileLayout(**{})", "TileLayout(**{})", "arguments are written one by one"),
    ("S[8](1)", "S[8]", "a layout's part can not be called"),
    ("S[16, 64].slice([16, 64], [(0, 3), (5, 11)]).frob()", "S[16, 64].slice([16, 64], [(0, 3), (5, 11)]).frob", "there is no operation"),
    ("Axis.lanid", "Axis.lanid", "there is no layout axis `lanid`"),
    ("ComposeLayout(3, 3, 1, S[8, 64])", "ComposeLayout(3, 3, 1, S[8, 64])", "a swizzle of 3 bits does not fit"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "place", "message"), REFUSED, ids=[text or "nothing" for text, _, _ in REFUSED])
def test_what_is_no_layout_is_refused_at_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(LayoutError) as caught:
        read_layout(text, "TEXT")
    error = caught.value
    assert error.message.startswith(message)
    assert error.span is not None
    assert (error.span.path, error.span.line) == ("TEXT", 1)
    assert place in text[error.span.column : error.span.end_column]
    if place:
        assert text.index(place) == error.span.column


@pytest.mark.parametrize(
    "text", ["(" * 5000, "-" * 100_000 + "1", "S[" + "(" * 50 + "8" + ")" * 50 + "].frob", "S[8]\0"]
)
def test_text_that_breaks_parsers_is_refused(text: str) -> None:
    with pytest.raises(LayoutError):
        read_layout(text)


def test_the_place_is_right_behind_letters_of_several_bytes() -> None:
    with pytest.raises(LayoutError) as caught:
        read_layout("S[8] + 'äöü' + lanid", "TEXT")
    assert str(caught.value).splitlines()[1:3] == ["  1 | S[8] + 'äöü' + lanid", "    | ^^^^^^^^^^^^"]


def test_the_second_line_is_named() -> None:
    with pytest.raises(LayoutError) as caught:
        read_layout("S[(8, 2):\n  (4@lanid, 1)]", "TEXT")
    assert str(caught.value) == (
        "TEXT:2:6: error: there is no axis or layout `lanid`\n"
        "  2 |   (4@lanid, 1)]\n"
        "    |      ^^^^^\n"
        "  help: did you mean `laneid`?"
    )


def test_the_place_is_in_the_text_also_while_a_kernel_is_built() -> None:
    leave = set_builder(object())  # type: ignore[arg-type]
    try:
        with pytest.raises(LayoutError) as caught:
            read_layout("S[8] + S[0]", "TEXT")
    finally:
        leave()
    assert caught.value.span is not None
    assert (caught.value.span.path, caught.value.span.column) == ("TEXT", 7)
