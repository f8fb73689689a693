"""Tile schedulers: every order visits every tile once, in the order that it documents, for ragged sizes; kernels agree with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.support.errors import ScriptError
from tirx_cuda import nvshmem
from tirx_cuda.lang import (
    ClusterPersistentScheduler2D,
    FlashAttentionLinearScheduler,
    FlashAttentionLPTScheduler,
    GroupMajor3D,
    IndexedTripleTileScheduler,
    RankAwareGroupMajorTileScheduler,
    orders,
)

TARGET = "cuda -arch=sm_90a"
SIZES = list(product(range(1, 8), range(1, 8), range(1, 5)))


def visited(order: Callable[..., Any], count: int, *sizes: Any) -> list[Any]:
    return [order(position, *sizes) for position in range(count)]


# ---- the documented orders, written down again as loops --------------------------------------------------------------


def bands(total: int, size: int) -> list[range]:
    """`total` in pieces of `size`, the last one shorter."""
    return [range(start, min(start + size, total)) for start in range(0, total, size)]


def grouped(rows: int, columns: int, group: int) -> list[tuple[int, int]]:
    return [(row, column) for band in bands(rows, group) for column in range(columns) for row in band]


def grouped_3d(rows: int, columns: int, depth: int, group: int) -> list[tuple[int, int, int]]:
    return [
        (row, column, deep)
        for band in bands(rows, group)
        for deep in range(depth)
        for column in range(columns)
        for row in band
    ]


def snake(rows: int, columns: int, size: int) -> list[tuple[int, int]]:
    strips = enumerate(bands(columns, size))
    return [
        (row, column)
        for number, strip in strips
        for band in bands(rows, size)[:: -1 if number % 2 else 1]
        for row in band
        for column in strip
    ]


def remote_first(rows: int, columns: int, group: int, world: int, rank: int) -> list[tuple[int, int]]:
    own = rows // world
    there = grouped(rows - own, columns, group)
    here = [(row + rows - own, column) for row, column in grouped(own, columns, group)]
    return [((row + (rank + 1) * own) % rows, column) for row, column in there + here]


def sections(batches: int, heads: int, blocks: int, size: int) -> list[tuple[int, int, int]]:
    return [
        (head // heads, head % heads, block)
        for section in bands(batches * heads, size)
        for block in reversed(range(blocks))
        for head in section
    ]


@pytest.mark.parametrize(("rows", "columns", "group"), SIZES)
def test_orders_of_a_matrix(rows: int, columns: int, group: int) -> None:
    every = set(product(range(rows), range(columns)))
    for order, written in ((orders.group_major, grouped), (orders.serpentine, snake)):
        found = visited(order, rows * columns, rows, columns, group)
        assert found == written(rows, columns, group)
        assert set(found) == every
    for world in (1, 2, 3):
        for rank in range(world):
            found = visited(orders.rank_aware, rows * columns, rows, columns, group, world, rank)
            assert found == remote_first(rows, columns, group, world, rank)
            assert set(found) == every


@pytest.mark.parametrize(("rows", "columns", "group"), SIZES)
def test_orders_of_three_dimensions(rows: int, columns: int, group: int) -> None:
    for depth in (1, 3):
        total = rows * columns * depth
        found = visited(orders.group_major_3d, total, rows, columns, depth, group)
        assert found == grouped_3d(rows, columns, depth, group)
        assert visited(orders.linear, total, columns, depth) == list(product(range(rows), range(columns), range(depth)))
        found = visited(orders.longest_first, total, rows, columns, depth, group)
        assert found == sections(rows, columns, depth, group)
        assert len(set(found)) == total


# ---- in kernels -----------------------------------------------------------------------------------------------------

WORKERS = 3
Make = Callable[..., Any]


def trace(make: Make, names: tuple[str, ...], width: int = 400, **more: Any) -> Any:
    """A kernel in which each worker writes down its tiles."""

    @Tx.prim_func
    def kernel(O: Tx.Buffer((WORKERS, width, 3), "int32"), C: Tx.Buffer((WORKERS,), "int32")):
        Tx.device_entry()
        bx = Tx.cta_id([WORKERS])
        tiles = make()
        tiles.init(bx)
        while tiles.valid():
            for position in Tx.meta_var(range(len(names))):
                O[bx, tiles.tile_idx, position] = getattr(tiles, names[position])
            tiles.next_tile()
        C[bx] = tiles.tile_idx

    return kernel


def tiles_of(make: Make, names: tuple[str, ...]) -> list[list[tuple[int, ...]]]:
    """For each worker its tiles in order."""
    out, counts = np.full((WORKERS, 400, 3), -1, np.int32), np.zeros(WORKERS, np.int32)
    report = tirx.simulate(trace(make, names), out, counts, target=TARGET)
    assert report.verdict == "clean", str(report)
    return [
        [tuple(tile[: len(names)]) for tile in own[:count].tolist()] for own, count in zip(out, counts, strict=True)
    ]


def dealt(order: list[Any]) -> list[list[Any]]:
    """An order, dealt to the workers in turn."""
    return [order[worker::WORKERS] for worker in range(WORKERS)]


MATRIX, ATTENTION = ("m_idx", "n_idx"), ("batch_idx", "head_idx", "m_block_idx")
SCHEDULES: dict[str, tuple[Make, tuple[str, ...], list[Any]]] = {
    "whole groups": (lambda: ClusterPersistentScheduler2D("t", 8, 5, WORKERS, l2_group_size=4), MATRIX, grouped(8, 5, 4)),
    "ragged groups": (lambda: ClusterPersistentScheduler2D("t", 7, 5, WORKERS, l2_group_size=4), MATRIX, grouped(7, 5, 4)),
    "one group": (lambda: ClusterPersistentScheduler2D("t", 3, 4, WORKERS), MATRIX, grouped(3, 4, 8)),
    "serpentine": (
        lambda: ClusterPersistentScheduler2D("t", 7, 6, WORKERS, l2_group_size=4, serpentine=True), MATRIX, snake(7, 6, 4)
    ),
    "clusters": (
        lambda: ClusterPersistentScheduler2D("t", 6, 4, WORKERS, l2_group_size=2, cluster_m=2, cluster_n=2), MATRIX,
        [(row * 2 + i % 2, column * 2 + i // 2) for row, column in grouped(3, 2, 2) for i in range(4)],
    ),
    "three dimensions": (
        lambda: GroupMajor3D("t", 7, 3, 2, 4, step=WORKERS), ("m_idx", "n_idx", "k_idx"), grouped_3d(7, 3, 2, 4)
    ),
    "linear": (lambda: FlashAttentionLinearScheduler("t", 2, 3, 5, WORKERS), ATTENTION, list(product(range(2), range(3), range(5)))),
    "longest first": (lambda: FlashAttentionLPTScheduler("t", 2, 5, 3, 4, num_ctas=WORKERS), ATTENTION, sections(2, 5, 3, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEDULES)
def test_kernels_follow_the_order(name: str) -> None:
    make, names, order = SCHEDULES[name]
    assert tiles_of(make, names) == dealt(order)


def test_one_block_each() -> None:
    own = tiles_of(lambda: FlashAttentionLPTScheduler("t", 2, 5, 3, 4), ATTENTION)
    assert own == [[tile] for tile in sections(2, 5, 3, 4)[:WORKERS]]


def test_sizes_known_at_run_time() -> None:
    @Tx.prim_func
    def kernel(O: Tx.Buffer((64, 2), "int32"), m: Tx.int32, n: Tx.int32):
        Tx.device_entry()
        Tx.cta_id([1])
        tiles = ClusterPersistentScheduler2D("t", m, n, 1, l2_group_size=4)
        tiles.init(0)
        while tiles.valid():
            O[tiles.tile_idx, 0] = tiles.m_idx
            O[tiles.tile_idx, 1] = tiles.n_idx
            tiles.next_tile()

    out = np.full((64, 2), -1, np.int32)
    assert tirx.simulate(kernel, out, 7, 5, target=TARGET).verdict == "clean"
    assert [tuple(tile) for tile in out[:35].tolist()] == grouped(7, 5, 4)
    assert (out[35:] == -1).all()


def test_rank_aware_in_kernels() -> None:
    def order(ranks: int) -> Iterator[list[tuple[int, ...]]]:
        kernel = trace(lambda: RankAwareGroupMajorTileScheduler("t", 7, 3, 2, ranks), MATRIX)
        given = [(np.full((WORKERS, 400, 3), -1, np.int32), np.zeros(WORKERS, np.int32)) for _ in range(ranks)]
        for report in nvshmem.simulate(kernel, given, target=TARGET):
            assert report.verdict == "clean", str(report)
        for out, counts in given:
            yield [tuple(tile[:2]) for tile in out[0, : counts[0]].tolist()]

    for rank, own in enumerate(order(2)):
        assert own == remote_first(7, 3, 2, 2, rank)


def test_index_lists() -> None:
    @Tx.prim_func
    def kernel(
        B: Tx.Buffer((5,), "int32"), H: Tx.Buffer((5,), "int32"), Q: Tx.Buffer((5,), "int32"), P: Tx.Buffer((4,), "int32"),
        O: Tx.Buffer((WORKERS, 8, 3), "int32"),
    ):  # fmt: skip
        Tx.device_entry()
        bx = Tx.cta_id([WORKERS])
        tiles = IndexedTripleTileScheduler("t", B, H, Q, P)
        tiles.init(bx)
        while tiles.valid():
            O[bx, tiles.tile_idx, 0] = tiles.b_idx
            O[bx, tiles.tile_idx, 1] = tiles.h_idx
            O[bx, tiles.tile_idx, 2] = tiles.q_idx
            tiles.next_tile()

    b, h, q = (np.arange(5, dtype=np.int32) + 10 * n for n in (1, 2, 3))
    out = np.zeros((WORKERS, 8, 3), np.int32)
    report = tirx.simulate(kernel, b, h, q, np.array([0, 2, 2, 5], np.int32), out, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert out[0, :3].tolist() == [[10, 20, 30], [11, 21, 31], [0, 0, 0]]
    assert (out[1] == 0).all()
    assert out[2, :4].tolist() == [[12, 22, 32], [13, 23, 33], [14, 24, 34], [0, 0, 0]]


def test_source_says_what_it_must() -> None:
    """Sizes that divide need no second case."""
    make, names, _ = SCHEDULES["whole groups"]
    text = source_of(trace(make, names), TARGET).text
    assert "t_m_idx = t_linear_idx / 20 * 4 + t_linear_idx % 20 % 4;" in text
    assert "t_n_idx = t_linear_idx % 20 / 4;" in text


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ClusterPersistentScheduler2D("t", 7, 4, 3, cluster_m=2), "7 tiles along m are no whole clusters of 2"),
        (lambda: ClusterPersistentScheduler2D("t", 7, 4, 0), "num_clusters=0: there must be at least one"),
        (
            lambda: ClusterPersistentScheduler2D("t", Tx.int32(), 4, 1, serpentine=True),
            "the serpentine order needs sizes known",
        ),
        (lambda: GroupMajor3D("t", 7, 4, 1, 0), "group_rows=0"),
    ],
)
def test_mistakes(make: Make, message: str) -> None:
    with Tx.prim_func():
        Tx.device_entry()
        with pytest.raises(ScriptError, match=message):
            make()
