"""What an mbarrier is in the simulator: the 64-bit word in shared memory, and what each operation makes of it.

The layout of the word is ours (hardware keeps its own secret): arrivals that are pending, arrivals of a phase, bytes that are
still to come (as a signed number), the phase's parity, and a mark that it was initialised. Everything that operates on barriers
(`mbarrier.*`, bulk copies that complete bytes, `Tx.cuda.mbarrier_wait`) goes through these functions, so that all of it agrees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tirx.intrinsic import SimContext
from tirx.ir import DType

__all__ = [
    "MOST_ARRIVALS", "arrive", "complete_bytes", "drop", "expect_bytes", "initialise", "invalidate", "is_past", "pending_count",
    "phase_parity", "wait",
]  # fmt: skip

WORD = DType("uint64")
MOST_ARRIVALS = 2**20 - 1
_COUNT = np.uint64(MOST_ARRIVALS)
_EXPECTED, _BYTES, _PHASE, _VALID = (np.uint64(n) for n in (20, 40, 62, 63))
_BYTES_MASK = np.uint64(2**22 - 1)  # offset binary: 2**21 stands for none
_NONE = 2**21


def _field(word: Any, shift: Any, mask: Any) -> Any:
    return ((word >> shift) & mask).astype(np.int64)


def pending_count(word: Any) -> Any:
    """Arrivals that the current phase still waits for."""
    return _field(word, np.uint64(0), _COUNT)


def phase_parity(word: Any) -> Any:
    """0 or 1: the parity of the current phase."""
    return _field(word, _PHASE, np.uint64(1))


def _bytes(word: Any) -> Any:
    return _field(word, _BYTES, _BYTES_MASK) - _NONE


def _word(pending: Any, expected: Any, pending_bytes: Any, parity: Any) -> Any:
    """A word of these; the next phase begins where nothing is left to wait for."""
    done = (pending == 0) & (pending_bytes == 0)
    parts = (
        np.where(done, expected, pending).astype(np.uint64),
        np.asarray(expected).astype(np.uint64) << _EXPECTED,
        (np.asarray(pending_bytes) + _NONE).astype(np.uint64) << _BYTES,
        np.where(done, 1 - parity, parity).astype(np.uint64) << _PHASE,
    )
    return parts[0] | parts[1] | parts[2] | parts[3] | (np.uint64(1) << _VALID)


def _changed(word: Any, *, arrivals: Any = 0, members: Any = 0, more_bytes: Any = 0) -> Any:
    """The word after `arrivals` of threads, `members` fewer in later phases, and `more_bytes` to wait for."""
    expected = _field(word, _EXPECTED, _COUNT) - members
    pending = np.maximum(pending_count(word) - arrivals, 0)
    return _word(pending, expected, _bytes(word) + more_bytes, phase_parity(word))


def initialise(ctx: SimContext, address: Any, count: Any) -> None:
    """`count` arrivals make a phase; the first phase has parity 0."""
    number = np.broadcast_to(np.asarray(count, np.int64), (ctx.count,))
    wrong = (number < 1) | (number > MOST_ARRIVALS)
    if wrong.any():
        ctx.finding("mbarrier", f"a barrier of {int(number[wrong][0])} arrivals; there are 1 to {MOST_ARRIVALS}", wrong)
    number = np.clip(number, 1, MOST_ARRIVALS)
    zero = np.zeros(ctx.count, np.int64)
    word = (np.uint64(1) << _VALID) | (np.uint64(_NONE) << _BYTES)
    ctx.store(
        address,
        WORD,
        word | number.astype(np.uint64) | (number.astype(np.uint64) << _EXPECTED) | zero.astype(np.uint64),
    )


def invalidate(ctx: SimContext, address: Any) -> None:
    """The memory may be used for something else."""
    ctx.store(address, WORD, np.zeros(ctx.count, np.uint64))


def _update(ctx: SimContext, address: Any, what: str, change: Callable[..., Any], *values: Any) -> Any:
    """Change barriers one thread after the other; the words before. One that was never initialised is a finding."""
    given = tuple(np.broadcast_to(np.asarray(value, np.int64), (ctx.count,)).astype(np.uint64) for value in values)
    old = ctx.atomic(
        address, WORD, lambda word, *rest: np.where(_is_valid(word), change(word, *map(_signed, rest)), word), given
    )
    fresh = ~_is_valid(old)
    if fresh.any():
        ctx.finding("mbarrier", f"{what} a barrier that was not initialised", fresh)
    return old


def _is_valid(word: Any) -> Any:
    return (word >> _VALID).astype(bool)


def _signed(value: Any) -> Any:
    return np.asarray(value).astype(np.int64)


def arrive(ctx: SimContext, address: Any, count: Any = 1) -> Any:
    """`count` arrivals; the state before, by which a thread may wait for the end of the phase."""
    old = _update(ctx, address, "a thread arrives at", lambda word, number: _changed(word, arrivals=number), count)
    over = _is_valid(old) & (pending_count(old) < np.asarray(count))
    if over.any():
        ctx.finding("mbarrier", "more threads arrive than the phase of the barrier waits for", over)
    return old


def drop(ctx: SimContext, address: Any, count: Any = 1) -> Any:
    """`count` arrivals, and as many fewer in all later phases."""
    return _update(ctx, address, "a thread arrives at", lambda w, n: _changed(w, arrivals=n, members=n), count)


def expect_bytes(ctx: SimContext, address: Any, size: Any) -> None:
    """The phase waits for `size` more bytes."""
    _update(ctx, address, "bytes are announced to", lambda word, n: _changed(word, more_bytes=n), size)


def complete_bytes(ctx: SimContext, address: Any, size: Any) -> None:
    """`size` bytes have come."""
    _update(ctx, address, "bytes complete on", lambda word, n: _changed(word, more_bytes=-n), size)


def is_past(ctx: SimContext, address: Any, parity: Any) -> Any:
    """Whether the phase of this parity is over: the current one has the other. What came before it is visible."""
    old = _update(ctx, address, "a thread waits for", lambda word: word)
    return phase_parity(old) != (np.asarray(parity) & 1)


def wait(ctx: SimContext, bar: Any, phase: Any) -> Any:
    """Who may go on: those whose phase is over."""
    return is_past(ctx, bar, phase)
