"""Copies: by the widest vectors that both sides allow, or one element at a time by one thread.

vec_auto     neighbours take neighbouring vectors; registers decide the partition where one side lives in them
fallback     the first thread of the scope copies everything
"""

from __future__ import annotations

from .. import script as Tx
from ..ir import as_expr
from ..tile import Predicate, Variant, Verdict, accept
from .agreement import require_same_owners
from .elementwise import share_of, widest_share
from .operand import Tile, tile_of
from .share import Owned, Share, Whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import TileCall
    from ..tile.context import DispatchContext

__all__ = ["COPY_SHARED_OUT", "copy_share", "copy_tiles", "copy_variants", "emit_copy", "emit_fallback"]


def copy_tiles(call: TileCall, context: DispatchContext) -> tuple[Tile, Tile]:
    """Destination and source, dimension by dimension; unit dimensions stand anywhere."""
    target = tile_of(call, "dst", context)
    return target, tile_of(call, "src", context, target.extents)


def copy_share(target: Tile, source: Tile) -> Share:
    """The threads' shares, in the widest vectors."""
    return widest_share(target, {"src": source})


def emit_copy(call: TileCall, context: DispatchContext) -> None:
    """A vector per step of the share."""
    target, source = copy_tiles(call, context)
    with copy_share(target, source).each() as coords:
        target.store(coords, source.load(coords))


def emit_fallback(call: TileCall, context: DispatchContext) -> None:
    """One thread, one element at a time; threads that hold their own tile copy their own."""
    target, source = copy_tiles(call, context)
    share = share_of(target, {"src": source})
    if target.storage != "memory" or isinstance(share, Owned):
        require_same_owners(share, [target, source])
        with share.each() as coords:
            target.store(coords, source.load(coords))
        return
    with Tx.If(as_expr(context.rank) == 0), Tx.Then(), Whole(target.extents, context).each() as coords:
        target.store(coords, source.load(coords))


def _shared_out(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    share = copy_share(target, source)
    return accept(share=type(share).__name__.lower(), vector=share.vector)


COPY_SHARED_OUT = Predicate("each thread reaches both sides", _shared_out)


def copy_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of `copy` for `kind`, and of `copy_async`: done at once, there is nothing to wait for."""
    return tuple(
        row
        for operation in ("copy", "copy_async")
        for row in (
            Variant(operation, kind, "vec_auto", priority=10, emit=emit_copy, predicates=(COPY_SHARED_OUT,),
                    doc="every thread copies its share, in the widest vectors that both sides allow"),
            Variant(operation, kind, "fallback", emit=emit_fallback,
                    doc="the first thread of the scope copies element by element"),
        )
    )  # fmt: skip
