"""Moving a tile into another layout, perhaps of the very storage it lies in: through registers, all read before any write."""

from __future__ import annotations

from .. import script as Tx
from ..tile import Predicate, Variant, Verdict, accept, decline
from .copy import COPY_SHARED_OUT, copy_tiles, emit_copy
from .share import Evenly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import TileCall
    from ..tile.context import DispatchContext

__all__ = ["emit_in_place", "permute_variants"]


def emit_in_place(call: TileCall, context: DispatchContext) -> None:
    """Each thread takes its elements into registers; when all have, it puts them where the new layout wants them."""
    target, source = copy_tiles(call, context)
    share = Evenly(target.extents, context)
    rounds = share.extents()[0][0] if share.extents() else 1
    held = Tx.alloc_local((rounds,), target.dtype)
    with share.steps() as (steps, coords):
        held[steps[0] if steps else 0] = source.load(coords)
    context.sync()
    with share.steps() as (steps, coords):
        target.store(coords, held[steps[0] if steps else 0])


def _static(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    if target.storage != "memory" or source.storage != "memory":
        decline("a tile is in the threads' own storage")
    if not all(isinstance(extent, int) for extent in target.extents):
        decline("the extents are not constants, and registers are counted when the kernel is compiled")
    return accept()


def _apart(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    if target.buffer.data is source.buffer.data:
        decline("both sides lie in the same storage")
    return accept()


def _can_wait(call: TileCall, context: DispatchContext) -> Verdict:
    return context.can_sync()


def permute_variants(kind: str) -> tuple[Variant, ...]:
    """The rows of `permute_layout` for `kind`."""
    return (
        Variant("permute_layout", kind, "copy", priority=10, emit=emit_copy,
                predicates=(Predicate("sides apart", _apart), COPY_SHARED_OUT), doc="a copy between two pieces of storage"),
        Variant("permute_layout", kind, "registers", emit=emit_in_place,
                predicates=(Predicate("tiles in memory", _static), Predicate("threads can wait for each other", _can_wait)),
                doc="through registers, with a barrier between reading and writing"),
    )  # fmt: skip
