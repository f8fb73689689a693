"""Threads held back before a block in which their warp meets, as long as others of the warp may still come.

Late are threads that took the back edge of a spinning loop, or wait for something there. When they are stuck, those who were
held back go on without them: what they then miss of them is for the block to report.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .facts import GATHERED
from .geometry import Geometry
from .numeric import ALL

__all__ = ["Gathering"]

Place = tuple[int, Any]


class Gathering:
    """The threads of one chunk that are held back, by block and key.

    `sources` are per block those from which threads come to it (`Translation.gathers`), `turning` the spinning threads that
    are about to run again, `hopeless` per block the threads for which nobody waits as long as they spin there.
    """

    __slots__ = ("geometry", "held", "hopeless", "sources", "turning")

    def __init__(self, geometry: Geometry, sources: Sequence[frozenset[int] | None]) -> None:
        self.geometry = geometry
        self.sources = sources
        self.held: dict[Place, Any] = {}
        self.turning: dict[Place, Any] = {}
        self.hopeless: dict[int, Any] = {}

    @property
    def group(self) -> Any:
        """Per thread, the number of its warp."""
        return self.geometry.group(GATHERED)

    def admit(self, place: Place, threads: Any, spinning: Mapping[Place, list[Any]]) -> Any:
        """Those of `threads`, and of the ones held back at `place`, who need not wait there; None when all must."""
        chosen = np.arange(len(self.group)) if threads is ALL else threads
        before = self.held.pop(place, None)
        if before is not None:
            chosen = np.sort(np.concatenate([chosen, before]))
        kept = self._late(place[0], spinning)[self.group[chosen]]
        if kept.any():
            self.held[place] = chosen[kept]
            chosen = chosen[~kept]
        if len(chosen) == len(self.group):
            return ALL
        return chosen if len(chosen) else None

    def release(self, spinning: Mapping[Place, list[Any]], push: Callable[[int, Any, Any], None]) -> bool:
        """Let go whoever has nobody left to wait for."""
        if not self.held:
            return False
        held, self.held, moved = self.held, {}, False
        for (block, key), threads in held.items():
            kept = self._late(block, spinning)[self.group[threads]]
            if kept.any():
                self.held[block, key] = threads[kept]
            if not kept.all():
                push(block, key, threads[~kept])
                moved = True
        return moved

    def give_up(self, spinning: Mapping[Place, list[Any]], push: Callable[[int, Any, Any], None]) -> None:
        """Let go everybody, and never again wait for the spinning threads of their warps where these are now."""
        waited = np.zeros(int(self.group[-1]) + 1, bool)
        for threads in self.held.values():
            waited[self.group[threads]] = True
        for (block, _), parts in spinning.items():
            hopeless = self.hopeless.setdefault(block, np.zeros(len(self.group), bool))
            for threads in parts:
                hopeless[threads] |= waited[self.group[threads]]
        self.release(spinning, push)

    def _late(self, block: int, spinning: Mapping[Place, list[Any]]) -> Any:
        """Per warp, whether one of its threads may still come to a block: from a loop, or from where it is held back."""
        sources = self.sources[block]
        assert sources is not None
        late = np.zeros(int(self.group[-1]) + 1, bool)
        places = [(source, threads) for (source, _), parts in spinning.items() for threads in parts]
        places += [(source, threads) for (source, _), threads in self.turning.items()]
        for source, threads in places:
            if source in sources:
                groups, hopeless = self.group[threads], self.hopeless.get(source)
                late[groups if hopeless is None else groups[~hopeless[threads]]] = True
        for (source, _), threads in self.held.items():
            if source in sources:
                late[self.group[threads]] = True
        return late
