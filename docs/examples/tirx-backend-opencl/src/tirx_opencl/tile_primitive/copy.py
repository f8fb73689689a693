"""Copies between global and local memory by the whole work-group: one `async_work_group_copy` for each row.

    event_t copies = 0;
    copies = async_work_group_copy(&As[row * 64], &A[(row + first) * 512], 64, copies);
    wait_group_events(1, &copies);

`copy` waits and lets the group meet; of `copy_async` both are the author's (`Tx.opencl.wait_group_events()`, then a barrier).
OpenCL 1.2, section 6.12.10.
"""

from __future__ import annotations

from tirx.ir import TileCall
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import copy_tiles, has_runs, loops

from ..script import async_work_group_copy, wait_group_events

__all__ = ["VARIANTS"]


def _memories(call: TileCall, context: DispatchContext) -> Verdict:
    scopes = {tile.scope.partition(".")[0] for tile in copy_tiles(call, context)}
    if scopes != {"global", "shared"}:
        decline("the group copies between global and local memory", between=" and ".join(sorted(scopes)))
    return accept()


def _group(call: TileCall, context: DispatchContext) -> Verdict:
    if context.scope != "cta" or not context.is_full:
        decline("all work-items of a group copy together", scope=context.scope, threads=context.threads)
    return context.can_sync()


def _rows(call: TileCall, context: DispatchContext) -> Verdict:
    target, source = copy_tiles(call, context)
    length = target.extents[-1]
    if target.dtype is not source.dtype or target.dtype.bits % 8:
        decline("elements are copied as they are", dst=target.dtype.name, src=source.dtype.name)
    if source.extents[-1] != length or not isinstance(length, int):
        decline("both sides have rows of one constant length")
    if not all(has_runs(tile, length) for tile in (target, source)):
        decline("a row does not lie together on both sides", row=length)
    return accept(row=length)


def _emit_rows(call: TileCall, context: DispatchContext) -> None:
    """One copy for each row."""
    target, source = copy_tiles(call, context)
    with loops([(extent, False) for extent in target.extents[:-1]], context) as steps:
        to, start = (tile.buffer.ptr_to(list(tile.indices((*steps, 0)))) for tile in (target, source))
        async_work_group_copy(to, start, target.extents[-1])


def _emit_and_wait(call: TileCall, context: DispatchContext) -> None:
    _emit_rows(call, context)
    wait_group_events()
    context.sync()


_PREDICATES = (Predicate("memories", _memories), Predicate("whole group", _group), Predicate("rows", _rows))

# Below core's `vec_auto` for `copy`: work-items that copy vectors each are faster than one that copies for all, as on CPUs.
VARIANTS = (
    Variant("copy", "opencl", "work_group", priority=5, emit=_emit_and_wait, predicates=_PREDICATES,
            doc="async_work_group_copy of each row, waited for"),
    Variant("copy_async", "opencl", "work_group", priority=20, emit=_emit_rows, predicates=_PREDICATES,
            doc="async_work_group_copy of each row; wait with Tx.opencl.wait_group_events() and a barrier"),
)  # fmt: skip
