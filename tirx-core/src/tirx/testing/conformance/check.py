"""What a check of the kit is: a name, what it proves, what to do when it fails, and a function that reads the subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .subject import Subject

__all__ = ["COMPILED", "LOADED", "SOUND", "ConformanceCheck", "Gap", "Outcome"]

LOADED = ("load.loads", "samples.read")
"""What must hold before there are rows to look at."""
SOUND = (
    *LOADED, "rows.places", "rows.kinds", "targets.kinds", "targets.capabilities", "targets.scope_model", "pipelines.declared",
    "simulator.declared",
)  # fmt: skip
"""What must hold before a kernel can be lowered at all."""
COMPILED = (*SOUND, "pipelines.stages")
"""And before anything can be said of what it becomes."""


class Gap(str):
    """Something that was not tried, with the reason; yielded by a check instead of a problem."""

    __slots__ = ()


class ConformanceCheck:
    """One thing that every backend must hold.

    `run(subject)` yields what is wrong, a line each, and a `Gap` for what could not be tried. `topic.name` names the check,
    `proves` completes "it holds that ...", `advice` says what to do when it fails. `after` are the checks without which this
    one has nothing to look at: where one of them fails it is a gap, so that one fault is told once.
    """

    __slots__ = ("advice", "after", "name", "proves", "run")

    def __init__(
        self,
        name: str,
        run: Callable[[Subject], Iterator[str]],
        proves: str,
        advice: str,
        *,
        after: Sequence[str] = LOADED,
    ) -> None:
        self.name = name
        self.run = run
        self.proves = proves
        self.advice = advice
        self.after = tuple(after)

    def __repr__(self) -> str:
        return f"<ConformanceCheck {self.name}>"


class Outcome:
    """What became of one check: `state` is `passed`, `failed` or `gap`; `problems` and `gaps` are lines of text.

    `held_up` is whether it was not run, because a check that it comes after failed.
    """

    __slots__ = ("check", "gaps", "held_up", "problems", "seconds")

    def __init__(
        self,
        check: ConformanceCheck,
        problems: list[str],
        gaps: list[str],
        seconds: float = 0.0,
        *,
        held_up: bool = False,
    ) -> None:
        self.check = check
        self.held_up = held_up
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
