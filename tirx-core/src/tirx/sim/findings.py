"""Findings of a run, and how they are made for threads of a chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..support.span import Span
from .geometry import Geometry
from .numeric import ALL
from .pool import Site
from .report import Finding, Report

__all__ = ["SHOWN", "Findings", "Reporter"]

MEETING_KINDS = frozenset({"absent_lane", "divergent_barrier", "mismatched_barrier"})  # what check `barriers` finds
SHOWN = 4


class Findings:
    """Findings of one run, one for each kind, source line and buffer."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._known: dict[Any, Finding] = {}

    def add(self, found: Finding) -> Finding:
        """Add a finding, or count it as another case of one that is known."""
        place = (found.span.path, found.span.line) if found.span is not None else None
        key = (found.kind, place, found.buffer)
        old = self._known.get(key)
        if old is not None:
            old.count += found.count
            return old
        self._known[key] = found
        self.report.findings.append(found)
        return found


class Reporter:
    """Makes findings of one chunk. `bucket` is the set of threads that runs."""

    def __init__(self, geometry: Geometry, checks: frozenset[str], findings: Findings, sites: list[Site]) -> None:
        self.geometry = geometry
        self.findings = findings
        self.sites = sites
        self.barriers = "barriers" in checks
        self.bucket: Any = ALL
        self.everyone = np.arange(geometry.size)

    def _array(self, threads: Any) -> Any:
        return self.everyone if threads is ALL else threads

    def describe(self, thread: int) -> str:
        """A thread of the chunk as people name it."""
        return self.geometry.describe(int(thread))

    def _name(self, cta: int, lane: int) -> str:
        slot = cta - self.geometry.first
        number = self.geometry.cta_number(slot) if 0 <= slot < self.geometry.ctas else cta
        return f"thread {lane} of cta {number}" if lane >= 0 else f"another thread of cta {number}"

    def report(
        self,
        kind: str,
        message: str,
        site: Site,
        threads: Any,
        *,
        other: Site | None = None,
        notes: Any = (),
        indices: Any = (),
    ) -> None:
        """A finding at a site, for threads of the chunk."""
        chosen = self._array(threads)
        span = other.span if other is not None else None
        self._add(kind, message, site.span, chosen, buffer=site.buffer, other=span, notes=notes, indices=indices)

    def report_at(self, kind: str, message: str, span: Span | None, threads: Any, notes: Any = ()) -> None:
        """A finding at a place that is no access."""
        self._add(kind, message, span, self._array(threads), notes=notes)

    def _add(self, kind: str, message: str, span: Span | None, threads: Any, *, notes: Any = (), **more: Any) -> None:
        if kind in MEETING_KINDS and not self.barriers:
            return
        named = [self.describe(t) for t in threads[:SHOWN]]
        listed = list(notes)
        if kind != "deadlock" and len(threads):
            listed.insert(0, self.geometry.describe_all(threads, SHOWN))
        self.findings.add(Finding(kind, message, span, threads=named, notes=listed, **more))

    def unmodelled(self, what: str) -> None:
        """The verdict becomes `incomplete`."""
        if what not in self.findings.report.unmodelled:
            self.findings.report.unmodelled.append(what)

    def print(self, text: str) -> None:
        """A line that the kernel printed."""
        self.findings.report.output.append(text)
