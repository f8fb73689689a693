"""Thread axes: which levels they count together, and which of them join on a given machine."""

from __future__ import annotations

from typing import Any

import pytest

from tirx.layout import Axis, ComposeLayout, Iter, R, S, TileLayout
from tirx.target import ScopeLevel, ScopeModel, Target, no_target

a = Axis

SCOPES: list[tuple[Any, tuple[str, str] | None]] = [
    (S[4, 8], None),
    (S[(4, 8) : (8 @ a.laneid, 1)], ("thread", "warp")),
    (S[(4, 8) : (8 @ a.laneid, 1 @ a.warpid)], ("thread", "cta")),
    (S[(4, 8) : (8 @ a.laneid, 1)] + R[2 : 4 @ a.warpid], ("thread", "cta")),
    (S[(4, 8) : (1, 1)] + 4 @ a.laneid, ("thread", "warp")),
    (S[(4, 8) : (8 @ a.wgid, 1 @ a.tid_in_wg)], ("thread", "cta")),
    (S[(4, 8) : (8 @ a.wgid, 1 @ a.wid_in_wg)], ("warp", "cta")),
    (S[(4, 8, 4) : (8 @ a.wgid, 1 @ a.wid_in_wg, 1 @ a.laneid)], ("thread", "cta")),
    (S[(4, 8) : (8 @ a.warpid, 1)], ("warp", "cta")),
    (S[(4, 8) : (8 @ a.cbx, 1 @ a.tx)], ("thread", "cluster")),
    (S[(4, 8) : (8 @ a.bx, 1 @ a.by)], ("cta", "kernel")),
    (S[(4, 8) : (8 @ a.bx, 1 @ a.tx)], ("thread", "kernel")),
]


@pytest.mark.parametrize("number", range(len(SCOPES)))
def test_scope(number: int) -> None:
    spec, scope = SCOPES[number]
    assert TileLayout(spec).get_scope() == scope
    assert TileLayout(spec).verify_well_formed()


@pytest.mark.parametrize(
    "spec",
    [
        S[(4, 8) : (8 @ a.tx, 1 @ a.laneid)],
        S[(4, 8) : (8 @ a.wgid, 1 @ a.laneid)],
        S[(4, 8) : (8 @ a.warpid, 1 @ a.wid_in_wg)],
        S[(4, 8) : (8 @ a.bx, 1 @ a.cbx)],
    ],
)
def test_contradicting_axes_are_not_well_formed_and_do_not_join(spec: Any) -> None:
    layout = TileLayout(spec)
    assert not layout.verify_well_formed()
    assert layout.canonicalize(scopes=Target("generic").scope_model()) == layout.canonicalize()


@pytest.mark.parametrize("width", [16, 32, 64])
def test_axes_join_by_the_widths_of_the_machine(width: int) -> None:
    scopes = Target({"kind": "generic", "width": width}).scope_model()
    layout = TileLayout(S[(4, width, 2) : (1 @ a.warpid, 1 @ a.laneid, 1)] + R[2 : 4 @ a.warpid] + 8 @ a.warpid)
    wanted = TileLayout(S[(4 * width, 2) : (1 @ a.tx, 1)] + R[2 : 4 * width @ a.tx] + 8 * width @ a.tx)
    assert layout.canonicalize(scopes=scopes) == wanted
    assert layout.canonicalize() == layout


CHAIN = ScopeModel(
    [
        ScopeLevel("kernel"), ScopeLevel("cta"), ScopeLevel("warpgroup"), ScopeLevel("warp", widths={"warpgroup": 4}),
        ScopeLevel("thread", widths={"warp": 32}),
    ]
)  # fmt: skip
NO_WIDTH = ScopeModel([ScopeLevel("kernel"), ScopeLevel("cta"), ScopeLevel("warp"), ScopeLevel("thread")])

JOINS: list[tuple[Any, Any, Any]] = [
    (CHAIN, S[(2, 4, 32, 8) : (1 @ a.wgid, 1 @ a.wid_in_wg, 1 @ a.laneid, 1)], S[(256, 8) : (1 @ a.tx, 1)]),
    (CHAIN, S[(32, 4) : (1 @ a.laneid, 1 @ a.wid_in_wg)], S[(32, 4) : (1 @ a.tid_in_wg, 32 @ a.tid_in_wg)]),
    (CHAIN, S[(4, 2, 16) : (1 @ a.wid_in_wg, 16 @ a.laneid, 1 @ a.laneid)], S[128 : 1 @ a.tid_in_wg]),
    (CHAIN, S[(2, 4) : (1 @ a.wgid, 1 @ a.wid_in_wg)], S[8 : 1 @ a.warpid]),
    (CHAIN, S[(4, 32) : (1 @ a.laneid, 1)] + 3 @ a.wid_in_wg, S[(4, 32) : (1 @ a.tid_in_wg, 1)] + 96 @ a.tid_in_wg),
    (CHAIN, S[(1, 32) : (1 @ a.warpid, 1 @ a.laneid)], S[32 : 1 @ a.laneid]),
    (CHAIN, S[(2, 64) : (1 @ a.warpid, 1 @ a.laneid)], S[(2, 64) : (1 @ a.warpid, 1 @ a.laneid)]),
    (NO_WIDTH, S[(4, 32) : (1 @ a.warpid, 1 @ a.laneid)], S[(4, 32) : (1 @ a.warpid, 1 @ a.laneid)]),
    (NO_WIDTH, S[(4, 32) : (1 @ a.wgid, 1 @ a.tid_in_wg)], S[(4, 32) : (1 @ a.wgid, 1 @ a.tid_in_wg)]),
    (ScopeModel(), S[(4, 32) : (1 @ a.warpid, 1 @ a.laneid)], S[(4, 32) : (1 @ a.warpid, 1 @ a.laneid)]),
]


@pytest.mark.parametrize("number", range(len(JOINS)))
def test_joins(number: int) -> None:
    scopes, spec, wanted = JOINS[number]
    assert TileLayout(spec).canonicalize(scopes=scopes) == TileLayout(wanted)


def test_axes_join_by_the_widths_of_the_current_target() -> None:
    layout = TileLayout(S[(4, 32, 8) : (1 @ a.wid_in_wg, 1 @ a.laneid, 1)])
    swizzled = ComposeLayout(0, 1, 2, TileLayout(S[(4, 32, 8) : (1 @ a.warpid, 1 @ a.laneid, 1)]))
    with Target("generic -width=64"):
        assert layout.canonicalize() == TileLayout(S[(4, 32, 8) : (64 @ a.tid_in_wg, 1 @ a.tid_in_wg, 1)])
    with Target("generic"):
        levels = Target("generic").scope_model()
        assert swizzled.canonicalize() == swizzled.canonicalize(scopes=levels) != swizzled
        with no_target():
            assert swizzled.canonicalize() == swizzled
    assert swizzled.canonicalize() == swizzled


def test_copies_come_in_one_order() -> None:
    copies = [Iter(2, 64), Iter(3, 1, "warpid"), Iter(2, 8), Iter(1, 3)]
    one = TileLayout.from_iters([Iter(8, 1)], copies).canonicalize()
    other = TileLayout.from_iters([Iter(8, 1)], copies[::-1]).canonicalize()
    assert one == other
    assert one.replica == (Iter(1, 3), Iter(2, 8), Iter(2, 64), Iter(3, 1, "warpid"))
