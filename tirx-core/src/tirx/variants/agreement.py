"""Whether distributed tiles of one operation put the same elements into the same threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..ir import Expr, as_expr, const
from ..layout.names import axis_named
from ..tile import decline
from .operand import lies_like
from .share import Owned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..arith import Analyzer
    from ..layout.iters import Iter
    from .operand import Index, Tile
    from .share import Share

__all__ = ["is_holder", "require_same_owners"]


def require_same_owners(share: Share, tiles: Sequence[Tile]) -> None:
    """Decline unless every distributed tile holds what a thread handles in that very thread (in one of its replicas)."""
    driver = share.tile if isinstance(share, Owned) else None
    others = [tile for tile in tiles if tile.storage == "distributed" and not (driver and lies_like(tile, driver))]
    if not others:
        return
    coords, analyzer = share.sample()
    for tile in others:
        for axis, apart, copies in _distances(tile, coords, analyzer):
            if not _reached(apart, copies, analyzer):
                decline(f"`{tile.buffer.name}` holds the elements in other threads", axis=axis, apart=apart.script())


def is_holder(tile: Tile, coords: Sequence[Index], analyzer: Analyzer, leads: Mapping[str, Expr] | None = None) -> bool:
    """Whether the thread that is at `coords` holds the element there, itself or at the distance `leads` per axis."""
    return all(
        _reached(apart, copies, analyzer) or (leads is not None and analyzer.equal(apart, leads.get(axis, const(0))))
        for axis, apart, copies in _distances(tile, coords, analyzer)
    )


def _distances(tile: Tile, coords: Sequence[Index], analyzer: Analyzer) -> Iterator[tuple[str, Expr, list[Iter]]]:
    """Per thread axis: this thread's id minus the id of the first holder, and the replica iters of the axis."""
    layout, context = tile.buffer.layout, tile.context
    assert layout is not None
    indices = tuple(
        as_expr(start) if dim is None else as_expr(start + coords[dim])
        for start, dim in zip(tile.starts, tile.dims, strict=True)
    )
    for axis, position in layout.physical(indices, tile.buffer.shape).items():
        row = axis_named(axis)
        if row is not None and row.level is not None and row.within is not None:
            copies = [item for item in layout.replica if item.axis == axis]  # type: ignore[attr-defined]
            yield axis, analyzer.simplify(as_expr(context.id(row.level, row.within) - position)), copies


def _reached(apart: Expr, copies: Sequence[Iter], analyzer: Analyzer) -> bool:
    """Whether a distance between threads is always one of the steps to a replica."""
    bounds = analyzer.bounds(apart)
    if bounds.within(0, 0):
        return True
    for item in copies:
        reach = (item.extent - 1) * item.stride
        if isinstance(reach, int) and bounds.within(0, reach) and analyzer.divides(int(item.stride), apart):
            return True
    return False
