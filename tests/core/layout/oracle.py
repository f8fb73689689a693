"""What a layout means, found out the slow way: the places of every element, straight from iters, replicas and offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from math import prod
from typing import Any

from hypothesis import strategies as st

from tirx.layout import ComposeLayout, Iter, TileLayout

Draw = Callable[[st.SearchStrategy[Any]], Any]
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


SIGNED = st.one_of(STRIDES, st.integers(-9, -1))
ITERS, SIGNED_ITERS = (
    st.lists(st.builds(Iter, EXTENTS, strides, st.sampled_from(AXES)), min_size=1, max_size=4)
    for strides in (STRIDES, SIGNED)
)
COPIES, SIGNED_COPIES = (
    st.lists(st.builds(Iter, st.integers(1, 3), strides, st.sampled_from(AXES)), max_size=2)
    for strides in (STRIDES, SIGNED)
)
OFFSETS = st.dictionaries(st.sampled_from(AXES), st.integers(0, 9), max_size=2)


@st.composite
def layouts(draw: st.DrawFn, *, signed: bool = False, copies: int = 2, largest: int = 96) -> TileLayout:
    """Layouts of a few iters over memory and threads, with replicas and offsets; `signed` strides may be negative."""
    shard = draw(SIGNED_ITERS if signed else ITERS)
    while prod(item.extent for item in shard) > largest:
        shard.pop()
    replica = draw(SIGNED_COPIES if signed else COPIES)[:copies]
    return TileLayout.from_iters(shard or [Iter(1, 1)], replica, draw(OFFSETS))


INNER = layouts(largest=64)
BITS = st.integers(0, 3)


@st.composite
def swizzles(draw: st.DrawFn) -> ComposeLayout:
    """Swizzles of any bits around any layout."""
    atom = draw(BITS)
    return ComposeLayout(draw(BITS), draw(below(atom + 1)), atom, draw(INNER), draw(st.booleans()))


ANY = st.one_of(layouts(), layouts(signed=True), swizzles())


def splits(draw: Draw, total: int) -> tuple[int, ...]:
    """A shape of `total` elements."""
    shape, left = [], total
    while left > 1 and len(shape) < 3:
        part = draw(divisors(left))
        shape.append(part)
        left //= part
    return (*shape, left)


@cache
def divisors(number: int) -> st.SearchStrategy[int]:
    return st.sampled_from([d for d in range(1, number + 1) if number % d == 0])


HOW = st.sampled_from(["own", "join", "split"])


def lined_up(draw: Draw, layout: Any) -> tuple[int, ...]:
    """A shape that a layout can be grouped by: neighbours multiplied, or an extent split."""
    shape: list[int] = []
    for item in getattr(layout, "tile_layout", layout).shard:
        how = draw(HOW)
        if how == "join" and shape:
            shape[-1] *= item.extent
        elif how == "split":
            part = draw(divisors(item.extent))
            shape += [part, item.extent // part]
        else:
            shape.append(item.extent)
    return tuple(shape)


def box(draw: Draw, shape: Sequence[int]) -> list[tuple[int, int]]:
    """(begin, end) for each dimension."""
    region = []
    for extent in shape:
        begin = draw(below(extent))
        region.append((begin, begin + 1 + draw(below(extent - begin))))
    return region


@cache
def below(number: int) -> st.SearchStrategy[int]:
    return st.integers(0, number - 1)
