"""Views of buffers address the elements that NumPy's view of the same name addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.integers import evaluate
from tirx import ir

shapes = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)
few = settings(max_examples=80, deadline=None)


def addresses(buffer: ir.Buffer) -> np.ndarray[Any, Any]:
    """Element address of every coordinate, through strides, offset and layout."""
    found = np.zeros(buffer.shape, dtype=np.int64)
    for coordinate in np.ndindex(*buffer.shape):
        found[coordinate] = evaluate(buffer.elem_offset_of([int(c) for c in coordinate], inner=False), {})
    return found


def pair(shape: tuple[int, ...]) -> tuple[ir.Buffer, np.ndarray[Any, Any]]:
    return ir.Buffer("A", shape), np.arange(int(np.prod(shape))).reshape(shape)


@few
@given(shapes, st.data())
def test_permute(shape: tuple[int, ...], data: st.DataObject) -> None:
    buffer, array = pair(shape)
    order = data.draw(st.permutations(range(len(shape))))
    assert (addresses(buffer.permute(*order)) == array.transpose(order)).all()


@few
@given(shapes, st.data())
def test_sub(shape: tuple[int, ...], data: st.DataObject) -> None:
    buffer, array = pair(shape)
    items: list[Any] = []
    for extent in shape:
        start = data.draw(st.integers(0, extent - 1))
        stop = data.draw(st.integers(start + 1, extent))
        items.append(data.draw(st.sampled_from([start, slice(start, stop), slice(start, None, 2), slice(None)])))
    wanted = array[tuple(items)]
    assert (addresses(buffer.sub[tuple(items)]) == wanted.reshape(wanted.shape or (1,))).all()


@few
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_view_and_tile(a: int, b: int, c: int) -> None:
    buffer, array = pair((a * b, c))
    assert (addresses(buffer.view(a, b, c)) == array.reshape(a, b, c)).all()
    assert (addresses(buffer.view(a, -1)) == array.reshape(a, -1)).all()
    for pick in range(b):
        assert (addresses(buffer.tile(0, (a, b))[:, pick]) == array.reshape(a, b, c)[:, pick]).all()


@few
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_rearrange(a: int, b: int, c: int) -> None:
    buffer, array = pair((a, b * c))
    wanted = array.reshape(a, b, c).transpose(2, 0, 1)
    assert (addresses(buffer.rearrange("a (b c) -> c a b", b=b)) == wanted).all()
    merged = buffer.rearrange("a (b c) -> (b a) c", c=c)
    assert (addresses(merged) == array.reshape(a, b, c).transpose(1, 0, 2).reshape(a * b, c)).all()


@few
@given(st.integers(1, 4), st.integers(1, 4))
def test_views_of_views(a: int, b: int) -> None:
    buffer, array = pair((2 * a, 3 * b))
    found = buffer.permute(1, 0).sub[1:, ::2].permute(1, 0)
    assert (addresses(found) == array.T[1:, ::2].T).all()


def test_reinterpretation_scales_the_last_dimension() -> None:
    buffer = ir.Buffer("A", (4, 8), "float16")
    assert buffer.view("float32").shape == (4, 4)
    assert buffer.view("uint8").shape == (4, 16)
    assert buffer.sub[1:3, 4:].view("uint32").elem_offset == 6
