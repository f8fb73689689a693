"""The report of a run: text for people, plain data for machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...backend import default_host
from .check import Outcome
from .subject import Subject

__all__ = ["ConformanceReport"]

_MARKS = {"passed": "+", "gap": "~", "failed": "-"}


class ConformanceReport:
    """What all checks said of one backend. `ok` is whether none failed; gaps are no failures."""

    def __init__(self, subject: Subject, outcomes: Sequence[Outcome]) -> None:
        self.backend = subject.name
        self.distribution = subject.candidate.distribution
        self.core = default_host().core_owner
        self.outcomes = tuple(outcomes)

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of checks that failed."""
        return tuple(item.check.name for item in self.outcomes if item.state == "failed")

    def __getitem__(self, name: str) -> Outcome:
        return next(item for item in self.outcomes if item.check.name == name)

    def count(self, state: str) -> int:
        """How many checks ended so: `passed`, `gap`, `failed`."""
        return sum(item.state == state for item in self.outcomes)

    def __str__(self) -> str:
        lines = [self._head()]
        for item in self.outcomes:
            first, *rest = str(item).splitlines()
            lines += [f"{_MARKS[item.state]} {first}", *(f"  {line}" for line in rest)]
        return "\n".join([*lines, self._tail()])

    def _head(self) -> str:
        return f"{self.backend} of {self.distribution}, with {self.core}"

    def _tail(self) -> str:
        failed = self.count("failed")
        verdict = (
            f"{failed} of {len(self.outcomes)} checks failed" if failed else f"all {len(self.outcomes)} checks hold"
        )
        return f"{verdict}; {self.count('gap')} with gaps"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "backend": self.backend,
            "distribution": self.distribution.name,
            "version": self.distribution.version,
            "core": self.core.version,
            "ok": self.ok,
            "counts": {state: self.count(state) for state in _MARKS},
            "checks": [item.as_dict() for item in self.outcomes],
        }
