"""Atomic updates of many threads at once, with the result of doing them in thread order."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["one_after_other"]


def one_after_other(array: Any, index: Any, update: Any, values: tuple[Any, ...]) -> tuple[Any, bool]:
    """Atomic updates in thread order: threads whose place is their own at once, the others rank by rank."""
    if update is np.add and array.dtype.kind in "iu":
        return _added(array, index, values[0])
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    new_place = np.empty(len(ordered), bool)
    new_place[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new_place[1:])
    starts = np.flatnonzero(new_place)
    rank = np.arange(len(ordered)) - np.repeat(starts, np.diff(starts, append=len(ordered)))
    old = np.empty(len(index), array.dtype)
    changed = False
    by_rank = np.argsort(rank, kind="stable")
    for part in np.split(by_rank, np.cumsum(np.bincount(rank))[:-1]) if len(index) else []:
        who = order[part]
        before = array[index[who]]
        after = np.asarray(update(before, *(value[who] for value in values))).astype(array.dtype)
        array[index[who]] = after
        old[who] = before
        changed = changed or before.tobytes() != after.tobytes()
    return old, changed


def _added(array: Any, index: Any, value: Any) -> tuple[Any, bool]:
    """Integer sums by a segmented scan: what came before a thread at its place."""
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    total = np.cumsum(value[order].astype(np.int64))
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(starts, append=len(ordered))
    before = total - value[order].astype(np.int64)
    before = before - np.repeat(before[starts], lengths)
    held = array[ordered].astype(np.int64)
    old = np.empty(len(index), array.dtype)
    old[order] = (held + before).astype(array.dtype)
    ends = starts + lengths - 1
    final = (held[ends] + before[ends] + value[order][ends].astype(np.int64)).astype(array.dtype)
    changed = bool((array[ordered[ends]] != final).any())
    array[ordered[ends]] = final
    return old, changed
