"""The worked examples of the published description of layouts, as they stand there."""

from __future__ import annotations

from typing import Any

import pytest

from tirx import layout as names
from tirx.layout import Axis, R, S, TileLayout, laneid, warpid

L = TileLayout(S[(8, 2, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 5 @ warpid)
FRAGMENT = TileLayout(S[(8, 4, 2) : (4 @ laneid, 1 @ laneid, 1)])
COLUMNS = TileLayout(S[(16, 4, 16) : (16, 256, 1)])
SWIZZLED = names.ComposeLayout(3, 3, 3, TileLayout(S[128, 64]))
PART = TileLayout(S[(8, 1, 4, 2) : (4 @ laneid, 1 @ warpid, 1 @ laneid, 1)] + R[2 : 4 @ warpid] + 6 @ warpid)
WARPS = TileLayout(S[(2, 8, 2, 4, 2) : (1 @ warpid, 4 @ laneid, 2, 1 @ laneid, 1)])
TEXT = "TileLayout(S[(4, 8):(1 @ Axis.laneid, 1)] + R[2:4 @ Axis.warpid] + 5 @ Axis.warpid)"
SPACE = {name: getattr(names, name) for name in names.__all__} | {
    "L": L, "FRAGMENT": FRAGMENT, "COLUMNS": COLUMNS, "PART": PART, "WARPS": WARPS, "TEXT": TEXT, "SWIZZLED": SWIZZLED,
    "laneid": laneid, "warpid": warpid, "wid_in_wg": Axis.wid_in_wg,
}  # fmt: skip

# One example a line: what is asked, what comes out.
EXAMPLES = """
TileLayout(S[8]).shard                                                  => (Iter(8, 1),)
TileLayout(S[8, 4])                                                     => TileLayout(S[(8, 4):(4, 1)])
TileLayout(S[8:2]).shard                                                => (Iter(8, 2),)
TileLayout(S[(8, 4):(4, 1)]).shard                                      => (Iter(8, 4), Iter(4, 1))
TileLayout(S[8:4 @ laneid]).shard                                       => (Iter(8, 4, "laneid"),)
TileLayout(S[8:1 @ Axis.warpid])                                        => TileLayout(S[8:1 @ warpid])
TileLayout(S[8] + R[2:4 @ warpid] + 5 @ warpid + 3).replica             => (Iter(2, 4, "warpid"),)
TileLayout(S[8] + R[2:4 @ warpid] + 5 @ warpid + 3).offset              => {"warpid": 5, "m": 3}
TileLayout(S[8] + 5 @ warpid + 2 @ warpid + 3 + 4).offset               => {"warpid": 7, "m": 7}
TileLayout.from_iters(L.shard, L.replica, L.offset)                     => L
TileLayout(S[(4, 8):(-8, 1)] + 24).apply(3, 1)                          => {"m": 1}

Axis.bx.is_thread(), Axis.m.is_memory()                                 => (True, True)
Axis.cbx.get_subscope(), Axis.cbx.get_scope()                           => ("cta", "cluster")
Axis.tx.get_subscope(), Axis.tx.get_scope()                             => ("thread", "cta")
Axis.warpid.get_subscope(), Axis.warpid.get_scope()                     => ("warp", "cta")
Axis.laneid.get_subscope(), Axis.laneid.get_scope()                     => ("thread", "warp")
Axis.wgid.get_subscope(), Axis.wgid.get_scope()                         => ("warpgroup", "cta")
Axis.tid_in_wg.get_subscope(), Axis.tid_in_wg.get_scope()               => ("thread", "warpgroup")
Axis.wid_in_wg.get_subscope(), Axis.wid_in_wg.get_scope()               => ("warp", "warpgroup")

L.size(), L.size("laneid"), L.size("warpid"), L.size("m")               => (128, 32, 2, 2)
L.span("laneid"), L.span("warpid"), L.span("m"), L.span()               => (32, 11, 2, 2)
L.span(laneid), L.size(Axis.m)                                          => (32, 2)
L.apply(1, 8, shape=(8, 16))                                            => {"laneid": 4, "warpid": 6, "m": 0}
L.apply(24)                                                             => {"laneid": 4, "warpid": 6, "m": 0}
TileLayout(S[(4, 8):(8, 1)]).apply_to_shape((1, 2), (4, 8))             => [1, 2]
TileLayout(S[(4, 8):(8, 1)]).apply_to_shape((1, 2), (8, 4))             => [0, 6]
L.storage()                                                             => TileLayout(S[2:1])
L.get_scope()                                                           => ("thread", "cta")
TileLayout(S[4, 8]).is_trivial()                                        => True
TileLayout(S[(4, 8):(1, 4)]).is_trivial()                               => False
TileLayout(S[4, 8] + 1).is_trivial()                                    => False
TileLayout(S[4, 8]).is_swizzle()                                        => False
L.verify_well_formed()                                                  => True
TileLayout(S[(4, 8):(8 @ laneid, 2)] + 3).span()                        => 18
TileLayout(S[(4, 8):(8 @ laneid, 2)] + 3).span("laneid")                => 25
TileLayout(S[(4, 8):(8 @ laneid, 2)] + 3).size("m")                     => 8

TileLayout(S[(4, 2, 4):(8, 4, 1)]).canonicalize()                       => TileLayout(S[32:1])
TileLayout(S[(4, 1, 4):(4, 7, 1)] + R[1:3]).canonicalize()              => TileLayout(S[16:1] + R[1:3])
TileLayout(S[(4, 32, 8):(1 @ wid_in_wg, 1 @ laneid, 1)]).canonicalize() => TileLayout(S[(4, 32, 8):(1 @ wid_in_wg, 1 @ laneid, 1)])

TileLayout(S[8, 8]).tile(TileLayout(S[2, 3]), [2, 3], [8, 8])           => TileLayout(S[(2, 8, 3, 8):(192, 8, 64, 1)])
TileLayout(S[8, 8]).tile(TileLayout(S[2, 3]), [2, 3], [8, 8]).size()    => 384
TileLayout(S[8, 8]).tile(TileLayout(S[2, 3]), [2, 3], [8, 8]).span()    => 384
TileLayout(S[(2, 8, 3, 8):(192, 8, 64, 1)]).apply(9, 10, shape=(16, 24)) => {"m": 266}
FRAGMENT.tile(TileLayout(S[2, 2]), [2, 2], [8, 8])                      => TileLayout(S[(2, 8, 2, 4, 2):(4, 4 @ laneid, 2, 1 @ laneid, 1)])
FRAGMENT.tile(TileLayout(S[(2, 2):(1 @ warpid, 1)]), [2, 2], [8, 8])    => WARPS
TileLayout(S[8, 8]).tile_to([16, 24], [8, 8])                           => TileLayout(S[(2, 8, 3, 8):(192, 8, 64, 1)])
TileLayout(S[8, 8]).is_tile_inner(TileLayout(S[(2, 8, 3, 8):(192, 8, 64, 1)]), [16, 24], [8, 8]) => TileLayout(S[(2, 3):(3, 1)])
TileLayout(S[2, 3]).is_tile_outer(TileLayout(S[(2, 8, 3, 8):(192, 8, 64, 1)]), [16, 24], [2, 3]) => TileLayout(S[(8, 8):(8, 1)])

TileLayout(S[16, 64]).slice([16, 64], [(4, 8), (16, 48)])               => TileLayout(S[(4, 32):(64, 1)] + 272)
COLUMNS.slice([16, 64], [(0, 16), (16, 48)]) => TileLayout(S[(16, 2, 16):(16, 256, 1)] + 256)
COLUMNS.slice([16, 64], [(0, 16), (8, 24)])  => TileLayout(S[(16, 2, 8):(16, 248, 1)] + 8)
COLUMNS.slice([16, 64], [(0, 16), (8, 40)])  => None
L.slice([8, 16], [(0, 8), (8, 16)])                                     => PART
TileLayout(S[4, 32]).group([2, 64])                                     => (TileLayout(S[(2, 2, 32):(64, 32, 1)]), [0, 1, 3])
TileLayout(S[24]).group_many([[4, 6], [2, 12]])                         => (TileLayout(S[(2, 2, 6):(12, 6, 1)]), [[0, 2, 3], [0, 1, 3]])
TileLayout(S[4, 8]).permute_dims([1, 0])                                => TileLayout(S[(8, 4):(1, 8)])
TileLayout(S[(2, 4, 8):(32, 8, 1)]).permute_by_groups([0, 2, 3], [1, 0]) => TileLayout(S[(8, 2, 4):(1, 32, 8)])
TileLayout(S[4, 8]).pack(2)                                             => TileLayout(S[(4, 4):(4, 1)])
TileLayout(S[4, 8]).unpack(2)                                           => TileLayout(S[(4, 8, 2):(16, 2, 1)])
TileLayout(S[4, 8]).broadcast(3, 0)                                     => TileLayout(S[(3, 4, 8):(0, 8, 1)])
TileLayout(S[4, 8]).broadcast(3)                                        => TileLayout(S[(4, 8, 3):(8, 1, 0)])

ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).tile_to([128, 64], [8, 64]) => ComposeLayout(3, 3, 3, TileLayout(S[8192:1]))
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).canonicalize()             => ComposeLayout(3, 3, 3, TileLayout(S[512:1]))
ComposeLayout(3, 3, 3, TileLayout(S[128, 64])).slice([128, 64], [(8, 16), (0, 64)]) => ComposeLayout(3, 3, 3, TileLayout(S[8, 64] + 512))
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).pack(2)                    => ComposeLayout(2, 3, 3, TileLayout(S[8, 32]))
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).unpack(2)                  => ComposeLayout(4, 3, 3, TileLayout(S[8, 64, 2]))
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).is_tile_inner(SWIZZLED, [128, 64], [8, 64])   => TileLayout(S[(16, 1):(1, 1)])
ComposeLayout(2, 3, 3, TileLayout(S[8, 64])).is_tile_inner(SWIZZLED, [128, 64], [8, 64])   => None
TileLayout(S[8, 64]).is_tile_inner(SWIZZLED, [128, 64], [8, 64])        => None
TileLayout(S[16, 1]).is_tile_outer(SWIZZLED, [128, 64], [16, 1])        => ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))
TileLayout(S[(16, 1):(512, 1)]).is_direct_sum_left(SWIZZLED, [16, 8, 1, 64], [16, 1]) => ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).is_direct_sum_right(SWIZZLED, [16, 8, 1, 64], [8, 64]) => TileLayout(S[(16, 1):(512, 1)])
TileLayout(S[8, 64]).is_direct_sum_right(SWIZZLED, [16, 8, 1, 64], [8, 64]) => None
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).direct_sum(TileLayout(S[16, 1]), [16, 1], [8, 64]).size() => 8192
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).apply_to_shape((72,), (512,)) => [1, 8]
ComposeLayout(3, 0, 3, TileLayout(S[8, 64])).is_trivial()               => True
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).is_trivial()               => False
ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(1 @ laneid, 1)])).get_scope() => ("thread", "warp")
ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(1 @ laneid, 1)])).storage() => ComposeLayout(3, 3, 3, TileLayout(S[64]))
ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(1 @ laneid, 1)])).axes()   => ("laneid", "m")
ComposeLayout(3, 3, 3, TileLayout(S[512])).group_many([[8, 64], [16, 32]])[1] => [[0, 1, 3], [0, 2, 3]]
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).verify_well_formed()       => True
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).size()                     => 512
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).span()                     => 512
ComposeLayout(3, 3, 3, TileLayout(S[8, 64])).is_swizzle()               => True
ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(1, 8)])).is_swizzle()      => False

repr(TileLayout(S[(4, 8):(1 @ laneid, 1)] + R[2:4 @ warpid] + 5 @ warpid)) => TEXT
repr(TileLayout(S[8:1]))                                                => "TileLayout(S[8:1])"
repr(TileLayout(S[8] + 3 + 5 @ warpid))                                 => "TileLayout(S[8:1] + (5 @ Axis.warpid + 3))"
TileLayout(S[8] + (5 @ warpid + 3))                                     => TileLayout(S[8] + 3 + 5 @ warpid)
TileLayout(S[8] + (3 + 5 @ warpid))                                     => TileLayout(S[8] + 3 + 5 @ warpid)
"""
CASES = [tuple(part.strip() for part in line.split("=>")) for line in EXAMPLES.splitlines() if line]


@pytest.mark.parametrize(("asked", "answer"), CASES, ids=[asked for asked, _ in CASES])
def test_example(asked: str, answer: str) -> None:
    assert eval(asked, dict(SPACE)) == eval(answer, dict(SPACE))


@pytest.mark.needs("tirx-backend-cuda")
def test_direct_sum_of_lanes_and_columns() -> None:
    lane, column = Axis.get("TLane"), Axis.get("TCol")
    right = TileLayout(S[(32, 4) : (1 @ lane, 1 @ column)] + R[4 : 32 @ lane])
    left = TileLayout(S[(4, 2) : (4 @ column, 16 @ column)])
    total = right.direct_sum(left, [4, 2], [32, 4])
    assert total == TileLayout(S[(4, 32, 2, 4) : (4 @ column, 1 @ lane, 16 @ column, 1 @ column)] + R[4 : 32 @ lane])
    assert (total.size(), total.span(column)) == (1024, 32)
    assert left.is_direct_sum_left(total, [4, 32, 2, 4], [4, 2]) == right
    assert right.is_direct_sum_right(total, [4, 32, 2, 4], [32, 4]) == left


SWIZZLE = names.ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))


@pytest.mark.parametrize(
    ("coord", "before", "after"),
    [
        ((0, 0), 0, 0), ((0, 8), 8, 8), ((1, 0), 64, 72), ((1, 1), 65, 73), ((1, 8), 72, 64), ((2, 0), 128, 144),
        ((3, 20), 212, 204), ((7, 0), 448, 504), ((7, 8), 456, 496), ((7, 63), 511, 455),
    ],
)  # fmt: skip
def test_swizzled_positions(coord: tuple[int, int], before: int, after: int) -> None:
    assert SWIZZLE.tile_layout.apply(*coord) == {"m": before}
    assert SWIZZLE.apply(*coord) == {"m": after}


@pytest.mark.parametrize(("coord", "after"), [((1, 0), 64), ((0, 8), 72)])
def test_the_other_direction(coord: tuple[int, int], after: int) -> None:
    other = names.ComposeLayout(3, 3, 3, TileLayout(S[8, 64]), swizzle_inner=False)
    assert other.apply(*coord) == {"m": after}
    assert repr(other) == "ComposeLayout(3, 3, 3, TileLayout(S[(8, 64):(64, 1)]), swizzle_inner=False)"


@pytest.mark.needs("tirx-backend-cuda")
@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (lambda a: S[(4, 32, 8) : (1 @ a.wid_in_wg, 1 @ a.laneid, 1)], lambda a: S[(128, 8) : (1 @ a.tid_in_wg, 1)]),
        (lambda a: S[(4, 32, 8) : (1 @ a.warpid, 1 @ a.laneid, 1)], lambda a: S[(128, 8) : (1 @ a.tx, 1)]),
        (lambda a: S[(2, 128) : (1 @ a.wgid, 1 @ a.tid_in_wg)], lambda a: S[256 : 1 @ a.tx]),
        (lambda a: S[(2, 4) : (1 @ a.wgid, 1 @ a.wid_in_wg)], lambda a: S[8 : 1 @ a.warpid]),
    ],
)
def test_axes_of_the_target_join(spec: Any, wanted: Any) -> None:
    from tirx.target import Target

    scopes = Target({"kind": "cuda", "arch": "sm_90a"}).scope_model()
    assert TileLayout(spec(Axis)).canonicalize(scopes=scopes) == TileLayout(wanted(Axis))
    with Target({"kind": "cuda", "arch": "sm_90a"}):
        assert TileLayout(spec(Axis)).canonicalize() == TileLayout(wanted(Axis))
