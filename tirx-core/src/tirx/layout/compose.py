"""ComposeLayout: a tile layout whose positions in memory are swizzled, so that columns meet different banks.

A position m on the memory axis is cut into `m >> per_element` (the chunk) and the element in the chunk. Of the chunk's bits,
`swizzle_len` are exchanged for themselves xor those `atom_len` higher:

    bits of m      ... r r r  c c c  e e e        per_element 3, swizzle_len 3, atom_len 3
    after          ... r r r (c^r)   e e e        chunk c of row r lies where chunk c ^ r was

With `swizzle_inner=False` the low bits change the high ones instead. Everything else is the tile layout's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..ir import Expr, Layout
from . import points
from .doors import Doors
from .drawn import Drawn
from .fuse import Widths
from .iters import Number
from .mistakes import mistake, shown
from .packing import is_contiguous
from .tile import TileLayout

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ComposeLayout"]


class ComposeLayout(Drawn, Doors, Layout):
    """`ComposeLayout(per_element, swizzle_len, atom_len, tile_layout, swizzle_inner=True)`; `atom_len >= swizzle_len >= 0`."""

    __slots__ = ("atom_len", "per_element", "swizzle_inner", "swizzle_len", "tile_layout")

    def __init__(
        self, per_element: int, swizzle_len: int, atom_len: int, tile_layout: TileLayout, swizzle_inner: bool = True
    ) -> None:
        self.per_element = _bits(per_element, "per_element")
        self.swizzle_len = _bits(swizzle_len, "swizzle_len")
        self.atom_len = _bits(atom_len, "atom_len")
        if atom_len < swizzle_len:
            raise mistake(
                f"a swizzle of {swizzle_len} bits does not fit an atom of {atom_len}",
                hint="atom_len is at least swizzle_len: the bits that change must not be those that they change with",
            )
        if not isinstance(tile_layout, TileLayout):
            raise mistake(
                f"a swizzle is around a TileLayout, not {type(tile_layout).__name__}",
                hint="write ComposeLayout(3, 3, 3, TileLayout(S[8, 64]))",
            )
        self.tile_layout = tile_layout
        self.swizzle_inner = bool(swizzle_inner)

    # ---- values ---------------------------------------------------------------------------------------------------

    def _key(self) -> Any:
        return (self.per_element, self.swizzle_len, self.atom_len, self.swizzle_inner, self.tile_layout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeLayout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return self._text(repr(self.tile_layout))

    def text(self, number: Callable[[Number], str], prefix: str = "") -> str:
        """The layout as it is written, numbers by `number`, names behind `prefix`."""
        return prefix + self._text(self.tile_layout.text(number, prefix))

    def _text(self, tile: str) -> str:
        last = "" if self.swizzle_inner else ", swizzle_inner=False"
        return f"ComposeLayout({self.per_element}, {self.swizzle_len}, {self.atom_len}, {tile}{last})"

    def with_tile(self, tile_layout: TileLayout) -> Self:
        """The same swizzle around another tile layout."""
        return type(self)(self.per_element, self.swizzle_len, self.atom_len, tile_layout, self.swizzle_inner)

    def mapped(self, change: Callable[[Expr], Expr]) -> Self:
        """The layout with `change` applied to its symbolic parts; itself when nothing changes."""
        made = self.tile_layout.mapped(change)
        return self if made is self.tile_layout else self.with_tile(made)

    def same_swizzle(self, other: ComposeLayout) -> bool:
        """Whether both exchange the same bits."""
        return self._key()[:-1] == other._key()[:-1] or self.swizzle_len == other.swizzle_len == 0

    def parts(self) -> tuple[Any, ...]:
        """The bits of the swizzle and the parts of the tile layout."""
        return (self.per_element, self.swizzle_len, self.atom_len, self.swizzle_inner, self.tile_layout.parts())

    # ---- positions ------------------------------------------------------------------------------------------------

    def swizzled(self, position: Any) -> Any:
        """Where position `position` of the memory axis lies."""
        if self.swizzle_len == 0:
            return position
        low = ((1 << self.swizzle_len) - 1) << self.per_element
        if self.swizzle_inner:
            return position ^ ((position & (low << self.atom_len)) >> self.atom_len)
        return position ^ ((position & low) << self.atom_len)

    def physical(self, coord: tuple[Any, ...], shape: tuple[Any, ...]) -> dict[str, Number]:
        """Position per axis of the element at `coord` of a buffer of `shape` (replica 0), without range checks."""
        place = self.tile_layout.physical(coord, shape)
        return {axis: self.swizzled(value) if axis == "m" else value for axis, value in place.items()}

    def apply(self, *coord: Any, shape: Sequence[Any] | None = None) -> dict[str, Number]:
        """Axis -> position of the element at `coord` (of `shape`; default: one coordinate per shard iter, or one linear index).

        Raises `LayoutError` for a coordinate outside the domain.
        """
        return self.physical(*points.checked_point(self.tile_layout, coord, shape))

    def apply_to_shape(self, coord: Sequence[Any], input_shape: Sequence[Any]) -> list[Number]:
        """The coordinate of each shard iter of the tile layout for the element at `coord` of `input_shape`."""
        return self.tile_layout.apply_to_shape(coord, input_shape)

    # ---- queries --------------------------------------------------------------------------------------------------

    def size(self, axis: Any = None) -> Number:
        """Number of elements (of one axis of the tile layout)."""
        return self.tile_layout.size(axis)

    def span(self, axis: Any = None) -> Number:
        """Positions that the tile layout covers, before they are swizzled."""
        return self.tile_layout.span(axis)

    def axes(self) -> tuple[str, ...]:
        """Axis names in order of appearance."""
        return self.tile_layout.axes()

    def get_scope(self) -> tuple[str, str] | None:
        """(level that is counted, level inside which) of all thread axes together; None without thread axes."""
        return self.tile_layout.get_scope()

    def is_trivial(self) -> bool:
        """Whether nothing is swizzled and the tile is row-major and contiguous."""
        return self.swizzle_len == 0 and self.tile_layout.is_trivial()

    def is_swizzle(self) -> bool:
        """Whether this is a swizzle of a contiguous tile."""
        return is_contiguous(self.tile_layout)

    def verify_well_formed(self) -> bool:
        """Whether the thread axes form a chain; everything else was checked when the layout was made."""
        return self.tile_layout.verify_well_formed()

    # ---- derived --------------------------------------------------------------------------------------------------

    def storage(self) -> ComposeLayout:
        """What one thread holds: the storage of the tile layout, swizzled."""
        return self.with_tile(self.tile_layout.storage())

    def canonicalize(self, scopes: Widths | None = None) -> ComposeLayout:
        """The tile layout in the fewest iters."""
        return self.with_tile(self.tile_layout.canonicalize(scopes))

    def group(self, shape: Sequence[Any]) -> tuple[ComposeLayout, list[int]]:
        """The tile layout with iters that line up with `shape`, and the separators between dimensions."""
        grouped, separators = self.tile_layout.group(shape)
        return self.with_tile(grouped), separators

    def group_many(self, shapes: Sequence[Sequence[Any]]) -> tuple[ComposeLayout, list[list[int]]]:
        """The tile layout lined up with every one of `shapes`, and the separators of each."""
        grouped, separators = self.tile_layout.group_many(shapes)
        return self.with_tile(grouped), separators

    def permute_dims(self, order: Sequence[int]) -> ComposeLayout:
        """Shard iters of the tile layout in another order."""
        return self.with_tile(self.tile_layout.permute_dims(order))

    def permute_by_groups(self, separators: Sequence[int], order: Sequence[int]) -> ComposeLayout:
        """Groups of shard iters (as `group` answers them) in another order."""
        return self.with_tile(self.tile_layout.permute_by_groups(separators, order))

    def slice(self, shape: Sequence[Any], region: Sequence[Any]) -> ComposeLayout | None:
        """The layout of a box, `(begin, end)` per dimension of `shape`; None when no layout says it.

        The offset of the box counts before the swizzle, so that the box may begin anywhere.
        """
        tile = self.tile_layout.slice(shape, region)
        return None if tile is None else self.with_tile(tile)

    def tile(self, outer: TileLayout, outer_shape: Sequence[Any], inner_shape: Sequence[Any]) -> ComposeLayout:
        """The tile layout repeated as `outer` says, swizzled as a whole."""
        return self.with_tile(self.tile_layout.tile(outer, outer_shape, inner_shape))

    def tile_to(self, to_shape: Sequence[Any], current_shape: Sequence[Any]) -> ComposeLayout:
        """The tile layout of `current_shape` repeated row-major until it covers `to_shape`, swizzled as a whole."""
        return self.with_tile(self.tile_layout.tile_to(to_shape, current_shape))

    def direct_sum(self, left: TileLayout, left_shape: Sequence[Any], right_shape: Sequence[Any]) -> ComposeLayout:
        """Positions of `left` and of the tile layout added, swizzled as a whole."""
        return self.with_tile(self.tile_layout.direct_sum(left, left_shape, right_shape))

    def is_tile_inner(self, tiled: Layout, tiled_shape: Sequence[Any], inner_shape: Sequence[Any]) -> TileLayout | None:
        """The outer layout that makes `tiled` of this one; None when there is none."""
        if not isinstance(tiled, ComposeLayout) or not self.same_swizzle(tiled):
            return None
        return self.tile_layout.is_tile_inner(tiled.tile_layout, tiled_shape, inner_shape)

    def is_direct_sum_right(
        self, total: Layout, interleaved_shape: Sequence[Any], right_shape: Sequence[Any]
    ) -> TileLayout | None:
        """The left addend with which this one makes `total`; None when there is none."""
        if not isinstance(total, ComposeLayout) or not self.same_swizzle(total):
            return None
        return self.tile_layout.is_direct_sum_right(total.tile_layout, interleaved_shape, right_shape)

    def pack(self, factor: int) -> ComposeLayout:
        """Every `factor` consecutive elements become one; they must lie in one chunk."""
        bits = self._factor_bits(factor)
        if bits > self.per_element and self.swizzle_len:
            raise mistake(
                f"{factor} elements do not stay together in chunks of {1 << self.per_element}",
                hint="pack at most as many elements as the swizzle keeps together",
            )
        packed = self.tile_layout.pack(factor)
        return type(self)(max(self.per_element - bits, 0), self.swizzle_len, self.atom_len, packed, self.swizzle_inner)

    def unpack(self, factor: int) -> ComposeLayout:
        """Every element becomes `factor` consecutive ones, a power of two."""
        bits = self._factor_bits(factor)
        unpacked = self.tile_layout.unpack(factor)
        return type(self)(self.per_element + bits, self.swizzle_len, self.atom_len, unpacked, self.swizzle_inner)

    def _factor_bits(self, factor: Any) -> int:
        if not isinstance(factor, int) or factor < 1 or factor & (factor - 1):
            raise mistake(
                f"{shown(factor)} elements of a swizzled layout are no chunk of its bits",
                hint="give a power of two",
            )
        return factor.bit_length() - 1

    def broadcast(self, count: Any, position: int = -1, axis: Any = "m") -> ComposeLayout:
        """A further iter of stride 0 before iter `position` of the tile layout (default: behind all)."""
        return self.with_tile(self.tile_layout.broadcast(count, position, axis))


def _bits(value: Any, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise mistake(f"{name} of a swizzle is {shown(value)}", hint="give a number of bits: a constant from 0 on")
    return value
