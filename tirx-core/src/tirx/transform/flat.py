"""From buffers with shapes and layouts to flat ones: one dimension, in elements, one per storage and element type."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..analysis.storage_size import storage_elements, thread_axes
from ..arith import simplify
from ..ir import INT32, INT64, Add, Buffer, Expr, IntImm, Ramp, Sub, as_expr, binary, cast, const
from ..ir.sizes import Size, plus, size_of, times
from ..support.errors import LayoutError
from ..support.span import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["FlatBuffers", "flat_index", "is_lowered"]


class FlatBuffers:
    """The flat buffer of each buffer of a function.

    Views that share storage and element type share one flat buffer, so that a view costs nothing but its index.
    Storage that is also seen with another element type has a flat buffer for each: `retyped` lists those by their
    root.
    """

    def __init__(self) -> None:
        self._by_buffer: dict[int, Buffer] = {}
        self._by_storage: dict[tuple[int, str], Buffer] = {}
        self._roots: dict[int, Buffer] = {}
        self.retyped: dict[int, list[Buffer]] = {}
        self._keep: list[Any] = []

    def root(self, buffer: Buffer) -> Buffer:
        """The flat buffer of storage that starts here (a parameter, an allocation, a pointer given a shape)."""
        flat = self._made(buffer, storage_elements(buffer))
        self._by_storage.setdefault((id(buffer.data), buffer.dtype.name), flat)
        self._roots.setdefault(id(buffer.data), flat)
        return flat

    def alias(self, buffer: Buffer, flat: Buffer) -> None:
        """Accesses to `buffer` go through `flat`."""
        self._keep.append(buffer)
        self._by_buffer[id(buffer)] = flat

    def has_root(self, buffer: Buffer) -> bool:
        """Whether the storage of `buffer` is that of a parameter or allocation met before."""
        return id(buffer.data) in self._roots

    def of(self, buffer: Buffer) -> Buffer:
        """The flat buffer through which `buffer` is accessed."""
        found = self._by_buffer.get(id(buffer)) or self._by_storage.get((id(buffer.data), buffer.dtype.name))
        return found if found is not None else self._seen_as(buffer)

    def _seen_as(self, buffer: Buffer) -> Buffer:
        """Storage seen with another element type than it was made with."""
        root = self._roots.get(id(buffer.data))
        if root is None:
            return self.root(buffer)
        size = root.shape[0]
        bits, wanted = root.dtype.total_bits, buffer.dtype.total_bits
        count = size * bits // wanted if isinstance(size, int) else simplify(size * bits // wanted)
        flat = self._made(buffer, count)
        self._by_storage[id(buffer.data), buffer.dtype.name] = flat
        self.retyped.setdefault(id(buffer.data), []).append(flat)
        return flat

    def _made(self, buffer: Buffer, count: Size) -> Buffer:
        self._keep.append(buffer)  # ids must stay taken while we live
        made = buffer.replaced(shape=(count,), strides=(), elem_offset=0, layout=None)
        self._by_buffer[id(buffer)] = made
        return made


def is_lowered(buffer: Buffer) -> bool:
    """Whether indices of a buffer are positions in its storage already."""
    starts = isinstance(buffer.elem_offset, int) and buffer.elem_offset == 0
    return buffer.is_flat() and len(buffer.shape) == 1 and starts and not buffer.strides


def flat_index(buffer: Buffer, coords: Sequence[Expr], span: Span | None = None) -> Expr:
    """Position of an element in the flat buffer; a vector when the last coordinate is one."""
    vector = next((item for item in coords if item.dtype.lanes > 1), None)
    if vector is None:
        return as_expr(_position(buffer, coords, span))
    if isinstance(vector, Ramp) and vector is coords[-1] and sum(item.dtype.lanes > 1 for item in coords) == 1:
        stride = _vector_stride(buffer, coords, vector, span)
        if stride is not None:
            base = as_expr(_position(buffer, (*coords[:-1], vector.base), span))
            return Ramp(base, const(stride, base.dtype), vector.lanes, span=vector.span)
    return as_expr(_position(buffer, coords, span))


def _vector_stride(buffer: Buffer, coords: Sequence[Expr], vector: Ramp, span: Span | None) -> int | None:
    """The constant distance in storage between neighbours of a vector access, or None when it varies."""
    step = vector.stride.value if isinstance(vector.stride, IntImm) else None
    if step is None:
        return None
    if buffer.is_flat() or (buffer.has_default_layout and not buffer.strides):
        return step
    if buffer.has_default_layout:
        last = buffer.strides[-1]
        return last * step if isinstance(last, int) else None
    return _proven_stride(buffer, coords, vector, step, span)


def _proven_stride(buffer: Buffer, coords: Sequence[Expr], vector: Ramp, step: int, span: Span | None) -> int | None:
    """Of any other layout: the distance, when it can be shown to be the same between all lanes."""
    lanes = [
        as_expr(_position(buffer, (*coords[:-1], vector.base + lane * step), span)) for lane in range(vector.lanes)
    ]
    gaps = {_constant(simplify(b - a)) for a, b in pairwise(lanes)}
    (gap,) = gaps if len(gaps) == 1 else (None,)
    return gap


def _constant(expr: Expr) -> int | None:
    return expr.value if isinstance(expr, IntImm) else None


def _position(buffer: Buffer, coords: Sequence[Expr], span: Span | None) -> Size:
    if buffer.is_flat() or (buffer.has_default_layout and not buffer.strides):
        index: Size = 0
        for size, coord in zip(buffer.shape, _wide(buffer, coords), strict=True):
            index = _appended(times(index, size), coord)
        return plus(index, buffer.elem_offset)
    if buffer.has_default_layout:
        index = 0
        for stride, coord in zip(buffer.strides, _wide(buffer, coords), strict=True):
            index = plus(index, times(coord, stride))
        return plus(index, buffer.elem_offset)
    return plus(_by_layout(buffer, coords, span), buffer.elem_offset)


def _wide(buffer: Buffer, coords: Sequence[Expr]) -> Sequence[Expr]:
    """Coordinates in 64 bits where positions in the buffer do not fit 32."""
    size = storage_elements(buffer)
    if not isinstance(size, int) or size - 1 <= INT32.max_int:
        return coords
    return [cast(coord, INT64.with_lanes(coord.dtype.lanes)) for coord in coords]


def _appended(index: Size, coord: Size) -> Size:
    """Index + coord, a sum appended term by term: `i * 64 + j + 1` reads better than `i * 64 + (j + 1)`."""
    if isinstance(coord, Add) and isinstance(index, Expr) and coord.dtype.is_int:
        return _appended(_appended(index, coord.a), coord.b)
    if isinstance(coord, Sub) and isinstance(index, Expr) and coord.dtype.is_int:
        return binary(Sub, _appended(index, coord.a), coord.b)
    return plus(index, coord)


def _by_layout(buffer: Buffer, coords: Sequence[Expr], span: Span | None) -> Size:
    layout = buffer.layout
    assert layout is not None
    spread = thread_axes(layout)
    if spread:
        raise LayoutError(
            f"an element of `{buffer.name}` is accessed, but its layout spreads it over threads "
            f"({', '.join(f'`{axis}`' for axis in spread)})",
            span=span,
            hint=f"a thread's own part is {buffer.name}.local(); tile operations work on all of it",
        )
    place = layout.physical(tuple(_wide(buffer, coords)), buffer.shape)
    others = [axis for axis in place if axis != "m"]
    if others:
        named = ", ".join(f"`{axis}`" for axis in others)
        raise LayoutError(
            f"`{buffer.name}` in {buffer.scope_name} memory lies along {named}, which this memory does not have",
            span=span,
            hint="use axes of the memory that the buffer is in",
        )
    return size_of(place.get("m", 0))
