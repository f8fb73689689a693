"""Measurements: requests, bytes, 32-byte sectors of global memory, turns of the banks of shared memory, per source line.

A request is what the threads of one warp ask for at once; of vectors wider than a word, as many threads as fit in 128 bytes.
Threads of a warp mostly access the same pattern: then one warp is measured and the others counted. Requests and bytes are
exact; sectors and turns of an operation that runs often are measured in its first runs and then in every eighth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .geometry import Geometry
from .memory import TypedView
from .numeric import ALL
from .pool import Site
from .report import LineMetrics

__all__ = ["Meter"]

SECTOR = 32
BANKS = 32
BANK_BYTES = 4
REQUEST_BYTES = 128
ALWAYS = 8  # runs of an operation that are all measured
SAMPLE = 8  # of those after, one in so many


class _Entry:
    """What an operation was last measured at."""

    __slots__ = ("count", "line", "passes", "requests", "runs", "sectors")

    def __init__(self, line: LineMetrics) -> None:
        self.line = line
        self.runs = self.count = self.requests = self.sectors = self.passes = 0


class Meter:
    """Counts of one launch."""

    def __init__(self) -> None:
        self.lines: dict[tuple[Any, ...], LineMetrics] = {}
        self._by_site: dict[tuple[int, bool], _Entry] = {}
        self._patterns: dict[Any, int] = {}

    def note(self, site: Site, view: TypedView, index: Any, threads: Any, geometry: Geometry, store: bool) -> None:
        """An access of `threads` at element `index`, `(n,)` or `(n, lanes)`."""
        entry = self._by_site.get((id(site), store)) or self._entry(site, view, store)
        line = entry.line
        first = index if index.ndim == 1 else index[:, 0]
        size = view.dtype.itemsize * (1 if index.ndim == 1 else index.shape[1])
        line.bytes += size * len(first)
        entry.runs += 1
        if entry.runs > ALWAYS and entry.runs % SAMPLE and entry.count == len(first):
            line.requests += entry.requests
            line.sectors += entry.sectors
            line.passes += entry.passes
            return
        rows = self._rows(first, threads, geometry, size)
        entry.count, entry.requests = len(first), len(rows)
        line.requests += len(rows)
        stride = view.dtype.itemsize
        if view.arena.kind == "global":
            entry.sectors = self._count(rows, stride, size, view.arena.base + view.start, _sectors, "sectors")
            line.sectors += entry.sectors
        elif view.arena.kind == "shared":
            entry.passes = self._count(rows, stride, size, view.start, _passes, "passes")
            line.passes += entry.passes

    def _entry(self, site: Site, view: TypedView, store: bool) -> _Entry:
        place = (site.span.path, site.span.line) if site.span is not None else (site.number,)
        key = (*place, site.buffer or view.arena.name, store)
        found = self.lines.get(key)
        if found is None:
            found = self.lines[key] = LineMetrics(site.span, site.buffer or view.arena.name, view.arena.kind, store)
        entry = self._by_site[id(site), store] = _Entry(found)
        return entry

    def _rows(self, first: Any, threads: Any, geometry: Geometry, size: int) -> Any:
        """First elements, one row per request; lanes that do not take part repeat one that does."""
        width = min(geometry.widths.threads_in("warp"), geometry.per_cta, max(1, REQUEST_BYTES // size))
        if threads is ALL and geometry.per_cta % width == 0:
            return first.reshape(-1, width)
        chosen = np.arange(geometry.size) if threads is ALL else threads
        cta, lane = np.divmod(chosen, geometry.per_cta)
        group = cta * (-(-geometry.per_cta // width)) + lane // width
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        lengths = np.diff(starts, append=len(group))
        rows = np.repeat(first[starts][:, None], width, axis=1)
        rows[np.repeat(np.arange(len(starts)), lengths), np.arange(len(group)) - np.repeat(starts, lengths)] = first
        return rows

    def _count(self, rows: Any, stride: int, size: int, base: int, rule: Any, name: str) -> int:
        relative = rows - rows[:, :1]
        if not (relative == relative[0]).all():
            return int(rule(rows * stride + base, size).sum())
        offsets = (rows[:, 0] * stride + base) % SECTOR if name == "sectors" else np.zeros(1, np.int64)
        start = int(offsets[0])
        if not (offsets == start).all():
            return int(rule(rows * stride + base, size).sum())
        key = (name, start, size, stride, relative[0].tobytes())
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = int(rule((relative[:1] * stride) + start, size)[0])
        return found * len(rows)


def _sectors(addresses: Any, size: int) -> Any:
    """Distinct sectors per row."""
    parts = [addresses // SECTOR] + ([(addresses + size - 1) // SECTOR] if size > 1 else [])
    touched = np.sort(np.concatenate(parts, axis=1), axis=1)
    return 1 + np.count_nonzero(np.diff(touched, axis=1), axis=1)


def _passes(addresses: Any, size: int) -> Any:
    """Largest number of distinct words that one bank serves, per row."""
    words = addresses // BANK_BYTES
    if size > BANK_BYTES:
        words = (words[:, :, None] + np.arange(size // BANK_BYTES)).reshape(len(words), -1)
    words = np.sort(words, axis=1)
    new = np.ones(words.shape, bool)
    new[:, 1:] = words[:, 1:] != words[:, :-1]
    slot = np.arange(len(words))[:, None] * BANKS + words % BANKS
    counts = np.bincount(slot[new], minlength=len(words) * BANKS)
    return counts.reshape(len(words), BANKS).max(axis=1)
