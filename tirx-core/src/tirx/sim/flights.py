"""Checks of asynchronous operations: accesses of what one still reads or writes, registers included, and fences between two paths.

`watch.py` remembers what is going on; here it is held against what threads do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .findings import Findings, Reporter
from .geometry import Geometry
from .memory import Arena, TypedView
from .numeric import pick
from .pool import Site
from .watch import GRANULE, Paths, granules

__all__ = ["WORDS", "FlightChecker"]

WORDS = {"w": "writes", "r": "reads", "a": "updates atomically"}


class FlightChecker(Reporter):
    """See the module. The launch gives `places` (names of buffers), `paths` (if a row needs fences) and `pending` (what is to come)."""

    def __init__(self, geometry: Geometry, checks: frozenset[str], findings: Findings, sites: list[Site]) -> None:
        super().__init__(geometry, checks, findings, sites)
        self.places: Any = None
        self.paths: Paths | None = None
        self.pending: Any = None
        self.settling = ""  # while promises are kept: by which path they write, `apart` or `ordinary`

    def _in_flight(self, site: Site, view: TypedView, index: Any, threads: Any, kind: str) -> None:
        """An access against what is still going on there; ordinary writes are remembered for those who do not see them."""
        arena, size = view.arena, view.dtype.itemsize
        if arena.watches is not None and not self.settling:
            self.watched(site, arena, index * size + view.start, size, threads, kind)
        if arena.proxy is None or kind == "r" or self.paths is None:
            return
        places = granules(index * size + view.start, size)
        if self.settling == "apart":
            arena.proxy.writer[places] = -1
            return
        chosen = self._array(threads)
        self.paths.written(arena.proxy, places, np.repeat(chosen, len(places) // max(len(chosen), 1)), site.number)

    def watched(self, site: Site, arena: Arena, start: Any, size: int, threads: Any, kind: str) -> None:
        """Report an access of `size` bytes from each byte of `start` on that meets an operation in flight."""
        places = granules(start, size)
        found = arena.watches.disturbed(places, kind)
        if found is None:
            return
        hit, watch = found
        chosen = self._array(threads)
        bad = chosen[hit // max(len(places) // max(len(chosen), 1), 1)]
        words = WORDS["w" if kind == "u" else kind]
        name = site.buffer or self._named(arena, int(places[hit[0]]) * GRANULE)
        text = (
            f"{self.describe(bad[0])} {words} an element of `{name}` while `{watch.what}` may still be {watch.doing} it"
        )
        other = watch.site if watch.site is not site else None
        self.report("in_flight", text, site, np.unique(bad), other=other, notes=watch.notes)

    def _named(self, arena: Arena, byte: int) -> str:
        """The buffer at a byte of a memory, or else the memory."""
        return self.places.name(arena.name, int(byte) % max(arena.stride, 1)) or arena.name

    def unfenced(self, site: Site, arena: Arena, places: Any, threads: Any, what: str) -> None:
        """Report ordinary writes that an operation by the other path may not see."""
        if self.paths is None:
            return
        bad = self.paths.unfenced(arena.proxy, places)
        if not len(bad):
            return
        by = self.sites[int(arena.proxy.site[places[bad[0]]])]
        writer = self.describe(arena.proxy.writer[places[bad[0]]])
        name = by.buffer or self._named(arena, int(places[bad[0]]) * GRANULE)
        text = f"`{what}` may not see what {writer} wrote to `{name}`: no proxy fence stands between"
        self.report("proxy_fence", text, site, np.unique(threads), other=by)

    def settled(self, site: Site, held: Any, active: Any, queue: str, kind: str) -> None:
        """Registers that are read (`r`) or written (`w`) while an operation may still use them; `held` are groups of `queue`."""
        held = np.asarray(held)
        threads = self._array(pick(self.bucket, active))
        done = self.pending.done(queue)[threads]
        busy = (held if kind == "r" else np.abs(held)) > done
        busy = busy if busy.ndim < 2 else busy.any(axis=0)
        if busy.any():
            words = "is read before it is there" if kind == "r" else "is changed while an operation may still use it"
            self.report(
                "in_flight", f"`{site.buffer}` {words}", site, threads[busy], notes=[f"`{queue}` must come before"]
            )

    def handed(self, site: Site, touched: Any, active: Any, queue: str) -> None:
        """Registers that an operation takes have been handed over, by the fence `queue`, since they were last used."""
        threads = self._array(pick(self.bucket, active))
        fences = self.pending.fences(queue)[threads]
        late = np.asarray(touched) >= fences
        late = late if late.ndim < 2 else late.any(axis=0)
        bad = late | (fences == 0)
        if bad.any():
            when = "before any fence" if (fences[bad] == 0).all() else "without a fence since it was last used"
            text = f"`{site.buffer}` is handed to an operation {when}"
            self.report("register_fence", text, site, threads[bad], notes=[f"`{queue}` must come before"])
