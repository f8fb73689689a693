"""Several processing elements in one process: each runs a kernel on its own arrays, and reaches the same arrays of the others.

Elements take turns: one runs until its threads can go no further without the others, then the next. So runs repeat exactly.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

import numpy as np

__all__ = ["World", "current"]

T = TypeVar("T")


class World:
    """The elements, their arrays, and whose turn it is."""

    def __init__(self, arrays: Sequence[Sequence[Any]]) -> None:
        self.arrays = [list(own) for own in arrays]
        self.size = len(self.arrays)
        self.version = 0  # counts what others may notice
        self.arrivals = [0] * self.size  # at barriers of all elements
        self.pending: list[list[Callable[[], None]]] = [[] for _ in range(self.size)]  # what quiet() completes
        self._turn = 0
        self._ended = [False] * self.size
        self._moved = threading.Condition()

    # ---- turns ------------------------------------------------------------------------------------------------------

    def run(self, body: Callable[[int], T]) -> list[T]:
        """`body(pe)` for every element, in turns; the results. The first exception is raised again."""
        results: list[Any] = [None] * self.size
        faults: list[BaseException] = []

        def element(pe: int) -> None:
            _here.set((self, pe))
            try:
                self._wait_for(pe)
                results[pe] = body(pe)
            except BaseException as fault:  # noqa: BLE001 - raised again below
                faults.append(fault)
            finally:
                self._ended[pe] = True
                self.version += 1
                self._pass_on(pe)

        threads = [threading.Thread(target=copy_context().run, args=(element, pe)) for pe in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for pe in range(self.size):
            self.complete(pe)
        if faults:
            raise faults[0]
        return results

    def others_run(self, pe: int) -> bool:
        """Let the others have their turns; whether something happened that this element may notice."""
        before = self.version
        self._pass_on(pe)
        self._wait_for(pe)
        return self.version != before

    def _pass_on(self, pe: int) -> None:
        with self._moved:
            following = [(pe + step) % self.size for step in range(1, self.size + 1)]
            self._turn = next((other for other in following if not self._ended[other]), pe)
            self._moved.notify_all()

    def _wait_for(self, pe: int) -> None:
        with self._moved:
            self._moved.wait_for(lambda: self._turn == pe)

    # ---- memory -----------------------------------------------------------------------------------------------------

    def bytes_of(self, pe: int, mine: int, data: Any) -> Any:
        """The bytes on `pe` of the array of element `mine` whose bytes are `data`; None when it is no array of its."""
        start = data.__array_interface__["data"][0]
        for position, array in enumerate(self.arrays[mine]):
            if isinstance(array, np.ndarray) and array.__array_interface__["data"][0] == start:
                return self.arrays[pe][position].reshape(-1).view(np.uint8)
        return None

    def later(self, pe: int, action: Callable[[], None]) -> None:
        """Something that `pe` asked for and that `quiet()` completes."""
        self.pending[pe].append(action)

    def complete(self, pe: int) -> None:
        """All that `pe` asked for has happened."""
        actions, self.pending[pe] = self.pending[pe], []
        for action in actions:
            action()
        self.version += bool(actions)


_here: ContextVar[tuple[World, int] | None] = ContextVar("tirx_cuda_world", default=None)


def current() -> tuple[World, int] | None:
    """The world and the element that runs here; None for a kernel that runs alone."""
    return _here.get()
