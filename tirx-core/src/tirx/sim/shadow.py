"""Shadows of memory: per granule whether it was written, and who wrote, read or updated it last.

A record packs the stamp of a clock (on top) and the thread (cta of the launch, number in the cta) into 64 bits. Two readers
that do not know of each other become one record for "several threads of this cta", or for "several ctas".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .order import Order

__all__ = ["Conflict", "Shadow"]

THREAD_BITS = 34
THREAD_MASK = (1 << THREAD_BITS) - 1
SEVERAL_CTAS = (1 << 62) - 1


class Conflict:
    """Accesses that race: positions in the access, the record of the other side and its site."""

    __slots__ = ("kind", "other", "positions", "site")

    def __init__(self, kind: str, positions: Any, other: Any, site: Any) -> None:
        self.kind = kind
        self.positions = positions
        self.other = other
        self.site = site


class Shadow:
    """The shadow of one arena, with `granule` bytes per record.

    `tracked`: races are looked for; `defined`: everything is initialised; `local`: no cta reaches another one's part, and clocks
    are those of ctas, so that records older than every cta's clock are ordered.
    """

    def __init__(self, size: int, granule: int, per_cta: int, *, tracked: bool, defined: bool, local: bool) -> None:
        self.granule = granule
        self.local = local
        self._order: Order | None = None
        self._version = -1
        self._threads: Any = None
        self._geometry: Any = None
        self._codes: Any = None
        self.lanes = per_cta + 1
        self.tracked = tracked
        count = -(-size // granule)
        self.count = count
        self.defined: Any = None if defined else np.zeros(count, bool)
        self.records: dict[str, tuple[Any, Any]] = {}

    def refine(self, granule: int) -> None:
        """Smaller granules: every record stands for several new ones."""
        times = self.granule // granule
        if times <= 1:
            return
        self.granule = granule
        self.count *= times
        if self.defined is not None:
            self.defined = np.repeat(self.defined, times)
        self.records = {k: (np.repeat(r, times), np.repeat(s, times)) for k, (r, s) in self.records.items()}

    def granules(self, start: Any, size: int) -> Any:
        """Granule numbers of `size` bytes from each byte of `start` on: shape `start` or `start + (k,)`."""
        first = start // self.granule if self.granule > 1 else start
        wide = -(-size // self.granule)
        return first if wide == 1 else first[..., None] + np.arange(wide)

    def code(self, order: Order, threads: Any) -> Any:
        """Records of `threads` now."""
        if order is not self._order or order.version != self._version:
            geometry = order.geometry
            if self._threads is None or self._geometry is not geometry:
                self._threads = (geometry.cta + geometry.first) * self.lanes + geometry.lane + 1
                self._geometry = geometry
            self._order, self._version = order, order.version
            self._codes = self._threads | (np.repeat(order.clock, geometry.per_cta) << THREAD_BITS)
        return self._codes if len(threads) == len(self._codes) else self._codes[threads]

    def table(self, kind: str) -> tuple[Any, Any]:
        """Records and sites of one kind of access (`w`, `r`, `a`)."""
        found = self.records.get(kind)
        if found is None:
            found = self.records[kind] = (np.zeros(self.count, np.int64), np.zeros(self.count, np.int32))
        return found

    def check(self, kind: str, order: Order, where: Any, mine: Any, threads: Any) -> Conflict | None:
        """Accesses recorded under `kind` at `where` that race with `threads`, whose records are `mine`."""
        if kind not in self.records:
            return None
        records, sites = self.records[kind]
        other = records[where]
        recent = other >= (order.oldest << THREAD_BITS) if self.local else other != 0
        if not recent.any():
            return None
        suspect = np.flatnonzero(recent & ((other ^ mine) & THREAD_MASK != 0))
        if not len(suspect):
            return None
        held = other[suspect]
        bad = self._unordered(order, held, threads[suspect])
        if not bad.any():
            return None
        positions = suspect[bad]
        return Conflict(kind, positions, held[bad], sites[where[positions]])

    def _unordered(self, order: Order, held: Any, threads: Any) -> Any:
        cta, lane = np.divmod((held & THREAD_MASK) - 1, self.lanes)
        found = order.unordered(cta, lane, held >> THREAD_BITS, threads)
        return np.where(held == SEVERAL_CTAS, True, found)

    def write(self, order: Order, where: Any, mine: Any, site: int) -> Conflict | None:
        """Record a write; conflicts inside the one instruction."""
        records, sites = self.table("w")
        records[where] = mine
        sites[where] = site
        back = records[where]
        if np.array_equal(back, mine):
            return None
        clash = np.flatnonzero((back ^ mine) & THREAD_MASK)
        return Conflict("w", clash, back[clash], np.full(len(clash), site)) if len(clash) else None

    def share(self, kind: str, order: Order, where: Any, mine: Any, threads: Any, site: int) -> None:
        """Record reads or atomic updates, which may come from several threads."""
        records, sites = self.table(kind)
        old = records[where]
        records[where] = mine
        sites[where] = site
        back = records[where]
        merge = np.flatnonzero((back != mine) | ((old != 0) & ((old ^ mine) & THREAD_MASK != 0)))
        if not len(merge):
            return
        self._merge(records, order, where[merge], old[merge], mine[merge], threads[merge])

    def _merge(self, records: Any, order: Order, where: Any, old: Any, mine: Any, threads: Any) -> None:
        """Several threads at one granule: keep what makes a later write race."""
        cta_mine = ((mine & THREAD_MASK) - 1) // self.lanes
        live = (old != 0) & ((old ^ mine) & THREAD_MASK != 0)
        live[live] = self._unordered(order, old[live], threads[live])
        cta_old = np.where(live, ((old & THREAD_MASK) - 1) // self.lanes, cta_mine)
        now = records[where]
        beside = ((now & THREAD_MASK) - 1) // self.lanes
        same_instruction = (now ^ mine) & THREAD_MASK != 0
        several = live | same_instruction
        across = (old == SEVERAL_CTAS) | (live & (cta_old != cta_mine)) | (same_instruction & (beside != cta_mine))
        group = (cta_mine * self.lanes + self.lanes) | (mine & ~THREAD_MASK)
        records[where[several & ~across]] = group[several & ~across]
        records[where[across]] = SEVERAL_CTAS

    def owners(self, records: Any) -> tuple[Any, Any]:
        """Ctas of the launch and numbers in them; -1 for several."""
        cta, lane = np.divmod((records & THREAD_MASK) - 1, self.lanes)
        across = records == SEVERAL_CTAS
        return np.where(across, -1, cta), np.where(across | (lane == self.lanes - 1), -1, lane)

    def who(self, record: int) -> tuple[int, int]:
        """Cta of the launch and number in it; -1 for several."""
        cta, lane = self.owners(np.asarray([record], np.int64))
        return int(cta[0]), int(lane[0])
