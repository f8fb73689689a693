"""What happened before what: clocks of ctas, and where a kernel synchronises more finely, of warps.

Every cta has a clock, which a synchronisation by any of its threads advances; an access is stamped with its cta's clock. In
kernels with nothing but barriers of whole ctas, what has an older stamp of the same cta is ordered. In other kernels, `known`
holds for each warp up to which stamp it has seen the work of each warp of its cta, and `seen` for each cta up to which stamp
it has seen other ctas (through atomics, waits, and barriers of several ctas). Cross-cta knowledge is kept per cta, so that a
race between ctas may be missed after a synchronisation, but none is invented.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .geometry import Geometry
from .numeric import ALL

__all__ = ["Order"]

MAX_CTAS_WITH_CLOCKS = 2048
MANY_PLACES = 512  # of one atomic instruction: more count as one place, which everybody who acquires anything has seen
MANY = "many places"


class Order:
    """Clocks of one chunk. `fine`: with warp clocks."""

    def __init__(self, geometry: Geometry, fine: bool) -> None:
        self.geometry = geometry
        self.fine = fine
        self.clock = np.ones(geometry.ctas, np.int64)
        self.floor = 0
        self.version = 0
        self.width = min(geometry.widths.threads_in("warp"), geometry.per_cta)
        self.warps = -(-geometry.per_cta // self.width)
        self.crossing = fine and geometry.ctas <= MAX_CTAS_WITH_CLOCKS
        self.acquired = np.zeros(geometry.ctas, bool)
        if fine:
            self.known = np.zeros((geometry.ctas, self.warps, self.warps), np.int64)
        if self.crossing:
            self.seen = np.zeros((geometry.ctas, geometry.ctas), np.int64)
        self._released: dict[Any, tuple[Any, dict[int, Any]]] = {}

    @property
    def oldest(self) -> int:
        """The clock of the cta that synchronised least."""
        return int(self.clock.min())

    # ---- questions ----------------------------------------------------------------------------------------------------

    def unordered(self, cta: Any, lane: Any, stamp: Any, threads: Any) -> Any:
        """Per position: whether the access of (`cta`, `lane`) stamped `stamp` is not ordered before `threads` now.

        `cta` counts in the launch, `threads` in the chunk. A lane beyond the cta stands for several of its threads.
        """
        mine = self.geometry.cta[threads]
        foreign = cta != mine + self.geometry.first
        if not self.fine:
            return (stamp > self.floor) & (foreign | (stamp >= self.clock[mine]))
        return np.where(foreign, self._unseen(cta, stamp, mine), self._unknown(lane, stamp, mine, threads))

    def _unknown(self, lane: Any, stamp: Any, mine: Any, threads: Any) -> Any:
        warp = self.geometry.lane[threads] // self.width
        several = lane >= self.geometry.per_cta
        other = np.where(several, 0, lane // self.width)
        seen = np.where(several, self.known[mine, warp].max(axis=-1), self.known[mine, warp, other])
        return stamp > seen

    def _unseen(self, cta: Any, stamp: Any, mine: Any) -> Any:
        """Of ctas without a clock here, everything counts as seen by who acquired something."""
        slot = cta - self.geometry.first
        if not self.crossing:
            return (stamp > self.floor) & ~self.acquired[mine]
        here = (slot >= 0) & (slot < self.geometry.ctas)
        seen = self.seen[mine, np.where(here, slot, 0)]
        return (stamp > self.floor) & np.where(here, stamp > seen, ~self.acquired[mine])

    # ---- synchronisation ----------------------------------------------------------------------------------------------

    def synchronise(self, level: str, threads: Any) -> None:
        """`threads` meet: within each member of `level` everybody sees what everybody did."""
        self.version += 1
        if threads is ALL and level == "cta":
            if self.fine:
                self.known[:] = self.clock[:, None, None]
            self.clock += 1
        elif level == "cta" and not self.fine:
            self.clock[np.unique(self.geometry.cta[threads])] += 1
        elif level in ("kernel", "cluster"):
            self._several(level, np.arange(self.geometry.size) if threads is ALL else threads)
        elif self.fine:
            self._groups(level, np.arange(self.geometry.size) if threads is ALL else threads)

    def _several(self, level: str, threads: Any) -> None:
        """A barrier of several ctas: all of them get one clock."""
        groups = self.geometry.group(level)[threads]
        for group in np.unique(groups):
            ctas = np.unique(self.geometry.cta[threads[groups == group]])
            top = int(self.clock[ctas].max())
            if self.fine:
                self.known[ctas] = top
            if self.crossing:
                self.seen[np.ix_(ctas, ctas)] = top
            self.clock[ctas] = top + 1
            if level == "kernel":
                self.floor = top

    def _groups(self, level: str, threads: Any) -> None:
        if level == "warp":
            pairs = np.unique(self.geometry.cta[threads] * self.warps + self.geometry.lane[threads] // self.width)
            cta, warp = np.divmod(pairs, self.warps)
            self.known[cta, warp, warp] = self.clock[cta]
            self.clock[np.unique(cta)] += 1
            return
        for number, warps in self._warps(threads):
            self._join(number, warps)

    def _join(self, cta: int, warps: Any) -> None:
        """Warps of one cta meet."""
        together = self.known[cta, warps].max(axis=0)
        together[warps] = self.clock[cta]
        self.known[cta, warps] = together
        self.clock[cta] += 1

    def release(self, key: Any, threads: Any) -> None:
        """Publish what the warps of `threads` know under `key` (an address or a name)."""
        if self.fine:
            for cta, warps in self._warps(threads):
                self._publish(key, cta, warps)

    def acquire(self, key: Any, threads: Any) -> None:
        """The warps of `threads` learn what was released under `key`."""
        if not self.fine:
            return
        self.acquired[self.geometry.cta[threads]] = True
        for cta, warps in self._warps(threads):
            self._learn(key, cta, warps)

    def update(self, places: list[tuple[Any, Any]]) -> None:
        """An atomic update of places by threads: warp after warp learns what was released there, and releases."""
        if len(places) > MANY_PLACES:
            places = [(MANY, np.unique(np.concatenate([threads for _, threads in places])))]
        for key, threads in places:
            self.acquired[self.geometry.cta[threads]] = True
            for cta, warps in self._warps(threads):
                for warp in warps:
                    self._learn(key, cta, np.array([warp]))
                    self._publish(key, cta, np.array([warp]))

    def _publish(self, key: Any, cta: int, warps: Any) -> None:
        across, inside = self._released.get(key, (np.zeros(self.geometry.ctas, np.int64), {}))
        mine = inside.get(cta, np.zeros(self.warps, np.int64))
        mine = np.maximum(mine, self.known[cta, warps].max(axis=0))
        mine[warps] = self.clock[cta]
        if self.crossing:
            across = np.maximum(across, self.seen[cta])
            across[cta] = self.clock[cta]
        self._released[key] = (across, {**inside, cta: mine})
        self.clock[cta] += 1
        self.version += 1

    def _learn(self, key: Any, cta: int, warps: Any) -> None:
        for name in (key, MANY):
            across, inside = self._released.get(name, (None, {}))
            if across is not None and self.crossing:
                self.seen[cta] = np.maximum(self.seen[cta], across)
            if cta in inside:
                self.known[cta, warps] = np.maximum(self.known[cta, warps], inside[cta])

    def _warps(self, threads: Any) -> list[tuple[int, Any]]:
        """Per cta of `threads` (which are sorted), the numbers of their warps."""
        pairs = np.unique(self.geometry.cta[threads] * self.warps + self.geometry.lane[threads] // self.width)
        cta, warp = np.divmod(pairs, self.warps)
        starts = np.flatnonzero(np.diff(cta, prepend=-1))
        return [(int(cta[start]), part) for start, part in zip(starts, np.split(warp, starts[1:]), strict=True)]
