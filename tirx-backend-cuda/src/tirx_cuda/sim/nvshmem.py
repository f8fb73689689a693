"""Meanings of NVSHMEM's functions. A kernel that runs alone is the only element.

Copies that do not wait happen as late as they may: at `quiet()`, `fence()`, a barrier, or when all have ended. Their data was taken
when they were asked for. Races between elements are not looked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

from ..op_nvshmem import WORDS
from .world import World, current

__all__ = [
    "barrier_all", "fence", "getmem_nbi", "getmem_nbi_block", "getmem_nbi_warp", "memory_of", "my_pe", "n_pes", "putmem_nbi",
    "putmem_nbi_block", "putmem_nbi_warp", "putmem_signal_nbi", "putmem_signal_nbi_block", "putmem_signal_nbi_warp", "quiet",
    "signal_op", "wait_until", "world_of",
]  # fmt: skip

_BYTE = DType("uint8")
_STATE = "nvshmem"


def world_of(ctx: SimContext) -> tuple[World, int]:
    """The elements; those who run alone are a world of one, whose arrays are found through their addresses."""
    found = current()
    if found is None:
        found = ctx.state.setdefault(_STATE, (World([[]]), 0))
    elif "outside" not in ctx.state:
        world, pe = found
        ctx.state["outside"] = lambda: world.others_run(pe)
    return found


def my_pe(ctx: SimContext) -> Any:
    """The number of the element."""
    return np.full(ctx.count, world_of(ctx)[1], np.int32)


def n_pes(ctx: SimContext) -> Any:
    """How many there are."""
    return np.full(ctx.count, world_of(ctx)[0].size, np.int32)


# ---- remote memory --------------------------------------------------------------------------------------------------


def _rows(ctx: SimContext, *values: Any) -> list[tuple[int, ...]]:
    """Per thread its values, as numbers."""
    columns = [np.broadcast_to(np.asarray(value), (ctx.count,)) for value in values]
    return [tuple(int(column[thread]) for column in columns) for thread in range(ctx.count)]


def _known(ctx: SimContext, world: World, pe: Any) -> Any:
    """Which threads name an element that exists."""
    number = np.broadcast_to(np.asarray(pe), (ctx.count,))
    known = (number >= 0) & (number < world.size)
    if not known.all():
        ctx.finding("nvshmem", f"there is no element {int(number[~known][0])}; there are {world.size}", ~known)
    return known


def memory_of(ctx: SimContext, world: World, mine: int, pe: int, address: int, size: int) -> Any:
    """`size` bytes of element `pe` at a symmetric address; None (and a finding) where there is none."""
    for arena in ctx.regions():
        offset = address - arena.base
        if arena.kind == "global" and offset >= 0 and offset + size <= len(arena.data):
            data = arena.data if pe == mine else world.bytes_of(pe, mine, arena.data)
            if data is not None:
                return data[offset : offset + size]
    ctx.finding("nvshmem", f"{size} bytes at {address:#x} lie in no symmetric array: give an argument of the kernel")
    return None


def _source(ctx: SimContext, address: int, size: int) -> Any:
    """`size` bytes of this element as they are now: an array as a whole, other memory byte by byte with the usual checks."""
    for arena in ctx.regions():
        offset = address - arena.base
        if arena.kind == "global" and offset >= 0 and offset + size <= len(arena.data):
            return arena.data[offset : offset + size].copy()
    return np.array([np.asarray(ctx.load(address + i, _BYTE)).reshape(-1)[0] for i in range(size)], np.uint8)


def _put(ctx: SimContext, world: World, mine: int, dst: int, src: int, size: int, pe: int) -> None:
    data = _source(ctx, src, size)
    place = memory_of(ctx, world, mine, pe, dst, size)
    if place is not None:
        world.later(mine, lambda: np.copyto(place, data))


def _get(ctx: SimContext, world: World, mine: int, dst: int, src: int, size: int, pe: int) -> None:
    place, origin = memory_of(ctx, world, mine, mine, dst, size), memory_of(ctx, world, mine, pe, src, size)
    if place is not None and origin is not None:
        world.later(mine, lambda: np.copyto(place, origin))


def _copies(ctx: SimContext, move: Callable[..., None], values: Sequence[Any], element: int) -> None:
    """One copy for each active thread: destination, source, number of elements, other processing element."""
    pe = values[3]
    world, mine = world_of(ctx)
    known = _known(ctx, world, pe)
    for thread, (to, origin, number, other) in enumerate(_rows(ctx, *values)):
        one = ctx.where(np.arange(ctx.count) == thread)
        if number < 0:
            one.finding("nvshmem", f"{number} elements are to be copied")
        elif known[thread]:
            move(one, world, mine, to, origin, number * element, other)


def _leaders(ctx: SimContext, level: str, values: tuple[Any, ...]) -> Any:
    """The first thread of each group, unless others of it came before; threads that come together and disagree are a finding."""
    group = ctx.group(level)
    numbers, first, members = np.unique(group, return_index=True, return_inverse=True)
    columns = [np.broadcast_to(np.asarray(value), (ctx.count,)) for value in values]
    odd = np.any([column != column[first][members] for column in columns], axis=0)
    if odd.any():
        ctx.finding("nvshmem", f"the threads of one {level} give different arguments", odd)
    arrived: dict[Any, int] = ctx.state.setdefault("nvshmem_arrived", {})
    chosen = np.zeros(ctx.count, bool)
    for number, leader, count in zip(numbers.tolist(), first, np.bincount(members), strict=True):
        key = (level, number, *(int(column[leader]) for column in columns))
        chosen[leader] = key not in arrived
        arrived[key] = arrived.get(key, 0) + int(count)
        if arrived[key] >= ctx.width("thread", level):
            del arrived[key]
    return chosen


def _together(ctx: SimContext, level: str, values: tuple[Any, ...]) -> tuple[SimContext, list[Any]]:
    """The context of the threads that speak for their groups, and their values."""
    chosen = _leaders(ctx, level, values)
    return ctx.where(chosen), [np.broadcast_to(np.asarray(value), (ctx.count,))[chosen] for value in values]


def putmem_nbi(ctx: SimContext, dst: Any, src: Any, nelems: Any, pe: Any, *, element: int) -> None:
    """To another element, later."""
    _copies(ctx, _put, (dst, src, nelems, pe), element)


def putmem_nbi_warp(ctx: SimContext, *values: Any, element: int) -> None:
    """By a warp."""
    one, own = _together(ctx, "warp", values)
    _copies(one, _put, own, element)


def putmem_nbi_block(ctx: SimContext, *values: Any, element: int) -> None:
    """By a cta."""
    one, own = _together(ctx, "cta", values)
    _copies(one, _put, own, element)


def getmem_nbi(ctx: SimContext, dst: Any, src: Any, nelems: Any, pe: Any, *, element: int) -> None:
    """From another element, later."""
    _copies(ctx, _get, (dst, src, nelems, pe), element)


def getmem_nbi_warp(ctx: SimContext, *values: Any, element: int) -> None:
    """By a warp."""
    one, own = _together(ctx, "warp", values)
    _copies(one, _get, own, element)


def getmem_nbi_block(ctx: SimContext, *values: Any, element: int) -> None:
    """By a cta."""
    one, own = _together(ctx, "cta", values)
    _copies(one, _get, own, element)


# ---- signals --------------------------------------------------------------------------------------------------------


def signal_op(ctx: SimContext, sig_addr: Any, signal: Any, pe: Any, *, sig_op: str) -> None:
    """A word of another element, at once."""
    world, mine = world_of(ctx)
    known = _known(ctx, world, pe)
    for thread, (address, number, other) in enumerate(_rows(ctx, sig_addr, signal, pe)):
        word = memory_of(ctx, world, mine, other, address, 8) if known[thread] else None
        if word is not None:
            place = word.view(np.uint64)
            place[0] = np.uint64((number + int(place[0]) * (sig_op == "add")) % 2**64)
            world.version += 1


def putmem_signal_nbi(
    ctx: SimContext, dst: Any, src: Any, nelems: Any, sig_addr: Any, signal: Any, pe: Any, *, sig_op: str, element: int
) -> None:
    """The data, then the word; copies that were asked for before need not have come."""
    world, mine = world_of(ctx)
    before, world.pending[mine] = world.pending[mine], []
    putmem_nbi(ctx, dst, src, nelems, pe, element=element)
    world.complete(mine)
    world.pending[mine] = before
    signal_op(ctx, sig_addr, signal, pe, sig_op=sig_op)


def putmem_signal_nbi_warp(ctx: SimContext, *values: Any, **attrs: Any) -> None:
    """By a warp."""
    one, own = _together(ctx, "warp", values)
    putmem_signal_nbi(one, *own, **attrs)


def putmem_signal_nbi_block(ctx: SimContext, *values: Any, **attrs: Any) -> None:
    """By a cta."""
    one, own = _together(ctx, "cta", values)
    putmem_signal_nbi(one, *own, **attrs)


_COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal,
}  # fmt: skip


def wait_until(ctx: SimContext, ivar: Any, cmp_value: Any, *, cmp: str, type: str) -> Any:
    """Who may go on."""
    world_of(ctx)
    kind = DType(WORDS[type][0])
    seen = ctx.atomic(ivar, kind, lambda old, _: old, np.zeros(ctx.count, np.int64))
    return _COMPARE[cmp](seen, np.asarray(cmp_value).astype(seen.dtype))


# ---- order ----------------------------------------------------------------------------------------------------------


def quiet(ctx: SimContext) -> None:
    """All copies that this element asked for happen."""
    world, mine = world_of(ctx)
    world.complete(mine)


def fence(ctx: SimContext) -> None:
    """Copies come before what follows; the model lets them happen."""
    quiet(ctx)


def barrier_all(ctx: SimContext) -> Any:
    """Who may go on: threads whose arrival every element has matched."""
    world, mine = world_of(ctx)
    tickets: dict[int, int] = ctx.state.setdefault("nvshmem_barrier", {})
    passed = np.zeros(ctx.count, bool)
    for position, thread in enumerate(np.asarray(ctx.threads).tolist()):
        if thread not in tickets:
            world.complete(mine)
            world.arrivals[mine] += 1
            world.version += 1
            tickets[thread] = world.arrivals[mine]
        if min(world.arrivals) >= tickets[thread]:
            passed[position] = True
            del tickets[thread]
    return passed
