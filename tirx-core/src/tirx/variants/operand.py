"""An operand of a tile operation, seen from the space that the operation runs over.

    dst[0:16, 3, :]   shape (16, 64)      space (16, 64)
    src[5, 0:16, :]   dims (None, 0, 1)   src at (i, j) is src[5, i, j]

Storage is `memory` (several threads reach it), `private` (every thread has the whole tile) or `distributed` (a layout with
thread axes says who holds which element); the first two are indexed as the author would, the last through its registers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..backend import find
from ..ir import DEFAULT_LAYOUT, BufferLoad, BufferRegion, Decl, Expr, IntImm, as_expr, cast, emit
from ..layout.names import axis_named
from ..tile import decline
from ..tile.shapes import aligned, extents_of, shape_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ir import Buffer, TileCall
    from ..tile.context import DispatchContext

__all__ = ["Held", "Scalar", "Tile", "is_unit", "lies_like", "operand_of", "storage_of", "thread_axes", "tile_of"]

Index = int | Expr


class Scalar:
    """A number in the place of a tile: the same everywhere."""

    __slots__ = ("value",)
    storage = "scalar"

    def __init__(self, value: Expr) -> None:
        self.value = value

    @property
    def dtype(self) -> Any:
        """Its dtype."""
        return self.value.dtype

    def load(self, coords: Sequence[Index]) -> Expr:
        """The number."""
        return self.value


class Tile:
    """A region of a buffer. `dims[d]` is the dimension of the space that runs along dimension d of the buffer, or None."""

    __slots__ = ("buffer", "context", "dims", "extents", "region", "registers", "starts", "storage")

    def __init__(self, region: BufferRegion, dims: Sequence[int | None], context: DispatchContext) -> None:
        self.region = region
        self.buffer: Buffer = region.buffer
        self.starts = region.starts
        self.extents = extents_of(region)
        self.dims = tuple(dims)
        self.context = context
        self.storage = storage_of(self.buffer)
        self.registers: Buffer | None = None

    @property
    def dtype(self) -> Any:
        """Element type."""
        return self.buffer.dtype

    @property
    def scope(self) -> str:
        """Storage scope."""
        return self.buffer.scope_name

    def indices(self, coords: Sequence[Index]) -> tuple[Expr, ...]:
        """Where the element at `coords` of the space stands in the buffer."""
        simplify = self.context.analyzer.simplify
        return tuple(
            as_expr(start) if dim is None else simplify(as_expr(start + coords[dim]))
            for start, dim in zip(self.starts, self.dims, strict=True)
        )

    def position(self, coords: Sequence[Index]) -> dict[str, Expr | int]:
        """Position per layout axis of the element at `coords`."""
        layout = self.buffer.layout
        assert layout is not None, "layouts are lowered after tile operations"
        found = layout.physical(self.indices(coords), self.buffer.shape)
        return {axis: _number(self.context.analyzer.simplify(as_expr(value))) for axis, value in found.items()}

    @property
    def key(self) -> tuple[Any, ...]:
        """What it is, among the tiles of one call."""
        return (id(self.region), self.dims)

    def place(self, coords: Sequence[Index]) -> tuple[Buffer, tuple[Expr, ...]]:
        """Buffer and indices through which this thread reaches the element at `coords`."""
        if self.storage != "distributed":
            return self.buffer, self.indices(coords)
        if isinstance(coords, Held) and lies_like(self, coords.tile):
            return self.own(), (as_expr(coords.register),)
        layout = self.buffer.layout
        assert layout is not None, "layouts are lowered after tile operations"
        register = layout.physical(self.indices(coords), self.buffer.shape).get("m", 0)
        return self.own(), (as_expr(self.context.analyzer.simplify(as_expr(register))),)

    def own(self) -> Buffer:
        """What this thread holds of a distributed tile, as a buffer of its registers."""
        if self.registers is None:
            self.registers = self.buffer.local()
        return self.registers

    def view_registers(self, shape: Sequence[int], dtype: Any) -> Buffer:
        """The same registers under another shape and element type, by a name that says whose they are."""
        name = self.context.fresh_name(f"{self.buffer.name}_registers")
        made = self.buffer.replaced(name=name, shape=shape, dtype=dtype, strides=(), layout=DEFAULT_LAYOUT)
        emit(Decl(made, span=self.context.call.span))
        return made

    def load(self, coords: Sequence[Index]) -> Expr:
        """The element at `coords`."""
        buffer, indices = self.place(coords)
        return BufferLoad(buffer, indices, span=self.context.call.span)

    def store(self, coords: Sequence[Index], value: Expr) -> None:
        """Write the element at `coords`, converted to the tile's dtype."""
        buffer, indices = self.place(coords)
        buffer[indices] = value if value.dtype is self.dtype else cast(value, self.dtype)


class Held(tuple[Index, ...]):
    """Coordinates of an element that this thread holds: `register` is where, in `tile` and in those that lie like it."""

    tile: Tile
    register: Index

    @classmethod
    def at(cls, coords: Sequence[Index], tile: Tile, register: Index) -> Held:
        """The coordinates, and the register in which `tile` has the element."""
        made = cls(coords)
        made.tile, made.register = tile, register
        return made

    def beside(self, lane: Expr) -> Held:
        """The neighbour along the last dimension, in the neighbouring register."""
        return Held.at((*self[:-1], as_expr(self[-1]) + lane), self.tile, as_expr(self.register) + lane)


def lies_like(tile: Tile, other: Tile) -> bool:
    """Whether two tiles plainly lie alike: one layout, and the same region or the whole."""
    if tile.dims != other.dims or tile.buffer.layout != other.buffer.layout or tile.buffer.shape != other.buffer.shape:
        return False
    return tile.region is other.region or tile.extents == tile.buffer.shape == other.extents


def is_unit(extent: Index) -> bool:
    """Whether an extent is known to be 1."""
    return isinstance(extent, int) and extent == 1


def storage_of(buffer: Buffer) -> str:
    """`memory`, `private` or `distributed`."""
    row = find("storage_scopes", buffer.scope_name)
    if row is None or row.owner_level != "thread":
        return "memory"
    return "distributed" if thread_axes(buffer) else "private"


def thread_axes(buffer: Buffer) -> tuple[str, ...]:
    """The thread axes of a buffer's layout."""
    if buffer.has_default_layout or buffer.layout is None:
        return ()
    axes: tuple[str, ...] = buffer.layout.axes()  # type: ignore[attr-defined]
    return tuple(name for name in axes if (row := axis_named(name)) is not None and row.is_thread())


def operand_of(call: TileCall, name: str, space: Sequence[Index], context: DispatchContext) -> Tile | Scalar | None:
    """The operand lined up with `space` from the right, unit dimensions stretched; None where the call leaves it out."""
    value = call.operand(name)
    if value is None:
        return None
    if not isinstance(value, BufferRegion):
        return Scalar(value)
    return Tile(value, _along(value, space), context)


def tile_of(call: TileCall, name: str, context: DispatchContext, space: Sequence[Index] | None = None) -> Tile:
    """A tile lined up with `space` (default: its own extents)."""
    region = call.operand(name)
    assert isinstance(region, BufferRegion), name
    extents = extents_of(region)
    return Tile(region, _along(region, extents if space is None else space), context)


def _along(region: BufferRegion, space: Sequence[Index]) -> tuple[int | None, ...]:
    """Which dimension of the space each dimension of the region runs along."""
    extents = extents_of(region)
    found = aligned(extents, space)
    if found is None:
        decline(f"the shape of `{region.buffer.name}` does not fit", own=shape_text(extents), wanted=shape_text(space))
    return found


def _number(value: Any) -> Any:
    return value.value if isinstance(value, IntImm) else value
