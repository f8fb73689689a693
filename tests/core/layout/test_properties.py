"""Every operation of the algebra against the enumeration of all elements, replicas and offsets."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.core.layout.oracle import (
    ANY,
    added,
    box,
    layouts,
    linear,
    lined_up,
    meaning,
    moved,
    place,
    points,
    splits,
    swizzled,
    swizzles,
    taken,
)
from tirx.layout import ComposeLayout, Iter, TileLayout
from tirx.support.errors import LayoutError

some = settings(max_examples=25, deadline=None)
many = settings(max_examples=40, deadline=None)


@many
@given(ANY, st.data())
def test_apply(layout: Any, data: st.DataObject) -> None:
    shape = splits(data.draw, layout.size())
    tile = getattr(layout, "tile_layout", layout)
    first = meaning(layout.with_tile(bare(tile)) if tile is not layout else bare(tile))
    for coord in points(shape):
        assert [place(layout.apply(*coord, shape=shape))] == first[linear(coord, shape)]
        assert layout.apply(linear(coord, shape)) == layout.apply(*coord, shape=shape)


def bare(layout: TileLayout) -> TileLayout:
    return TileLayout.from_iters(layout.shard, (), layout.offset)


@some
@given(layouts(), st.data())
def test_apply_to_shape(layout: TileLayout, data: st.DataObject) -> None:
    shape = splits(data.draw, layout.size())
    extents = [item.extent for item in layout.shard]
    for index, coord in enumerate(points(shape)):
        assert layout.apply_to_shape(coord, shape) == list(points(extents)[index])


@some
@given(layouts())
def test_size_and_span(layout: TileLayout) -> None:
    every = [dict(item) for items in meaning(layout) for item in items]
    assert layout.size() == len(meaning(layout))
    for axis in layout.axes():
        assert layout.span(axis) == 1 + max(item.get(axis, 0) for item in every)


@many
@given(ANY)
def test_canonicalize(layout: Any) -> None:
    made = layout.canonicalize()
    assert meaning(made) == meaning(layout)
    assert made.canonicalize() == made
    assert hash(made) == hash(made.canonicalize())


class Widths:
    """Four lanes in a warp, two warps in a warpgroup."""

    def fixed_width(self, parent: str, child: str) -> int | None:
        return {("warp", "thread"): 4, ("warpgroup", "warp"): 2, ("warpgroup", "thread"): 8}.get((parent, child))


WEIGHTS = {"laneid": 1, "warpid": 4, "wid_in_wg": 4, "wgid": 8, "tid_in_wg": 1, "tx": 1}
CHAINS = [("laneid",), ("warpid", "laneid"), ("wgid", "wid_in_wg", "laneid"), ("wgid", "tid_in_wg")]


FEW, STEPS, ONE = st.integers(1, 3), st.integers(0, 5), st.integers(0, 1)


@many
@given(st.sampled_from(CHAINS), st.data())
def test_joined_axes_name_the_same_threads(chain: tuple[str, ...], data: st.DataObject) -> None:
    limits = {"laneid": 4, "wid_in_wg": 2, "tid_in_wg": 8}
    parts = [Iter(data.draw(FEW), data.draw(STEPS), axis) for axis in chain]
    shard = data.draw(st.permutations([*parts, Iter(2, data.draw(STEPS))]))
    replica = data.draw(st.lists(st.builds(Iter, st.just(2), st.integers(0, 2), st.sampled_from(chain)), max_size=1))
    layout = TileLayout.from_iters(shard, replica, {axis: data.draw(ONE) for axis in chain})
    assume(all(layout.span(axis) <= limits.get(axis, 99) for axis in chain))
    made = layout.canonicalize(scopes=Widths())
    assert meaning_of_threads(made) == meaning_of_threads(layout)
    assert made.canonicalize(scopes=Widths()) == made
    if made.verify_well_formed():  # else a level between them has one member only, and is gone
        assert len([axis for axis in made.axes() if axis != "m"]) <= 1


def meaning_of_threads(layout: TileLayout) -> Any:
    def thread(positions: dict[str, int]) -> dict[str, int]:
        total = sum(value * WEIGHTS[axis] for axis, value in positions.items() if axis != "m")
        return {"m": positions.get("m", 0), "thread": total}

    return moved(meaning(layout), thread)


@many
@given(ANY, st.data())
def test_group(layout: Any, data: st.DataObject) -> None:
    shape = lined_up(data.draw, layout)
    grouped, separators = layout.group(shape)
    shard = getattr(grouped, "tile_layout", grouped).shard
    assert meaning(grouped) == meaning(layout)
    spans = pairwise(separators)
    assert [prod(item.extent for item in shard[a:b]) for a, b in spans] == list(shape)


@some
@given(layouts(), st.data())
def test_group_many(layout: TileLayout, data: st.DataObject) -> None:
    shapes = [lined_up(data.draw, layout) for _ in range(2)]
    try:
        grouped, separators = layout.group_many(shapes)
    except LayoutError:
        ends = sorted({prod(shape[:n]) for shape in shapes for n in range(len(shape) + 1)})
        assert any(b % a for a, b in pairwise(ends))
        return
    assert meaning(grouped) == meaning(layout)
    for shape, cuts in zip(shapes, separators, strict=True):
        found = [prod(i.extent for i in grouped.shard[a:b]) for a, b in pairwise(cuts)]
        assert found == list(shape)


@some
@given(ANY, st.data())
def test_permute(layout: Any, data: st.DataObject) -> None:
    shape = lined_up(data.draw, layout)
    order = data.draw(st.permutations(range(len(shape))))
    grouped, separators = layout.group(shape)
    made = grouped.permute_by_groups(separators, order)
    wanted = [tuple(coord[order.index(d)] for d in range(len(shape))) for coord in points([shape[d] for d in order])]
    assert meaning(made) == taken(meaning(layout), shape, wanted)
    extents = [item.extent for item in getattr(layout, "tile_layout", layout).shard]
    dims = data.draw(st.permutations(range(len(extents))))
    turned = [tuple(coord[dims.index(d)] for d in range(len(extents))) for coord in points([extents[d] for d in dims])]
    assert meaning(layout.permute_dims(dims)) == taken(meaning(layout), extents, turned)


SMALL = layouts(copies=1, largest=12)


def pairs(draw: Any, rank: int) -> tuple[TileLayout, tuple[int, ...], TileLayout, tuple[int, ...]]:
    """An outer and an inner layout with shapes of the same rank."""
    sides = []
    for _ in range(2):
        layout = draw(SMALL)
        shape = lined_up(draw, layout)
        while len(shape) > rank:
            shape = (shape[0] * shape[1], *shape[2:])
        sides += [layout, (1,) * (rank - len(shape)) + shape]
    return tuple(sides)  # type: ignore[return-value]


def interleaved(outer: Any, outer_shape: Any, inner: Any, inner_shape: Any, scale: Any) -> Any:
    """For each element of the product shape, the places that the two layouts add up to."""
    shape = [a * b for a, b in zip(outer_shape, inner_shape, strict=True)]
    found = []
    for coord in points(shape):
        left = linear([c // b for c, b in zip(coord, inner_shape, strict=True)], outer_shape)
        right = linear([c % b for c, b in zip(coord, inner_shape, strict=True)], inner_shape)
        found.append(added(outer[left], inner[right], scale))
    return found


@many
@given(st.integers(1, 3), st.data())
def test_tile_and_its_inverses(rank: int, data: st.DataObject) -> None:
    outer, outer_shape, inner, inner_shape = pairs(data.draw, rank)
    made = inner.tile(outer, outer_shape, inner_shape)
    steps = meaning(TileLayout.from_iters(outer.shard, outer.replica))
    wanted = interleaved(steps, outer_shape, meaning(inner), inner_shape, inner.span)
    assert meaning(made) == [added([place(outer.offset)], item) for item in wanted]
    shape = [a * b for a, b in zip(outer_shape, inner_shape, strict=True)]
    back = inner.is_tile_inner(made, shape, inner_shape)
    assert back is not None
    assert inner.tile(back, outer_shape, inner_shape) == made
    back = outer.is_tile_outer(made, shape, outer_shape)
    assert back is not None
    assert back.tile(outer, outer_shape, inner_shape) == made


@many
@given(st.integers(1, 3), st.data())
def test_direct_sum_and_its_inverses(rank: int, data: st.DataObject) -> None:
    left, left_shape, right, right_shape = pairs(data.draw, rank)
    made = right.direct_sum(left, left_shape, right_shape)
    assert meaning(made) == interleaved(meaning(left), left_shape, meaning(right), right_shape, lambda axis: 1)
    shape = [extent for pair in zip(left_shape, right_shape, strict=True) for extent in pair]
    back = left.is_direct_sum_left(made, shape, left_shape)
    assert back is not None
    assert meaning(back) == meaning(right)
    back = right.is_direct_sum_right(made, shape, right_shape)
    assert back is not None
    assert meaning(back) == meaning(left)


@many
@given(st.integers(1, 2), st.data())
def test_inverses_answer_only_what_holds(rank: int, data: st.DataObject) -> None:
    _, outer_shape, part, inner_shape = pairs(data.draw, rank)
    shape = [a * b for a, b in zip(outer_shape, inner_shape, strict=True)]
    total = TileLayout.from_iters(
        [Iter(extent, data.draw(st.sampled_from([1, 2, 4, 8])), "m") for p in zip(outer_shape, inner_shape, strict=True) for extent in p],
        part.replica, part.offset,
    )  # fmt: skip
    outer = part.is_tile_inner(total, shape, inner_shape)
    if outer is not None:
        assert meaning(part.tile(outer, outer_shape, inner_shape)) == meaning(total)
    mixed = [extent for pair in zip(outer_shape, inner_shape, strict=True) for extent in pair]
    left = part.is_direct_sum_right(total, mixed, inner_shape)
    if left is not None:
        assert meaning(part.direct_sum(left, outer_shape, inner_shape)) == meaning(total)


@some
@given(st.one_of(layouts(copies=1, largest=16), swizzles()), st.integers(1, 3), st.data())
def test_tile_to(layout: Any, times: int, data: st.DataObject) -> None:
    shape = lined_up(data.draw, layout)
    target = [shape[0] * times, *shape[1:]]
    made = layout.tile_to(target, shape)
    tile = getattr(layout, "tile_layout", layout)
    outer = TileLayout.from_iters([Iter(times, 1)])
    steps = (times, *(1 for _ in shape[1:]))
    wanted = interleaved(meaning(outer), steps, meaning(tile), shape, tile.span)
    if isinstance(layout, ComposeLayout):
        wanted = [sorted(swizzled(layout, item) for item in items) for items in wanted]
    assert meaning(made) == wanted
    assert layout.is_tile_inner(made, target, shape) is not None


@settings(max_examples=100, deadline=None)
@given(ANY, st.data())
def test_slice(layout: Any, data: st.DataObject) -> None:
    shape = lined_up(data.draw, layout)
    region = box(data.draw, shape)
    made = layout.slice(shape, region)
    if made is not None:
        inside = [tuple(b + i for (b, _), i in zip(region, c, strict=True)) for c in points([e - b for b, e in region])]
        assert meaning(made) == taken(meaning(layout), shape, inside)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from([2, 3, 4, 6, 8]), min_size=1, max_size=3), st.data())
def test_a_slice_that_is_refused_is_no_layout(extents: list[int], data: st.DataObject) -> None:
    """With steps so far apart that none makes up for another, None means that no split of the box has constant steps."""
    strides = [1000**place for place in reversed(range(len(extents)))]
    layout = TileLayout.from_iters([Iter(e, s) for e, s in zip(extents, strides, strict=True)])
    ((begin, end),) = box(data.draw, (prod(extents),))
    positions = [dict(items[0]).get("m", 0) for items in meaning(layout)][begin:end]
    made = layout.slice((prod(extents),), [(begin, end)])
    assert made is None or is_affine(positions)
    if made is None and is_affine(
        positions
    ):  # pairs of half rounds in a row: nobody needs it, the published language neither
        rounds = [prod(extents[place:]) for place in range(1, len(extents))]
        assert any(begin % size and end - begin > 2 * (size - begin % size) for size in rounds)


def is_affine(positions: list[int]) -> bool:
    """Whether some split of the run into digits has one step per digit."""
    count = len(positions)
    if count <= 1:
        return True
    for inner in (d for d in range(2, count + 1) if count % d == 0):
        runs = [positions[i : i + inner] for i in range(0, count, inner)]
        step = runs[0][1] - runs[0][0]
        if all(b - a == step for run in runs for a, b in pairwise(run)) and is_affine([run[0] for run in runs]):
            return True
    return False


@many
@given(ANY, st.sampled_from([1, 2, 3, 4]))
def test_unpack_and_pack(layout: Any, factor: int) -> None:
    assume(not isinstance(layout, ComposeLayout) or factor != 3)
    made = layout.unpack(factor)
    wanted = [
        sorted(place({**dict(item), "m": dict(item).get("m", 0) * factor + step}) for item in items)
        for items in meaning(layout) for step in range(factor)
    ]  # fmt: skip
    assert meaning(made) == wanted
    assert meaning(made.pack(factor)) == meaning(layout)


@many
@given(ANY, st.sampled_from([2, 3, 4]))
def test_pack(layout: Any, factor: int) -> None:
    try:
        made = layout.pack(factor)
    except LayoutError:
        return
    groups = [meaning(layout)[i : i + factor] for i in range(0, layout.size(), factor)]
    for found, group in zip(meaning(made), groups, strict=True):
        for step, items in enumerate(group):
            assert items == sorted(place({**dict(p), "m": dict(p).get("m", 0) * factor + step}) for p in found)


@some
@given(ANY, st.integers(1, 3), st.data())
def test_broadcast(layout: Any, count: int, data: st.DataObject) -> None:
    extents = [item.extent for item in getattr(layout, "tile_layout", layout).shard]
    position = data.draw(st.integers(-len(extents) - 1, len(extents)))
    at = position % (len(extents) + 1)
    made = layout.broadcast(count, position)
    wanted = [coord[:at] + coord[at + 1 :] for coord in points([*extents[:at], count, *extents[at:]])]
    assert meaning(made) == taken(meaning(layout), extents, wanted)


@some
@given(layouts())
def test_storage(layout: TileLayout) -> None:
    shard = [item for item in layout.shard if item.axis == "m"]
    kept = [item for item in layout.replica if item.axis == "m"]
    found = layout.storage()
    assert meaning(found) == meaning(
        TileLayout.from_iters(shard or [Iter(1, 1)], kept, {"m": layout.offset.get("m", 0)})
    )


@some
@given(layouts())
def test_trivial(layout: TileLayout) -> None:
    wanted = [[place({"m": index})] for index in range(layout.size())]
    assert layout.is_trivial() == (meaning(layout) == wanted and not layout.replica)


@many
@given(ANY)
def test_text_reads_back(layout: Any) -> None:
    from tirx import layout as names

    assert eval(repr(layout), {name: getattr(names, name) for name in names.__all__}) == layout


@pytest.mark.parametrize("factor", [1, 2, 4, 8])
def test_a_swizzle_keeps_chunks_together(factor: int) -> None:
    layout = ComposeLayout(3, 3, 3, TileLayout.from_iters([Iter(8, 64), Iter(64, 1)]))
    assert meaning(layout.pack(factor).unpack(factor)) == meaning(layout)
