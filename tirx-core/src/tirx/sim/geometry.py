"""The threads of a launch: which cta each belongs to, its launch indices, and which groups it forms with others.

Threads are numbered cta by cta; ctas in the order of their clusters, so that a chunk of ctas holds whole clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ..target import ScopeModel

__all__ = ["Geometry", "Widths"]

AXES = ("x", "y", "z")


class Widths:
    """Threads in one member of each level of a launch."""

    def __init__(
        self, model: ScopeModel, extents: Mapping[str, int], levels: Mapping[tuple[str, str], int | None]
    ) -> None:
        self.threads = prod(extents.get(f"thread.{axis}", 1) for axis in AXES)
        self.grid = tuple(extents.get(f"cta.{axis}", 1) for axis in AXES)
        self.cluster_shape = tuple(extents.get(f"cta_in_cluster.{axis}", 1) for axis in AXES)
        self.cluster = prod(self.cluster_shape)
        self.ctas = prod(self.grid)
        self.model = model
        self.levels = levels

    def threads_in(self, level: str) -> int:
        """Threads in one member of a level."""
        if level == "thread":
            return 1
        if level == "cta":
            return self.threads
        if level == "cluster":
            return self.threads * self.cluster
        if level == "kernel":
            return self.threads * self.ctas
        if level == "cta_pair":
            return self.threads * 2
        known = self.levels.get((level, "thread"))
        if known is None and level in self.model.names and "thread" in self.model.names:
            known = self.model.fixed_width(level, "thread")
        return known or self.threads


class Geometry:
    """Arrays over the threads of ctas `first` to `first + count` of a launch."""

    def __init__(self, widths: Widths, first: int, count: int) -> None:
        self.widths = widths
        self.first = first
        self.ctas = count
        self.per_cta = widths.threads
        self.size = count * widths.threads
        self._cache: dict[str, Any] = {}

    @property
    def cta(self) -> Any:
        """Per thread, the number of its cta in this chunk."""
        return self._cached("cta", lambda: np.repeat(np.arange(self.ctas), self.per_cta))

    @property
    def lane(self) -> Any:
        """Per thread, its number in the cta."""
        return self._cached("lane", lambda: np.tile(np.arange(self.per_cta), self.ctas))

    def axis(self, name: str, extents: Mapping[str, int]) -> Any:
        """Per thread, its index along a launch axis."""
        return self._cached("axis:" + name, lambda: self._axis(name, extents).astype(np.int32))

    def group(self, level: str) -> Any:
        """Per thread of this chunk, the number of its member of `level`."""
        width = self.widths.threads_in(level)
        if width <= self.per_cta:
            per_cta = -(-self.per_cta // width)
            return self._cached("group:" + level, lambda: self.cta * per_cta + self.lane // width)
        return self._cached("group:" + level, lambda: np.arange(self.size) // width)

    def within(self, level: str) -> Any:
        """Per thread, its number inside its member of `level`."""
        width = self.widths.threads_in(level)
        if width <= self.per_cta:
            return self._cached("within:" + level, lambda: self.lane % width)
        return self._cached("within:" + level, lambda: np.arange(self.size) % width)

    def describe(self, thread: int) -> str:
        """A thread as people name it: its cta and its number in it."""
        cta, lane = divmod(int(thread), self.per_cta)
        return f"thread {lane} of cta {self.cta_number(cta)}"

    def describe_all(self, threads: Any, most: int) -> str:
        """Threads as people name them, `threads 0-3, 8 of cta 0, thread 5 of cta 1 and 27 more`: at most `most` runs of neighbours."""
        threads = np.unique(threads)
        starts = np.flatnonzero((np.diff(threads, prepend=-2) != 1) | (threads % self.per_cta == 0))
        ends = np.append(starts[1:], len(threads))
        shown: dict[int, list[str]] = {}
        for start, end in zip(starts[:most], ends[:most], strict=True):
            cta, lane = divmod(int(threads[start]), self.per_cta)
            shown.setdefault(cta, []).append(f"{lane}-{lane + int(end - start) - 1}" if end - start > 1 else f"{lane}")
        rest = len(threads) - int(ends[min(most, len(ends)) - 1])
        named = [f"{_threads(runs)} of cta {self.cta_number(cta)}" for cta, runs in shown.items()]
        return ", ".join(named) + (f" and {rest} more" if rest else "")

    def cta_number(self, slot: int) -> Any:
        """The launch index of a cta of this chunk, `5` or `(1, 2, 0)`."""
        x, y, z = (int(part[slot]) for part in self._coordinates())
        return x if self.widths.grid[1:] == (1, 1) else (x, y, z)

    def _cached(self, name: str, make: Any) -> Any:
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = make()
            found.setflags(write=False)
        return found

    def _axis(self, name: str, extents: Mapping[str, int]) -> Any:
        level, _, axis = name.partition(".")
        position = AXES.index(axis) if axis in AXES else 0
        if level == "thread":
            shape = [extents.get(f"thread.{a}", 1) for a in AXES]
            return self.lane // prod(shape[:position]) % shape[position]
        cta = self._coordinates()[position][self.cta]
        size = self.widths.cluster_shape[position]
        if level == "cta":
            return cta
        if level == "cta_in_cluster":
            return cta % size
        if level == "cluster":
            return cta // size
        return np.zeros(self.size, np.int64)

    def _coordinates(self) -> Any:
        """x, y and z of the ctas of this chunk, cluster by cluster."""
        found = self._cache.get("coordinates")
        if found is None:
            numbers = np.arange(self.first, self.first + self.ctas)
            cluster, rank = np.divmod(numbers, self.widths.cluster)
            found, stride, inner = [], 1, 1
            for extent, size in zip(self.widths.grid, self.widths.cluster_shape, strict=True):
                clusters = max(1, extent // size)
                found.append(cluster // stride % clusters * size + rank // inner % size)
                stride, inner = stride * clusters, inner * size
            self._cache["coordinates"] = found
        return found


def _threads(runs: list[str]) -> str:
    return f"{'threads' if len(runs) > 1 or '-' in runs[0] else 'thread'} {', '.join(runs)}"
