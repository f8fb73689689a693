"""What a check of the kit is: a name, what it proves, what to do when it fails, and a function that reads the subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .subject import Subject

__all__ = ["ConformanceCheck", "Gap", "Outcome"]


class Gap(str):
    """Something that was not tried, with the reason; yielded by a check instead of a problem."""

    __slots__ = ()


class ConformanceCheck:
    """One thing that every backend must hold.

    `run(subject)` yields what is wrong, a line each, and a `Gap` for what could not be tried. `topic.name` names the check,
    `proves` completes "it holds that ...", `advice` says what to do when it fails. `loads` is False for checks that look at
    the backend without loading it into this process.
    """

    __slots__ = ("advice", "loads", "name", "proves", "run")

    def __init__(
        self, name: str, run: Callable[[Subject], Iterator[str]], proves: str, advice: str, *, loads: bool = True
    ) -> None:
        self.name = name
        self.run = run
        self.proves = proves
        self.advice = advice
        self.loads = loads

    def __repr__(self) -> str:
        return f"<ConformanceCheck {self.name}>"


class Outcome:
    """What became of one check: `state` is `passed`, `failed` or `gap`; `problems` and `gaps` are lines of text."""

    __slots__ = ("check", "gaps", "problems", "seconds")

    def __init__(self, check: ConformanceCheck, problems: list[str], gaps: list[str], seconds: float = 0.0) -> None:
        self.check = check
        self.problems = problems
        self.gaps = gaps
        self.seconds = seconds

    @property
    def state(self) -> str:
        """`failed` with a problem, `gap` where something was left out, else `passed`."""
        return "failed" if self.problems else "gap" if self.gaps else "passed"

    def __str__(self) -> str:
        lines = [f"{self.check.name}: {self.state}", *(f"  {line}" for line in self.problems)]
        if self.problems:
            lines += [f"  it must hold that {self.check.proves}", f"  what to do: {self.check.advice}"]
        return "\n".join([*lines, *(f"  gap: {line}" for line in self.gaps)])

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "name": self.check.name,
            "state": self.state,
            "proves": self.check.proves,
            "problems": list(self.problems),
            "gaps": [str(gap) for gap in self.gaps],
            "advice": self.check.advice if self.problems else "",
            "seconds": round(self.seconds, 3),
        }
