"""TileLayout: iters that a logical coordinate is split over, replicas, offsets.

A coordinate of any shape whose product equals the layout's size is flattened row-major and split row-major over the shard
extents; each part times its stride adds to its axis, then the offsets. Replicas are further positions of the same element.

The operations live in modules of their own, as functions of iters; here are their names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from ..ir import Layout
from ..support.errors import LayoutError
from ..support.late import late
from . import canonical, packing, points, scopes, slicing, tiling
from . import group as grouping
from . import span as extent
from .doors import Doors
from .drawn import Drawn
from .fuse import Widths
from .iters import Iter, Number, row_major_strides
from .mistakes import mistake
from .parts import Parts
from .syntax import LayoutSpec
from .text import spec_text

__all__ = ["TileLayout", "plain_strides", "row_major", "spec_text"]


class TileLayout(Drawn, Doors, Parts):
    """`TileLayout(S[(8, 4):(4 @ laneid, 1)] + R[2:4 @ warpid] + 5 @ warpid)`.

    `shard` and `replica` are tuples of `Iter`, `offset` maps axis names to numbers (no zero entries).
    Raises `LayoutError` for malformed input and unknown axes.
    """

    __slots__ = ()

    def __init__(self, spec: LayoutSpec) -> None:
        if not isinstance(spec, LayoutSpec):
            raise mistake(
                f"a TileLayout is made from S[...], not {type(spec).__name__}",
                hint="write TileLayout(S[(8, 4):(4, 1)])",
            )
        self._fill(spec.shard, spec.replica, spec.offset)

    def __repr__(self) -> str:
        return f"TileLayout({spec_text(self)})"

    def text(self, number: Callable[[Number], str], prefix: str = "") -> str:
        """The layout as it is written, numbers by `number`, names behind `prefix`."""
        return f"{prefix}TileLayout({spec_text(self, number, prefix)})"

    # ---- queries --------------------------------------------------------------------------------------------------

    def size(self, axis: Any = None) -> Number:
        """Number of elements: product of the shard extents (of one axis)."""
        return extent.size(self, axis)

    def span(self, axis: Any = None) -> Number:
        """Positions from 0 to the last of an axis (default: of the memory axes together), offset and replicas included."""
        return extent.span(self, axis)

    def get_scope(self) -> tuple[str, str] | None:
        """(level that is counted, level inside which) of all thread axes together; None without thread axes."""
        return scopes.get_scope(self)

    def is_trivial(self) -> bool:
        """Row-major, contiguous, no offset, no replica, only the memory axis."""
        return packing.is_contiguous(self)

    def is_swizzle(self) -> bool:
        """Whether this is a swizzle of a contiguous tile: never."""
        return False

    def verify_well_formed(self) -> bool:
        """Whether the thread axes form a chain; everything else was checked when the layout was made."""
        try:
            self.get_scope()
        except LayoutError:
            return False
        return True

    def apply(self, *coord: Any, shape: Sequence[Any] | None = None) -> dict[str, Number]:
        """Axis -> position of the element at `coord` (of `shape`; default: one coordinate per shard iter, or one linear index).

        Raises `LayoutError` for a coordinate outside the domain.
        """
        return self.physical(*points.checked_point(self, coord, shape))

    def apply_to_shape(self, coord: Sequence[Any], input_shape: Sequence[Any]) -> list[Number]:
        """The coordinate of each shard iter for the element at `coord` of `input_shape`."""
        return points.split(self.shard, *points.checked_point(self, coord, input_shape))

    def physical(self, coord: tuple[Any, ...], shape: tuple[Any, ...]) -> dict[str, Number]:
        """Position per axis of the element at `coord` of a buffer of `shape` (replica 0), without range checks."""
        return points.physical(self, coord, shape)

    def split(self, coord: Sequence[Any], shape: Sequence[Any]) -> list[Number]:
        """The coordinate of each shard iter, without range checks."""
        return points.split(self.shard, coord, shape)

    # ---- derived --------------------------------------------------------------------------------------------------

    def storage(self) -> TileLayout:
        """What one thread holds: the memory iters, without steps, copies and offsets of threads."""
        return packing.storage(self)

    def canonicalize(self, scopes: Widths | None = None) -> TileLayout:
        """The same map in the fewest iters; with a scope model, thread axes that count one after the other become one.

        Without one, the current target's is taken (`with Target(...):`), so what joins there is what counts as one there.
        """
        return canonical.canonicalize(self, scopes if scopes is not None else late("current_scopes")())

    def group(self, shape: Sequence[Any]) -> tuple[TileLayout, list[int]]:
        """The layout with iters split so that they line up with `shape`, and the separators between dimensions.

        Dimension d owns `shard[separators[d]:separators[d + 1]]`. `LayoutError` when an iter would have to be cut unevenly.
        """
        return grouping.group(self, shape)

    def group_many(self, shapes: Sequence[Sequence[Any]]) -> tuple[TileLayout, list[list[int]]]:
        """The layout lined up with every one of `shapes`, and the separators of each."""
        return grouping.group_many(self, shapes)

    def permute_dims(self, order: Sequence[int]) -> TileLayout:
        """Shard iters in another order."""
        return grouping.permute_dims(self, order)

    def permute_by_groups(self, separators: Sequence[int], order: Sequence[int]) -> TileLayout:
        """Groups of shard iters (as `group` answers them) in another order."""
        return grouping.permute_by_groups(self, separators, order)

    def slice(self, shape: Sequence[Any], region: Sequence[Any]) -> TileLayout | None:
        """The layout of a box, `(begin, end)` per dimension of `shape`; None when no layout says it."""
        return slicing.slice_layout(self, shape, region)

    def tile(self, outer: TileLayout, outer_shape: Sequence[Any], inner_shape: Sequence[Any]) -> TileLayout:
        """This layout repeated as `outer` says: its steps, times the span of this one, are added to every element.

        Dimension d of the result is outer_d times inner_d. Offsets of `outer` are added as they are.
        """
        return tiling.tile(self, _tile_layout(outer, "the outer layout"), outer_shape, inner_shape)

    def tile_to(self, to_shape: Sequence[Any], current_shape: Sequence[Any]) -> TileLayout:
        """This layout of `current_shape` repeated row-major until it covers `to_shape`."""
        outer, shape = tiling.row_major_outer(self, to_shape, current_shape)
        return self.tile(outer, shape, current_shape)

    def direct_sum(self, left: TileLayout, left_shape: Sequence[Any], right_shape: Sequence[Any]) -> TileLayout:
        """Positions of `left` and of this one added; dimension d of the result is left_d times right_d."""
        return tiling.direct_sum(self, _tile_layout(left, "the left layout"), left_shape, right_shape)

    def is_tile_inner(self, tiled: Layout, tiled_shape: Sequence[Any], inner_shape: Sequence[Any]) -> TileLayout | None:
        """The outer layout that makes `tiled` of this one: `self.tile(outer, ...)`; None when there is none."""
        return tiling.outer_of(self, tiled, tiled_shape, inner_shape) if isinstance(tiled, TileLayout) else None

    def is_tile_outer(self, tiled: Any, tiled_shape: Sequence[Any], outer_shape: Sequence[Any]) -> Any:
        """The inner layout of which this one makes `tiled`: `inner.tile(self, ...)`; None when there is none."""
        return _wrapped(tiled, lambda tile: tiling.inner_of(self, tile, tiled_shape, outer_shape))

    def is_direct_sum_left(self, total: Any, interleaved_shape: Sequence[Any], left_shape: Sequence[Any]) -> Any:
        """The right addend with which this one makes `total`; None when there is none."""
        return _wrapped(total, lambda tile: tiling.right_of(self, tile, interleaved_shape, left_shape))

    def is_direct_sum_right(
        self, total: Layout, interleaved_shape: Sequence[Any], right_shape: Sequence[Any]
    ) -> TileLayout | None:
        """The left addend with which this one makes `total`; None when there is none."""
        return tiling.left_of(self, total, interleaved_shape, right_shape) if isinstance(total, TileLayout) else None

    def pack(self, factor: int) -> TileLayout:
        """Every `factor` consecutive elements become one; `LayoutError` when they are not consecutive."""
        return packing.pack(self, factor)

    def unpack(self, factor: int) -> TileLayout:
        """Every element becomes `factor` consecutive ones."""
        return packing.unpack(self, factor)

    def broadcast(self, count: Any, position: int = -1, axis: Any = "m") -> TileLayout:
        """A further iter of stride 0 before iter `position` (default: behind all)."""
        return packing.broadcast(self, count, position, axis)


def _tile_layout(layout: Any, what: str) -> TileLayout:
    if not isinstance(layout, TileLayout):
        raise mistake(
            f"{what} is {type(layout).__name__}, not a TileLayout",
            hint="swizzle the inner layout: the outer one counts whole tiles",
        )
    return layout


def _wrapped(total: Any, inner_of: Callable[[TileLayout], TileLayout | None]) -> Any:
    """What `inner_of` answers for the tile of `total`, swizzled like `total`."""
    if isinstance(total, TileLayout):
        return inner_of(total)
    tile = getattr(total, "tile_layout", None)
    found = None if tile is None else inner_of(tile)
    return None if found is None else total.with_tile(found)


def row_major(shape: Sequence[Any], strides: Sequence[Any] = ()) -> TileLayout:
    """The layout that follows from a shape (and explicit strides): row-major."""
    extents = list(shape) or [1]
    steps = list(strides) or list(row_major_strides(extents))
    return TileLayout.from_iters([Iter(e, s) for e, s in zip(extents, steps, strict=True)])


def plain_strides(layout: Layout, shape: Sequence[Any]) -> tuple[Number, ...] | None:
    """One stride of linear memory per dimension of `shape`, when the layout is no more than that; else None."""
    if not isinstance(layout, TileLayout) or layout.replica or layout.offset or layout.axes() != ("m",):
        return None
    try:
        grouped, separators = layout.group(shape)
    except LayoutError:
        return None
    strides: list[Number] = []
    for start, stop in pairwise(separators):
        fused = canonical.fuse_iters(grouped.shard[start:stop])
        if len(fused) != 1:
            return None
        strides.append(fused[0].stride)
    return tuple(strides)
