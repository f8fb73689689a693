"""What a layout means, found out the slow way: the places of every element, straight from iters, replicas and offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import Any

from hypothesis import strategies as st

from tirx.layout import ComposeLayout, Iter, TileLayout

Place = tuple[tuple[str, int], ...]  # (axis, position), zeros left out
Meaning = list[list[Place]]  # for each element in row-major order: all its places


def place(positions: dict[str, int]) -> Place:
    return tuple(sorted((axis, value) for axis, value in positions.items() if value))


def points(shape: Sequence[int]) -> list[tuple[int, ...]]:
    return list(product(*(range(extent) for extent in shape)))


def meaning(layout: Any) -> Meaning:
    """All places of all elements, replicas included."""
    if isinstance(layout, ComposeLayout):
        return [sorted(swizzled(layout, item) for item in items) for items in meaning(layout.tile_layout)]
    elements = []
    for coord in points([item.extent for item in layout.shard]):
        places = []
        for copy in points([item.extent for item in layout.replica]):
            found = dict(layout.offset)
            for step, item in zip((*coord, *copy), (*layout.shard, *layout.replica), strict=True):
                found[item.axis] = found.get(item.axis, 0) + step * item.stride
            places.append(place(found))
        elements.append(sorted(places))
    return elements


def swizzled(layout: ComposeLayout, item: Place) -> Place:
    """The bits exchanged one by one."""
    positions = dict(item)
    chunk, inside = divmod(positions.get("m", 0), 1 << layout.per_element)
    found = chunk
    for bit in range(layout.swizzle_len):
        low, high = bit, bit + layout.atom_len
        source, goal = (high, low) if layout.swizzle_inner else (low, high)
        found ^= ((chunk >> source) & 1) << goal
    return place({**positions, "m": (found << layout.per_element) + inside})


def moved(elements: Meaning, change: Callable[[dict[str, int]], dict[str, int]]) -> Meaning:
    """Every place changed."""
    return [sorted(place(change(dict(item))) for item in items) for items in elements]


def added(a: list[Place], b: list[Place], scale: Callable[[str], int] = lambda axis: 1) -> list[Place]:
    """The places of an element that is at one of `a`, in units of `scale`, from one of `b`."""
    found = []
    for left, right in product(a, b):
        total = {axis: value * scale(axis) for axis, value in left}
        for axis, value in right:
            total[axis] = total.get(axis, 0) + value
        found.append(place(total))
    return sorted(found)


def taken(elements: Meaning, shape: Sequence[int], order: Sequence[tuple[int, ...]]) -> Meaning:
    """Elements at the coordinates `order` of `shape`."""
    return [elements[linear(coord, shape)] for coord in order]


def linear(coord: Sequence[int], shape: Sequence[int]) -> int:
    total = 0
    for index, extent in zip(coord, shape, strict=True):
        total = total * extent + index
    return total


# ---- random layouts -----------------------------------------------------------------------------------------------

AXES = ("m", "m", "laneid", "warpid")
EXTENTS = st.sampled_from([1, 2, 2, 3, 4, 4, 6, 8])
STRIDES = st.sampled_from([0, 1, 1, 2, 3, 4, 8, 12, 16, 64])


def iters(strides: st.SearchStrategy[int] = STRIDES) -> st.SearchStrategy[Iter]:
    return st.builds(Iter, EXTENTS, strides, st.sampled_from(AXES))


@st.composite
def layouts(draw: st.DrawFn, *, signed: bool = False, copies: int = 2, largest: int = 96) -> TileLayout:
    """Layouts of a few iters over memory and threads, with replicas and offsets; `signed` strides may be negative."""
    strides = st.one_of(STRIDES, st.integers(-9, -1)) if signed else STRIDES
    shard = draw(st.lists(iters(strides), min_size=1, max_size=4))
    while prod(item.extent for item in shard) > largest:
        shard.pop()
    replica = draw(st.lists(st.builds(Iter, st.integers(1, 3), strides, st.sampled_from(AXES)), max_size=copies))
    offset = draw(st.dictionaries(st.sampled_from(AXES), st.integers(0, 9), max_size=2))
    return TileLayout.from_iters(shard or [Iter(1, 1)], replica, offset)


@st.composite
def swizzles(draw: st.DrawFn) -> ComposeLayout:
    """Swizzles of any bits around any layout."""
    atom = draw(st.integers(0, 3))
    swizzle = draw(st.integers(0, atom))
    return ComposeLayout(draw(st.integers(0, 3)), swizzle, atom, draw(layouts(largest=64)), draw(st.booleans()))


def any_layout() -> st.SearchStrategy[Any]:
    return st.one_of(layouts(), layouts(signed=True), swizzles())


def splits(total: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes of `total` elements."""

    @st.composite
    def draw_shape(draw: st.DrawFn) -> tuple[int, ...]:
        shape, left = [], total
        while left > 1 and len(shape) < 3:
            part = draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0]))
            shape.append(part)
            left //= part
        return (*shape, left)

    return draw_shape()


def lined_up(layout: Any) -> st.SearchStrategy[tuple[int, ...]]:
    """Shapes that a layout can be grouped by: neighbours multiplied, or an extent split."""
    extents = [item.extent for item in getattr(layout, "tile_layout", layout).shard]

    @st.composite
    def draw_shape(draw: st.DrawFn) -> tuple[int, ...]:
        shape: list[int] = []
        for extent in extents:
            how = draw(st.sampled_from(["own", "join", "split"]))
            if how == "join" and shape:
                shape[-1] *= extent
            elif how == "split":
                part = draw(st.sampled_from([d for d in range(1, extent + 1) if extent % d == 0]))
                shape += [part, extent // part]
            else:
                shape.append(extent)
        return tuple(shape)

    return draw_shape()
