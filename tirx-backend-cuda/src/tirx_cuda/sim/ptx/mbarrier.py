"""Meanings of mbarrier objects.

The 64 bits of an object: 0 to 19 arrivals that are still pending, 20 to 39 arrivals expected in a phase, 40 to 60 transactions
(biased), 61 to 63 the number of the phase, modulo 8. Hardware keeps them otherwise, and programs must not look.
What asynchronous copies write through an object is seen by those who wait for the phase it belongs to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tirx.ir import DType

from .address import in_cta, offset_of
from .async_copy import QUEUE
from .run import Op

__all__ = [
    "arrive", "arrive_expect_tx", "arrive_once", "check_layout", "complete_on", "complete_tx", "cp_async_arrive", "everywhere",
    "expect_tx", "init", "inval", "pending_count", "track", "wait_parity", "wait_primary", "wait_primary_parity", "wait_state",
]  # fmt: skip

WORD = DType("uint64")
_COUNT, _BIAS = (1 << 20) - 1, 1 << 20


def _fields(word: Any) -> tuple[Any, Any, Any, Any]:
    word = word.astype(np.uint64)
    pending = (word & np.uint64(_COUNT)).astype(np.int64)
    expected = ((word >> np.uint64(20)) & np.uint64(_COUNT)).astype(np.int64)
    transactions = ((word >> np.uint64(40)) & np.uint64(0x1FFFFF)).astype(np.int64) - _BIAS
    return pending, expected, transactions, (word >> np.uint64(61)).astype(np.int64)


def _word(pending: Any, expected: Any, transactions: Any, phase: Any) -> Any:
    parts = ((pending & _COUNT), (expected & _COUNT) << 20, ((transactions + _BIAS) & 0x1FFFFF) << 40)
    low = parts[0] | parts[1] | parts[2]
    return low.astype(np.uint64) | ((phase & 7).astype(np.uint64) << np.uint64(61))


def _stepped(arrivals: Any, transactions: Any, drop: bool = False, complete: bool = True) -> Callable[[Any, Any], Any]:
    """The update of an object: so many arrivals and transactions; a phase that lacks nothing ends."""

    def update(old: Any, packed: Any) -> Any:
        pending, expected, waiting, phase = _fields(old)
        step = packed.astype(np.int64)
        arrived, moved = step >> 32, ((step & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
        pending, waiting = pending - arrived, waiting + moved
        if drop:
            expected = expected - arrived
        ends = (pending == 0) & (waiting == 0) & complete
        return _word(np.where(ends, expected, pending), expected, waiting, phase + ends)

    return update


def _update(
    op: Op, address: Any, arrivals: Any, transactions: Any, *, drop: bool = False, complete: bool = True
) -> Any:
    arrivals, transactions = np.asarray(arrivals).astype(np.int64), np.asarray(transactions).astype(np.int64)
    packed = (arrivals << 32) | (transactions & 0xFFFFFFFF)
    old = op.ctx.atomic(address, WORD, _stepped(arrivals, transactions, drop, complete), packed.astype(np.uint64))
    pending = _fields(old)[0]
    too_many = pending < op.full(arrivals)
    if too_many.any():
        op.ctx.finding("mbarrier", "more threads arrive at an mbarrier than it was initialised for", too_many)
    return old


def init(op: Op, address: Any, count: Any) -> None:
    """An object that expects `count` arrivals in each phase."""
    count = op.full(count).astype(np.int64)
    zero = np.zeros(op.count, np.int64)
    newer = op.get("layout") == "layout::v1"
    wrong = (count < 1) | (count >= (1 << 9 if newer else 1 << 20))
    if wrong.any():
        op.ctx.finding("mbarrier", f"an mbarrier expects 1 to {(1 << 9 if newer else 1 << 20) - 1} arrivals", wrong)
    layouts = op.ctx.state.setdefault("mbarrier layouts", {})
    layouts.update((int(key), newer) for key in _keys(op, address))
    op.ctx.store(address, WORD, _word(count, count, zero, zero))


def check_layout(op: Op, address: Any) -> Any:
    """Whether an object was initialised with this layout."""
    layouts, newer = op.ctx.state.get("mbarrier layouts", {}), op.get("layout") == "layout::v1"
    return np.array([layouts.get(int(key), False) == newer for key in _keys(op, address)])


def inval(op: Op, address: Any) -> None:
    """The memory is free for something else."""
    op.ctx.store(address, WORD, np.zeros(op.count, np.uint64))


def everywhere(op: Op, address: Any, mask: Any) -> list[tuple[Op, Any, Any]]:
    """`(instruction, addresses, threads)` for each cta of a cluster that some threads name: the same place in its memory."""
    place, named, found = op.full(np.asarray(address).astype(np.int64)), op.full(mask).astype(np.int64), []
    for rank in range(op.ctx.width("cta", "cluster")):
        chosen = named >> rank & 1 == 1
        if chosen.any():
            found.append((op.where(chosen), in_cta(place[chosen], rank), chosen))
    return found


def expect_tx(op: Op, address: Any, count: Any, *mask: Any) -> None:
    """The phase ends only after `count` more transactions; with a mask, in each of the ctas."""
    if mask:
        for one, place, chosen in everywhere(op, address, mask[0]):
            expect_tx(one, place, op.full(count)[chosen])
        return
    _expected(op, address)
    _update(op, address, 0, count)


def _expected(op: Op, address: Any) -> None:
    """Remember who said how many bytes come; when nobody gets on, that may be what is wrong."""
    known, place = op.ctx.state.get("mbarrier bytes"), op.full(np.asarray(address).astype(np.int64))
    if known is None:
        known = op.ctx.state["mbarrier bytes"] = {}
        op.ctx.state.setdefault("stuck", []).append(lambda: _compare_all(known))
    for at, key in enumerate(_keys(op, address)):
        known[int(key)] = op.alone(at), place[at : at + 1]


def _compare_all(known: dict[int, tuple[Op, Any]]) -> None:
    for op, address in known.values():
        _compare(op, address)


def _now(ctx: Any, address: Any) -> tuple[int, int, int, int]:
    """How an object stands, asked outside of any instruction."""
    word = ctx.repeated([1]).atomic(address, WORD, lambda old, _: old, np.zeros(1, np.uint64))
    pending, expected, missing, phase = (int(field[0]) for field in _fields(word))
    return pending, expected, missing, phase


def _compare(op: Op, address: Any) -> None:
    """A phase in which everybody has arrived and only bytes do not add up."""
    pending, expected, missing, _ = _now(op.ctx, address)
    if missing and pending in (0, expected):
        words = f"{missing} bytes more" if missing > 0 else f"{-missing} bytes fewer"
        text = f"the phase of this mbarrier expects {words} than copies bring: it never ends"
        op.ctx.finding("transaction_count", text)


def complete_tx(op: Op, address: Any, count: Any, *mask: Any) -> None:
    """`count` transactions are done; with a mask, in each of the ctas."""
    if mask:
        for one, place, chosen in everywhere(op, address, mask[0]):
            complete_tx(one, place, op.full(count)[chosen])
        return
    _update(op, address, 0, -np.asarray(count).astype(np.int64))


def _returned(op: Op, old: Any) -> Any:
    return old if any(part.rw != "r" for part in op.form.parts) else ()


def arrive(op: Op, *values: Any) -> Any:
    """Arrivals at an object; its state before."""
    values = values[1:] if any(part.rw == "rw" for part in op.form.parts) else values
    if op.has("multicast"):
        for one, place, chosen in everywhere(op, values[0], values[-1]):
            _update(
                one, place, op.full(values[1])[chosen] if len(values) > 2 else 1, 0, drop=op.get("act") == "arrive_drop"
            )
        return ()
    address, count = values[0], values[1] if len(values) > 1 else 1
    drop, complete = op.get("act") == "arrive_drop", not op.has("noComplete")
    return _returned(op, _update(op, address, count, 0, drop=drop, complete=complete))


def arrive_once(op: Op, address: Any) -> None:
    """One arrival."""
    _update(op, address, 1, 0)


def arrive_expect_tx(op: Op, address: Any, transactions: Any, *mask: Any) -> Any:
    """One arrival in a phase that ends only after the transactions; with a mask, in each of the ctas."""
    if mask:
        for one, place, chosen in everywhere(op, address, mask[0]):
            arrive_expect_tx(one, place, op.full(transactions)[chosen])
        return ()
    _expected(op, address)
    return _returned(op, _update(op, address, 1, transactions, drop=op.get("act") == "arrive_drop"))


def pending_count(op: Op, state: Any) -> Any:
    """The arrivals that were pending in a state."""
    return _fields(np.asarray(state))[0].astype(np.uint32)


# ---- waiting --------------------------------------------------------------------------------------------------------


def _observed(op: Op, address: Any) -> Any:
    return op.ctx.atomic(address, WORD, lambda old, _: old, np.zeros(op.count, np.uint64))


def wait_parity(op: Op, address: Any, parity: Any, *hint: Any) -> Any:
    """Whether the phase of this parity has ended."""
    phase = _fields(_observed(op, address))[3]
    wanted = op.full(parity).astype(np.int64) & 1
    return _waited(op, address, phase, (phase & 1) != wanted, wanted)


def wait_state(op: Op, address: Any, state: Any, *hint: Any) -> Any:
    """Whether the phase of this state has ended."""
    phase = _fields(_observed(op, address))[3]
    before = _fields(op.full(state))[3]
    return _waited(op, address, phase, phase != before, before & 1)


def wait_primary(op: Op, address: Any, state: Any, *hint: Any) -> Any:
    """The same, with the report of the phase: only operations on a fabric report, and they have no meaning here."""
    return _reported(op, wait_state(op, address, state))


def wait_primary_parity(op: Op, address: Any, parity: Any, *hint: Any) -> Any:
    """The same by parity."""
    return _reported(op, wait_parity(op, address, parity))


def _reported(op: Op, done: Any) -> Any:
    return done, *(np.zeros(op.count, np.uint8) for part in op.form.parts[1:] if part.rw == "w")


def _waited(op: Op, address: Any, phase: Any, done: Any, parity: Any) -> Any:
    """Where a wait succeeds, what was written through the object in phases that ended is there."""
    promised = op.ctx.state.get("mbarrier")
    if not done.all():
        _waiting(op, address, done, parity)
    if promised and done.any():
        keys = _keys(op, address)
        for key, now in {(int(key), int(now)) for key, now in zip(keys[done], phase[done], strict=True)}:
            kept = promised.get(key, [])
            op.ctx.fulfil([write for belongs, write in kept if belongs != now], ("mbarrier", key))
            promised[key] = [item for item in kept if item[0] == now]
            op.ctx.where(done & (keys == key)).acquire(("mbarrier", key))
    return done


def _waiting(op: Op, address: Any, done: Any, parity: Any) -> None:
    """Remember objects that somebody waits at, to say how they stand when nobody gets on."""
    known = op.ctx.state.get("mbarrier waits")
    if known is None:
        known = op.ctx.state["mbarrier waits"] = {}
        op.ctx.state.setdefault("standing", []).append(lambda: [_standing(*item) for item in known.values()])
    place = op.full(np.asarray(address).astype(np.int64))
    for at, key in enumerate(_keys(op, address)):
        if not done[at]:
            known[int(key)] = op.ctx.where(np.arange(op.count) == at), place[at : at + 1], int(parity[at])


def _standing(ctx: Any, address: Any, parity: int) -> str:
    pending, expected, missing, phase = _now(ctx, address)
    byte = offset_of(int(address[0]))
    lacking = f"{pending} of {expected} arrivals" + (f" and {missing} bytes" if missing else "")
    running = f"phase {phase} (parity {phase & 1}) runs and lacks {lacking}"
    return (
        f"the mbarrier at byte {byte} of shared memory: the end of a phase of parity {parity} is waited for; {running}"
    )


def _keys(op: Op, address: Any) -> Any:
    """A number for each object of the launch: shared addresses are the same in every cluster."""
    cluster = np.asarray(op.ctx.group("cluster")).astype(np.int64)
    return op.full(np.asarray(address).astype(np.int64)) + (cluster << 36)


def complete_on(op: Op, address: Any, transactions: Any, writes: Sequence[Any]) -> None:
    """Asynchronous writes that an object tracks: they belong to the phase that is running, and count as its transactions.

    `writes` has an element for each active thread, or a list of several; with them come the places that a copy reads.
    """
    keys = _keys(op, address)
    phase = _fields(_observed(op, address))[3]
    promised = op.ctx.state.setdefault("mbarrier", {})
    for key, now, item in zip(keys, phase, writes, strict=True):
        several = item if isinstance(item, list) else [item]
        promised.setdefault(int(key), []).extend((int(now), one) for one in several)
    _update(op, address, 0, -np.asarray(transactions).astype(np.int64))


def track(op: Op, address: Any, items: Sequence[Sequence[Any]]) -> None:
    """What each thread's operations still use belongs to the phase that is running."""
    keys, phase = _keys(op, address), _fields(_observed(op, address))[3]
    promised = op.ctx.state.setdefault("mbarrier", {})
    for key, now, several in zip(keys, phase, items, strict=True):
        promised.setdefault(int(key), []).extend((int(now), one) for one in several)


def cp_async_arrive(op: Op, address: Any) -> None:
    """The object tracks the thread's copies so far; with `.noinc` their end is an arrival that was counted on."""
    keys = _keys(op, address)
    phase = _fields(_observed(op, address))[3]
    promised = op.ctx.state.setdefault("mbarrier", {})
    for write in op.ctx.withdrawn(QUEUE):
        for at, thread in enumerate(np.asarray(op.ctx.threads)):
            mine = write.threads == thread
            if mine.any():
                promised.setdefault(int(keys[at]), []).append((int(phase[at]), write.split(mine)))
    if op.has("noinc"):
        _update(op, address, 1, 0)
