"""Flat indices against brute force: any shape, strides, offset, view and layout puts each element where it must be."""

from __future__ import annotations

from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from tirx.analysis.evaluate import evaluate
from tirx.analysis.storage_size import storage_elements
from tirx.ir import INT32, Buffer, BufferLoad, Ramp, Var, const
from tirx.layout import S, TileLayout
from tirx.transform.flat import FlatBuffers, flat_index

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def positions(buffer: Buffer) -> dict[tuple[int, ...], int | None]:
    """Where each element of a buffer lies in its storage."""
    coords = [Var(f"i{axis}", INT32) for axis in range(buffer.ndim)]
    index = flat_index(buffer, coords)
    return {
        place: evaluate(index, {id(var): value for var, value in zip(coords, place, strict=True)})
        for place in product(*(range(size) for size in buffer.shape if isinstance(size, int)))
    }


@given(shapes, st.integers(0, 9))
def test_row_major(shape: list[int], offset: int) -> None:
    buffer = Buffer("A", shape, elem_offset=offset)
    assert list(positions(buffer).values()) == list(range(offset, offset + prod(shape)))
    assert storage_elements(buffer) == offset + prod(shape)


@given(st.data(), shapes, st.integers(0, 9))
def test_strided(data: st.DataObject, shape: list[int], offset: int) -> None:
    strides = data.draw(st.lists(st.integers(1, 20), min_size=len(shape), max_size=len(shape)))
    buffer = Buffer("A", shape, strides=strides, elem_offset=offset)
    found = positions(buffer)
    assert found == {place: offset + sum(i * s for i, s in zip(place, strides, strict=True)) for place in found}
    assert storage_elements(buffer) == 1 + max(value for value in found.values() if value is not None)


@given(st.data(), shapes)
def test_layouts(data: st.DataObject, shape: list[int]) -> None:
    order = data.draw(st.permutations(range(len(shape))))
    strides, stride = [0] * len(shape), 1
    for axis in order:
        strides[axis], stride = stride, stride * shape[axis]
    buffer = Buffer("A", shape, layout=TileLayout(S[tuple(shape) : tuple(strides)]))
    found = positions(buffer)
    assert found == {place: sum(i * s for i, s in zip(place, strides, strict=True)) for place in found}
    assert sorted(value for value in found.values() if value is not None) == list(range(prod(shape)))


@given(shapes, st.integers(2, 4))
def test_vectors_along_the_last_dimension(shape: list[int], lanes: int) -> None:
    wide = Buffer("A", [*shape, lanes])
    coords = [Var(f"i{axis}", INT32) for axis in range(len(shape))]
    index = flat_index(wide, [*coords, Ramp(const(0), const(1), lanes)])
    assert isinstance(index, Ramp)
    assert (index.lanes, evaluate(index.stride, {})) == (lanes, 1)
    scalar = positions(wide)
    for place in product(*map(range, shape)):
        values = {id(var): value for var, value in zip(coords, place, strict=True)}
        assert evaluate(index.base, values) == scalar[(*place, 0)]


@given(st.sampled_from(["float32", "uint8", "int64", "float16"]), st.integers(1, 16))
def test_storage_seen_with_another_type_has_as_many_bytes(dtype: str, count: int) -> None:
    pool = Buffer("pool", (count * 8,), "uint8", scope="shared")
    flat = FlatBuffers()
    root = flat.root(pool)
    view = Buffer("view", (count,), dtype, data=pool.data, scope="shared")
    seen = flat.of(view)
    assert isinstance(seen.shape[0], int)
    assert seen.shape[0] * seen.dtype.bytes == root.shape[0]
    assert flat.of(view) is seen
    assert (flat.retyped.get(id(pool.data)) or [root])[0] is seen or dtype == "uint8"


def test_positions_beyond_32_bits_are_computed_in_64() -> None:
    big = Buffer("A", (1 << 16, 1 << 16), "float32")
    index = flat_index(big, [Var("i", INT32), Var("j", INT32)])
    assert index.dtype == "int64"
    assert BufferLoad(big, (const(0), const(0))).indices[0].dtype == "int32"
