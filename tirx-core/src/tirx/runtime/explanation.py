"""What the compiler decided about a kernel, for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence

from ..support.errors import DispatchError
from ..tile.report import decision_data, decision_text
from ..transform.extensions import inserted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..target import Target
    from ..tile.dispatch import Decision
    from .executable import Executable
    from .launch_plan import LaunchPlan

__all__ = ["Explanation"]


class Explanation:
    """How each tile call was dispatched, what is launched, and whose parts were used.

    Where no variant fits a call there is no `executable`, and `error` says what the compiler would.
    """

    __slots__ = ("decisions", "error", "executable", "target")

    def __init__(
        self,
        target: Target,
        decisions: Sequence[Decision],
        executable: Executable | None = None,
        error: DispatchError | None = None,
    ) -> None:
        self.target = target
        self.decisions = tuple(decisions)
        self.executable = executable
        self.error = error

    def __str__(self) -> str:
        lines: list[str] = []
        if self.executable is not None:
            lines += [repr(self.executable), *(str(plan) for plan in self._launches())]
        if self.decisions:
            lines += ["tile operations:", *self._calls()]
        passes = self._passes()
        if passes:
            lines += [
                "passes of extensions:",
                *(f"  `{name}` of {owner}, at {anchor}" for name, owner, anchor in passes),
            ]
        if self.executable is not None:
            lines += ["used:", *(f"  {name} {version}" for name, version in self.executable.provenance)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        verdict = "" if self.error is None else ", error"
        return f"<Explanation for {self.target}: {len(self.decisions)} tile operations{verdict}>"

    def _repr_html_(self) -> str:
        """What notebooks show: a line for each tile call that opens, the launches, whose parts were used."""
        from ..support.html import folded, heading, panel, table  # only in notebooks

        parts = [heading(f"compiled for {self.target}:", "ok" if self.error is None else "error")]
        for item in self.decisions:
            first, _, rest = decision_text(item).partition("\n")
            parts.append(folded(first, rest) if rest else heading(first))
        parts += [panel("error", str(self.error))] if self.error is not None else []
        parts += [plan._repr_html_() for plan in self._launches()]
        if self._passes():
            parts.append(table(("pass of an extension", "of", "at"), self._passes()))
        if self.executable is not None:
            parts.append(table(("used", "version"), self.executable.provenance))
        return f"<div>{''.join(parts)}</div>"

    def _launches(self) -> list[LaunchPlan]:
        made = self.executable
        return [made[name].launch_plan for name in made.functions()] if made is not None else []

    def _passes(self) -> list[tuple[str, str, str]]:
        """Passes that extensions inserted, in the order in which they ran: name, distribution, anchor."""
        if self.executable is None:
            return []
        registry = self.executable.context.registry
        pipeline = registry.rows("pipelines")[self.target.kind.name]
        found = inserted((*pipeline.lower, *pipeline.prepare), registry)
        return [(row.step.name, f"{owner.distribution} {owner.version}", row.anchor) for row, owner in found]

    def _calls(self) -> list[str]:
        """The decisions, each indented; the function is named where it changes."""
        lines, function = [], ""
        several = len({item.function for item in self.decisions}) > 1
        for item in self.decisions:
            if several and item.function != function:
                function = item.function
                lines.append(f"  in {function}:")
            lines += [f"  {line}" for line in decision_text(item).splitlines()]
        return lines

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        made = self.executable
        return {
            "target": str(self.target),
            "verdict": "error" if self.error is not None else "ok",
            "message": str(self.error) if self.error is not None else "",
            "calls": [decision_data(item) for item in self.decisions],
            "launches": [step for plan in self._launches() for step in plan.to_json()],
            "passes": [
                {"pass": name, "distribution": owner, "anchor": anchor} for name, owner, anchor in self._passes()
            ],
            "used": dict(made.provenance) if made is not None else {},
        }
