"""Views of buffers with layouts address the elements that NumPy's view of the logical array addresses.

The logical array holds the position in storage of each element; every view must point at the same positions.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tests.property.integers import evaluate
from tirx import ir
from tirx.analysis.storage_size import storage_elements
from tirx.layout import ComposeLayout, Iter, TileLayout
from tirx.support.errors import TirxError
from tirx.transform.flat import flat_index

few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
Array = np.ndarray[Any, Any]


def positions(buffer: ir.Buffer) -> Array:
    """Position in storage of every element, from the start of the storage."""
    found, layout = np.zeros(buffer.shape, dtype=np.int64), buffer.layout
    assert layout is not None
    for place in np.ndindex(*buffer.shape):
        found[place] = layout.physical(place, buffer.shape).get("m", 0)
    assert isinstance(buffer.elem_offset, int)
    return found + buffer.elem_offset


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...]) -> TileLayout | ComposeLayout:
    """Iters that split the dimensions, in any order of strides, with room between; perhaps an offset, perhaps swizzled."""
    iters: list[int] = []
    for extent in shape:
        outer = draw(st.sampled_from([d for d in (1, 2, 3, 4, 8) if extent % d == 0]))
        iters += [outer, extent // outer]
    order = draw(st.permutations(range(len(iters))))
    strides, room = [0] * len(iters), draw(st.sampled_from([1, 1, 2]))
    for position in order:
        strides[position] = room
        room *= iters[position] + draw(st.sampled_from([0, 0, 1]))
    shard = [Iter(extent, stride) for extent, stride in zip(iters, strides, strict=True)]
    tile = TileLayout.from_iters(shard, [], {"m": draw(st.sampled_from([0, 0, 8, 5]))})
    if draw(st.booleans()):
        return tile
    swizzle = draw(st.sampled_from([(0, 1, 1), (1, 2, 2), (1, 1, 2), (2, 2, 3), (0, 2, 2), (1, 0, 3)]))
    return ComposeLayout(*swizzle, tile, swizzle_inner=draw(st.booleans()))


shapes = st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=1, max_size=3).map(tuple)


@st.composite
def buffers(draw: st.DrawFn) -> ir.Buffer:
    shape = draw(shapes)
    return ir.Buffer("A", shape, "float16", layout=draw(layouts(shape)), elem_offset=draw(st.sampled_from([0, 0, 16])))


def attempt(make: Callable[[], ir.Buffer], *reasons: str) -> ir.Buffer:
    """What `make` answers; an example whose view does not exist, for one of `reasons`, counts for nothing."""
    try:
        return make()
    except TirxError as error:
        if any(reason in error.message for reason in reasons):
            reject()
        raise


@few
@given(buffers())
def test_elements_have_places_of_their_own(buffer: ir.Buffer) -> None:
    found = positions(buffer)
    assert len(np.unique(found)) == prod(buffer.shape)


@few
@given(buffers(), st.data())
def test_permute(buffer: ir.Buffer, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(buffer.ndim)))
    assert (positions(buffer.permute(*order)) == positions(buffer).transpose(order)).all()


@few
@given(buffers(), st.data())
def test_sub(buffer: ir.Buffer, data: st.DataObject) -> None:
    items: list[Any] = []
    for extent in buffer.shape:
        start = data.draw(st.integers(0, extent - 1))
        stop = data.draw(st.integers(start + 1, extent))
        items.append(data.draw(st.sampled_from([start, slice(start, stop), slice(start, None, 2), slice(None)])))
    found = attempt(lambda: buffer.sub[tuple(items)], "do not lie evenly")
    wanted = positions(buffer)[tuple(items)]
    assert (positions(found) == wanted.reshape(wanted.shape or (1,))).all()


@few
@given(buffers())
def test_view(buffer: ir.Buffer) -> None:
    array = positions(buffer)
    assert (positions(buffer.view(-1)) == array.reshape(-1)).all()
    assert (positions(buffer.view(*reversed(buffer.shape))) == array.reshape(buffer.shape[::-1])).all()


@few
@given(buffers(), st.data())
def test_tile(buffer: ir.Buffer, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, buffer.ndim - 1))
    extent = buffer.shape[axis]
    outer = data.draw(st.sampled_from([d for d in range(1, extent + 1) if extent % d == 0]))
    pick = data.draw(st.integers(0, outer - 1))
    split = (*buffer.shape[:axis], outer, extent // outer, *buffer.shape[axis + 1 :])
    items = (slice(None),) * axis + (pick,)
    found = attempt(lambda: buffer.tile(axis, (outer, extent // outer))[items], "can not be grouped")
    assert (positions(found) == positions(buffer).reshape(split)[items]).all()


@few
@given(buffers(), st.data())
def test_chunk(buffer: ir.Buffer, data: st.DataObject) -> None:
    spec = tuple(data.draw(st.sampled_from([d for d in (1, 2, 3) if extent % d == 0])) for extent in buffer.shape)
    picks = tuple(data.draw(st.integers(0, count - 1)) for count in spec)
    region = buffer.chunk(spec)[picks]
    sizes = [extent // count for extent, count in zip(buffer.shape, spec, strict=True)]
    assert region.buffer is buffer
    assert [evaluate(start, {}) for start in region.starts] == [p * s for p, s in zip(picks, sizes, strict=True)]
    assert [evaluate(extent, {}) for extent in region.extents] == sizes


@few
@given(st.data(), st.sampled_from([1, 2, 3, 4]), st.sampled_from([2, 4]), st.sampled_from([2, 4]))
def test_rearrange(data: st.DataObject, a: int, b: int, c: int) -> None:
    shape = (a, b * c)
    buffer = ir.Buffer("A", shape, layout=data.draw(layouts(shape)))
    found = attempt(lambda: buffer.rearrange("a (b c) -> c a b", b=b), "can not be grouped")
    assert (positions(found) == positions(buffer).reshape(a, b, c).transpose(2, 0, 1)).all()


@few
@given(buffers())
def test_narrower_elements(buffer: ir.Buffer) -> None:
    bytes_of = positions(buffer)[..., None] * 2 + np.arange(2)
    wanted = bytes_of.reshape(*buffer.shape[:-1], -1)
    assert (positions(buffer.view("uint8")) == wanted).all()


@few
@given(buffers())
def test_wider_elements(buffer: ir.Buffer) -> None:
    found = attempt(
        lambda: buffer.view("uint32"), "consecutive", "contiguous", "no whole number", "stay together", "starts at"
    )
    pairs = positions(buffer).reshape(*found.shape, 2)
    assert (pairs == positions(found)[..., None] * 2 + np.arange(2)).all()


@few
@given(buffers())
def test_the_own_part_of_a_thread_is_all_of_its_storage(buffer: ir.Buffer) -> None:
    own = buffer.local()
    assert own.ndim == 1
    assert positions(buffer).max() <= positions(own).max()


@few
@given(buffers(), st.data())
def test_offsets_and_addresses_of_elements(buffer: ir.Buffer, data: st.DataObject) -> None:
    place = [data.draw(st.integers(0, extent - 1)) for extent in buffer.shape]
    wanted = int(positions(buffer)[tuple(place)])
    assert evaluate(buffer.elem_offset_of(place, inner=False), {}) == wanted
    assert evaluate(buffer.byte_offset_of(place), {}) == (wanted - buffer.elem_offset) * 2
    names = [ir.Var(f"i{axis}", ir.INT32) for axis in range(buffer.ndim)]
    index = flat_index(buffer, names)
    assert evaluate(index, {id(name): value for name, value in zip(names, place, strict=True)}) == wanted
    assert wanted < storage_elements(buffer)
