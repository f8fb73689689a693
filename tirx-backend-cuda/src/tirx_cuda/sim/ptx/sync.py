"""Meanings of barriers and fences. Who waits for whom is said by the effect of the row; what is left are values and checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .run import Op

__all__ = ["arrive", "cluster_arrive", "cluster_wait", "nothing", "proxy_fence", "red", "sync"]


def nothing(op: Op, *values: Any) -> None:
    """Memory of the simulator is seen in order; who shall meet has met."""


def _checked(op: Op, barrier: Any) -> Any:
    number = op.full(barrier)
    wrong = number > 15
    if wrong.any():
        op.ctx.finding("barrier_number", "barriers of a cta are 0 to 15", wrong)
    return number


def sync(op: Op, barrier: Any, *count: Any) -> None:
    """The threads of the barrier have met."""
    _checked(op, barrier)


def arrive(op: Op, barrier: Any, count: Any) -> None:
    """The threads count as arrived, and go on."""
    op.ctx.arrive("cta", _checked(op, barrier).astype(np.int64), op.full(count).astype(np.int64))


def red(op: Op, barrier: Any, *more: Any) -> Any:
    """What the threads of the barrier say, together."""
    value = op.full(more[-1])
    group = np.asarray(op.ctx.group("cta")).astype(np.int64) * 16 + _checked(op, barrier).astype(np.int64)
    _, member = np.unique(group, return_inverse=True)
    yes, all_of = np.bincount(member, value), np.bincount(member)
    if op.has("popc"):
        return yes[member].astype(np.uint32)
    return (yes == all_of)[member] if op.get("op") == "and" else (yes > 0)[member]


def proxy_fence(op: Op) -> None:
    """What the threads wrote, and know of, is seen by asynchronous copies and products; a fence of global memory alone is not asked for."""
    if op.get("space") != "global" and op.get("kind") not in ("alias", "async.global"):
        op.ctx.fence()


_CLUSTER = "barrier.cluster"


def _counts(op: Op, name: str) -> Any:
    found = op.ctx.state.get(name)
    if found is None:
        found = op.ctx.state[name] = np.zeros(op.ctx.size, np.int64)
    return found


def _name(op: Op) -> Any:
    return -(1 << 40) - np.asarray(op.ctx.group("cluster")).astype(np.int64)


def cluster_arrive(op: Op) -> None:
    """The threads have arrived once more."""
    _counts(op, f"{_CLUSTER} arrived")[op.ctx.threads] += 1
    if op.get("sem") != "relaxed":
        op.ctx.release(_name(op))


def cluster_wait(op: Op) -> Any:
    """True where all living threads of the cluster have arrived as often as this one waits."""
    arrived, waited, threads = _counts(op, f"{_CLUSTER} arrived"), _counts(op, f"{_CLUSTER} waited"), op.ctx.threads
    rows, alive = op.ctx.collect(arrived[threads], "cluster")[0], np.asarray(op.ctx.exist("cluster"))
    first = threads - np.asarray(op.ctx.id("thread", "cluster"))
    members = np.minimum(first[:, None] + np.arange(rows.shape[1]), op.ctx.size - 1)
    done = ((arrived[members] > waited[threads][:, None]) | ~alive).all(axis=1)
    waited[threads[done]] += 1
    if done.any():
        op.ctx.where(done).acquire(_name(op)[done])
    return done
