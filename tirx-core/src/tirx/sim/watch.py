"""What asynchronous operations are still doing: places that they read or write until somebody waits, and registers likewise.

An ordinary access of a watched place is a fault, whatever value it would see. Places are granules of 4 bytes of a memory of ctas.

Beside it: memory that some operations reach by a path of their own. An ordinary write is seen there only behind a fence, of the
writer or of a thread that knows of the write.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .geometry import Geometry
from .order import Order

__all__ = ["GRANULE", "Paths", "Proxy", "Watch", "Watches", "granules"]

GRANULE = 4


def granules(start: Any, size: int) -> Any:
    """The granules of `size` bytes from each byte of `start` on, one after the other."""
    first = start // GRANULE
    if size <= GRANULE:
        return first.reshape(-1)
    return (first[..., None] + np.arange(size // GRANULE)).reshape(-1)


class Watch:
    """One operation's places. `kind` is `r`, `w`, or `u` for updates, which do not disturb each other.

    `what` names the operation and `until` what ends it, for messages. It belongs to group `group` of a queue of `thread`, or to a promise.
    """

    __slots__ = ("group", "kind", "number", "pieces", "site", "thread", "until", "what")

    def __init__(self, site: Any, kind: str, what: str, until: str, thread: int) -> None:
        self.site = site
        self.kind = kind
        self.what = what
        self.until = until
        self.thread = thread
        self.group = 0
        self.number = 0
        self.pieces: list[tuple[Watches, Any]] = []

    @property
    def doing(self) -> str:
        """What it may still do there, for messages."""
        return "reading" if self.kind == "r" else "writing"

    @property
    def notes(self) -> list[str]:
        """What to do about a clash with it, for messages."""
        return [f"{self.until} must come before"] if self.until else []

    def add(self, watches: Watches, places: Any) -> None:
        """Watch places of one memory."""
        watches.add(self, places)
        self.pieces.append((watches, places))

    def drop(self) -> None:
        """The operation is done."""
        for watches, places in self.pieces:
            watches.drop(self, places)
        self.pieces = []


class Watches:
    """The watched places of one memory."""

    def __init__(self, size: int) -> None:
        count = -(-size // GRANULE)
        self._counts = {kind: np.zeros(count, np.int32) for kind in "rw"}
        self._last = {kind: np.zeros(count, np.int32) for kind in "rw"}
        self._live: dict[int, tuple[Watch, Any]] = {}
        self._made = 0

    def add(self, watch: Watch, places: Any) -> None:
        """`places` are all different."""
        self._made += 1
        watch.number = self._made
        self._live[watch.number] = (watch, places)
        kind = "r" if watch.kind == "r" else "w"
        self._counts[kind][places] += 1
        self._last[kind][places] = watch.number

    def drop(self, watch: Watch, places: Any) -> None:
        """The watch is over."""
        if self._live.pop(watch.number, None) is not None:
            self._counts["r" if watch.kind == "r" else "w"][places] -= 1

    def disturbed(self, places: Any, kind: str) -> tuple[Any, Watch] | None:
        """Positions in `places` at which an access of this kind meets an operation, and the first such operation."""
        if not self._live:
            return None
        for other in "w" if kind == "r" else "wr":
            hit = np.flatnonzero(self._counts[other][places])
            if len(hit):
                watch = self._of(other, int(places[hit[0]]))
                if not (kind == "u" and watch.kind == "u"):
                    return hit, watch
        return None

    def _of(self, kind: str, place: int) -> Watch:
        found = self._live.get(int(self._last[kind][place]))
        if found is not None:
            return found[0]
        return next(w for w, places in self._live.values() if (w.kind == "r") == (kind == "r") and place in places)


class Proxy:
    """Who wrote each granule of one memory last in the ordinary way, and how often that thread had fenced by then."""

    def __init__(self, size: int) -> None:
        count = -(-size // GRANULE)
        self.writer = np.full(count, -1, np.int32)
        self.fences = np.zeros(count, np.int32)
        self.clock = np.zeros(count, np.int64)
        self.site = np.zeros(count, np.int32)


class Paths:
    """Fences between ordinary writes and the other path."""

    def __init__(self, geometry: Geometry, order: Order) -> None:
        self.geometry = geometry
        self.order = order
        self.fences = np.zeros(geometry.size, np.int32)
        self.covered = np.zeros((geometry.ctas, order.warps), np.int64)

    def fence(self, threads: Any) -> None:
        """`threads` fence: what they wrote, and what they know of, is seen by the other path."""
        self.fences[threads] += 1
        cta, order = self.geometry.cta[threads], self.order
        if order.fine:
            known = order.known[cta, self.geometry.lane[threads] // order.width]
        else:
            known = np.repeat((order.clock[cta] - 1)[:, None], order.warps, axis=1)
        np.maximum.at(self.covered, cta, known)

    def written(self, proxy: Proxy, places: Any, threads: Any, site: int) -> None:
        """An ordinary write."""
        proxy.writer[places], proxy.fences[places] = threads, self.fences[threads]
        proxy.clock[places], proxy.site[places] = self.order.clock[self.geometry.cta[threads]], site

    def unfenced(self, proxy: Proxy, places: Any) -> Any:
        """Positions in `places` that hold an ordinary write behind which no fence stands."""
        writer = proxy.writer[places]
        bad = np.flatnonzero((writer >= 0) & (self.fences[writer] == proxy.fences[places]))
        if not len(bad):
            return bad
        by, when = writer[bad], proxy.clock[places[bad]]
        seen = self.covered[self.geometry.cta[by], self.geometry.lane[by] // self.order.width]
        return bad[when > seen]
