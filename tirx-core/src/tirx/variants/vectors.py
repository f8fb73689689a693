"""How many neighbouring elements one access can take: contiguous, aligned, and no wider than the target's vectors."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Layout, as_expr
from ..layout import ComposeLayout, TileLayout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tile.context import DispatchContext
    from .operand import Tile
    from .owners import Owners

__all__ = ["has_runs", "run_of_owner", "widest_vector"]

WIDTHS = (16, 8, 4, 2)


def widest_vector(tiles: Sequence[Tile], context: DispatchContext, *, among: Sequence[int] = WIDTHS) -> int:
    """Elements per access: the widest of `among` that all tiles in memory allow; 1 if any forbids vectors."""
    if "vectors" not in context.target.capabilities.constructs:
        return 1
    memory = [tile for tile in tiles if tile.storage == "memory"]
    bits = max(tile.dtype.storage_bits for tile in tiles)
    limit = 8 * int(context.target.limits.get("vector_bytes", 16))
    fitting = (width for width in among if width * bits <= limit)
    return next((width for width in fitting if memory and all(has_runs(tile, width) for tile in memory)), 1)


def run_of_owner(owners: Owners, rank: int) -> int:
    """How many consecutive elements of the last dimension a thread holds in consecutive registers."""
    last = owners.parts[-1] if owners.parts else None
    if last is None or last.digit is not None or last.dim != rank - 1 or last.weight != 1 or last.stride != 1:
        return 1
    run: int = last.extent
    return run


def has_runs(tile: Tile, width: int, dim: int = -1) -> bool:
    """Whether `width` elements along a dimension (default: the last), from any multiple of `width` on, lie together and aligned."""
    extent, analyzer = tile.extents[dim], tile.context.analyzer
    if tile.dims[dim] is None or not isinstance(extent, int) or extent % width:
        return False
    aligned = analyzer.divides(width, tile.starts[dim]) and analyzer.divides(width, as_expr(tile.buffer.elem_offset))
    layout = tile.buffer.layout
    if not aligned or layout is None:
        return False
    if dim not in (-1, len(tile.extents) - 1):
        order = [other for other in range(len(tile.extents)) if other != dim] + [dim]
        grouped, separators = layout.group(tile.buffer.shape)
        layout = grouped.permute_by_groups(separators, order)
    return _keeps_runs(layout, width, tile)


def _keeps_runs(layout: Layout, width: int, tile: Tile) -> bool:
    """Whether storage keeps aligned runs of `width` elements together."""
    if isinstance(layout, ComposeLayout):
        return (1 << layout.per_element) % width == 0 and _keeps_runs(layout.tile_layout, width, tile)
    if not isinstance(layout, TileLayout):
        return False
    *outer, last = layout.canonicalize().shard
    divides = tile.context.analyzer.divides
    return (
        last.axis == "m"
        and last.stride == 1
        and divides(width, last.extent)
        and all(divides(width, item.stride) for item in outer if item.axis == "m")
        and divides(width, layout.offset.get("m", 0))
    )
