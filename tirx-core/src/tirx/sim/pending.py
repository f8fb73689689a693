"""Writes that asynchronous operations make later: kept in queues of each thread until it waits for them.

A queue holds groups. What a thread defers goes to its open group; `seal` closes the group, and `settle` makes the writes of
all but the newest sealed groups. Until then memory holds what it held before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import DType

__all__ = ["Pending", "Write"]


class Write:
    """What one operation writes: a row for each of its threads, or several. With `update` memory becomes `update(memory, value)`."""

    __slots__ = ("address", "apart", "dtype", "group", "site", "threads", "update", "value", "watch")

    def __init__(
        self, site: Any, threads: Any, group: Any, address: Any, dtype: DType, value: Any, update: Any = None
    ) -> None:
        self.site = site
        self.threads = threads
        self.group = group
        self.address = address
        self.dtype = dtype
        self.value = value
        self.update = update
        self.watch: Any = None  # of the places, until they are written
        self.apart = False  # whether they are written by a path of its own

    def split(self, chosen: Any) -> Write:
        """The rows where `chosen` holds; this keeps the others."""
        parts = (self.address[chosen], self.dtype, self.value[chosen], self.update)
        taken = Write(self.site, self.threads[chosen], self.group[chosen], *parts)
        taken.watch, taken.apart = self.watch, self.apart
        rest = ~chosen
        self.threads, self.group = self.threads[rest], self.group[rest]
        self.address, self.value = self.address[rest], self.value[rest]
        return taken


class Pending:
    """The queues of one chunk of threads."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._sealed: dict[Any, Any] = {}
        self._writes: dict[Any, list[Write]] = {}
        self._watches: dict[Any, list[Any]] = {}
        self._done: dict[Any, Any] = {}
        self._fences: dict[Any, Any] = {}

    def done(self, queue: Any) -> Any:
        """Per thread, how many groups of `queue` it has waited for."""
        return self._count(self._done, queue)

    def fences(self, queue: Any) -> Any:
        """Per thread, how often it handed registers over to `queue`."""
        return self._count(self._fences, queue)

    def _count(self, table: dict[Any, Any], queue: Any) -> Any:
        found = table.get(queue)
        if found is None:
            found = table[queue] = np.zeros(self._size, np.int64)
        return found

    def watch(self, queue: Any, watch: Any) -> None:
        """Take a watch into the open group of its thread."""
        watch.group = self.sealed(queue)[watch.thread]
        self._watches.setdefault(queue, []).append(watch)

    def over(self, queue: Any, threads: Any, keep: Any, kinds: str = "rwu") -> list[Any]:
        """The watches of `threads` in all groups but the newest `keep` sealed ones; they leave."""
        limit = np.full(self._size, -1, np.int64)
        limit[threads] = np.iinfo(np.int64).max if keep is None else self.sealed(queue)[threads] - keep
        listed = self._watches.get(queue, [])
        found = [item for item in listed if item.kind in kinds and item.group < limit[item.thread]]
        self._watches[queue] = [item for item in listed if item not in found]
        return found

    def left(self) -> tuple[list[Write], list[Any]]:
        """What nobody waited for: writes, and watches."""
        return [item for listed in self._writes.values() for item in listed], [
            item for listed in self._watches.values() for item in listed
        ]

    def wait(self, queue: Any, threads: Any, keep: Any) -> None:
        """`threads` have waited for all groups but the newest `keep`."""
        if keep is None:
            self.seal(queue, threads)
        done = self.done(queue)
        done[threads] = np.maximum(done[threads], self.sealed(queue)[threads] - (keep or 0))

    def sealed(self, queue: Any) -> Any:
        """Per thread, how many groups of `queue` it has sealed."""
        return self._count(self._sealed, queue)

    def defer(self, queue: Any, write: Write) -> None:
        """Take a write into the open groups of its threads."""
        write.group = self.sealed(queue)[write.threads]
        self._writes.setdefault(queue, []).append(write)

    def seal(self, queue: Any, threads: Any) -> None:
        """Close the open groups of `threads`."""
        self.sealed(queue)[threads] += 1

    def due(self, queue: Any, threads: Any, keep: Any) -> list[Write]:
        """The writes of `threads` in all groups but the newest `keep` sealed ones (None: all there are), in order; they leave."""
        limit = np.full(self._size, -1, np.int64)
        limit[threads] = np.iinfo(np.int64).max if keep is None else self.sealed(queue)[threads] - keep
        found, left = [], []
        for write in self._writes.get(queue, ()):
            chosen = write.group < limit[write.threads]
            if chosen.any():
                found.append(write.split(chosen))
            if len(write.threads):
                left.append(write)
        self._writes[queue] = left
        return found
