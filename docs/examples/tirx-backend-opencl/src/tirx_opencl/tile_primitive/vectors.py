"""Copies of rows that begin anywhere: vectors that are aligned as one element, where plain ones would have to be aligned as a whole.

    vstore4(vload4(0, &A[row * 66 + 1 + column * 4]), 0, &As[row * 64 + column * 4]);

Core's `vec_auto` takes plain vectors where both sides allow them; this is for edges and padded rows. OpenCL 1.2, section 6.12.7.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import TileCall
from tirx.layout import TileLayout
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import Evenly, Tile, copy_share, copy_tiles

from ..op import LANES
from ..script import vload, vstore

__all__ = ["VARIANTS"]

BYTES = 16  # of a vector


def _together(tile: Tile) -> bool:
    """Whether neighbours of the last dimension are neighbours in memory."""
    layout = tile.buffer.layout
    if tile.dims[-1] != len(tile.extents) - 1 or not isinstance(layout, TileLayout):
        return False
    last = layout.canonicalize().shard[-1]
    return last.axis == "m" and last.stride == 1 and last.extent % tile.buffer.shape[-1] == 0


def _lanes(call: TileCall, context: DispatchContext) -> int:
    """Lanes of the widest vector that rows are made of; declines where there is none, or plain vectors are as wide."""
    target, source = copy_tiles(call, context)
    length = target.extents[-1] if target.extents else 1
    if {tile.storage for tile in (target, source)} != {"memory"}:
        decline("both sides must be memory", dst=target.scope, src=source.scope)
    if target.dtype is not source.dtype or target.dtype.bits % 8:
        decline("elements are copied as they are", dst=target.dtype.name, src=source.dtype.name)
    if not isinstance(length, int) or source.extents[-1] != length or not all(map(_together, (target, source))):
        decline("both sides have rows of one constant length, which lie together")
    fitting = [lanes for lanes in LANES if length % lanes == 0 and lanes * target.dtype.bytes <= BYTES]
    plain = copy_share(target, source).vector
    if not fitting or fitting[-1] <= plain:
        decline("plain vectors are as wide", row=length, plain=plain)
    return fitting[-1]


def _widest(call: TileCall, context: DispatchContext) -> Verdict:
    return accept(lanes=_lanes(call, context))


def _emit(call: TileCall, context: DispatchContext) -> None:
    """Each thread takes every so-manieth vector."""
    target, source = copy_tiles(call, context)
    lanes = _lanes(call, context)
    with Evenly((*target.extents[:-1], target.extents[-1] // lanes), context).each() as (*outer, column):
        at = (*outer, column * lanes)
        vstore(vload(lanes, _pointer(source, at)), _pointer(target, at))


def _pointer(tile: Tile, coords: Any) -> Any:
    return tile.buffer.ptr_to(list(tile.indices(coords)))


# Before core's `vec_auto` (10): it declines where that takes vectors as wide.
VARIANTS = tuple(
    Variant(operation, "opencl", "vload", priority=12, emit=_emit, predicates=(Predicate("vectors", _widest),),
            doc="vloadN and vstoreN of rows that begin anywhere")
    for operation in ("copy", "copy_async")
)  # fmt: skip
