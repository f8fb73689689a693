"""What operations of the fifth generation of tensor cores still use, in shared and in tensor memory.

A thread's products and copies go on until somebody waits for a phase that a later `tcgen05.commit` of the thread ended.
A warp's stores belong to its first thread until `tcgen05.wait::st`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tirx.sim.watch import Watch

from .described import UNIT
from .run import Op
from .tensor_memory import COLUMNS, TensorMemory
from .turned import compare

__all__ = ["ON_COMMIT", "ON_STORE", "quiet", "reading", "started", "stored", "taken", "unfinished", "using"]

ON_COMMIT, ON_STORE = "a wait for the mbarrier of `tcgen05.commit`", "`tcgen05.wait::st`"


def _places(cells: Sequence[Any]) -> Any:
    return np.unique(np.asarray(cells[0]) * COLUMNS + np.asarray(cells[1]))


def quiet(op: Op, memory: TensorMemory, cells: Sequence[Any], kind: str) -> None:
    """A finding where an operation in flight clashes with this read (`r`), write (`w`), or update by a product (`u`)."""
    found = memory.watches.disturbed(_places(cells), kind)
    if found is None:
        return
    watch = found[1]
    words = "reads" if kind == "r" else "writes"
    text = f"`{op.title}` {words} tensor memory while `{watch.what}` may still be {watch.doing} it"
    op.ctx.finding("in_flight", text, other=watch.site, notes=watch.notes)


def _watch(op: Op, thread: int, memory: TensorMemory, cells: Sequence[Any], kind: str, until: str) -> Watch:
    made = Watch(op.ctx.site, kind, op.title, until, thread)
    made.add(memory.watches, _places(cells))
    return made


def using(op: Op, at: int, memory: TensorMemory, cells: Sequence[Any], kind: str) -> None:
    """The operation of active thread number `at` uses these places, after `quiet` has looked at them."""
    quiet(op, memory, cells, kind)
    thread = int(op.ctx.threads[at])
    started(op, ON_COMMIT, thread).append(_watch(op, thread, memory, cells, kind, ON_COMMIT))


def stored(op: Op, at: int, memory: TensorMemory, cells: Sequence[Any]) -> None:
    """A warp's store: its first thread is active thread number `at`."""
    quiet(op, memory, cells, "w")
    thread = int(op.ctx.threads[at])
    started(op, ON_STORE, thread).append(_watch(op, thread, memory, cells, "w", ON_STORE))


def reading(op: Op, places: Any, swizzled: Any) -> None:
    """Addresses in shared memory (threads, units of 16 bytes) that each thread's operation reads, turned as its descriptor says."""
    for at, addresses in enumerate(places):
        one: Any = op.alone(at).ctx.repeated([len(addresses)])
        compare(Op(one, op.form), addresses, np.broadcast_to(swizzled, (op.count,))[at], op.title)
        watch = one.watch(addresses, UNIT, what=op.title, until=ON_COMMIT, fenced=True)
        if watch is not None:
            started(op, ON_COMMIT, watch.thread).append(watch)


def started(op: Op, queue: str, thread: int) -> list[Any]:
    """What a thread has started and not handed on."""
    known: dict[tuple[str, int], list[Any]] = op.ctx.state.setdefault("tcgen05 started", {})
    return known.setdefault((queue, int(thread)), [])


def unfinished(op: Op) -> list[list[Any]]:
    """What each active thread has started and nobody has waited for: a commit tracks all of it, whatever was committed before."""
    found = []
    for thread in op.ctx.threads:
        mine = started(op, ON_COMMIT, thread)
        mine[:] = [item for item in mine if item.pieces]
        found.append(list(mine))
    return found


def taken(op: Op, queue: str) -> list[list[Any]]:
    """What each active thread has started; it no longer has it."""
    found = []
    for thread in op.ctx.threads:
        mine = started(op, queue, thread)
        found.append(list(mine))
        mine.clear()
    return found
