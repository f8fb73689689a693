"""The launch plan: what a host function will launch, as plain data for people and machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ir import Expr, IntImm, Launch, PrimFunc, walk

__all__ = ["LaunchPlan", "LaunchStep", "plan_of"]


class LaunchStep:
    """One launch: `kernel`, argument names, `geometry` (axis -> extent), `resources`, `flags`.

    Values that only the arguments decide are text. Geometry may be empty; only the backend's device interprets it.
    """

    __slots__ = ("arguments", "flags", "geometry", "kernel", "resources")

    def __init__(
        self,
        kernel: str,
        arguments: Sequence[str],
        geometry: Mapping[str, int | str],
        resources: Mapping[str, int | str],
        flags: Sequence[str],
    ) -> None:
        self.kernel = kernel
        self.arguments = tuple(arguments)
        self.geometry = dict(geometry)
        self.resources = dict(resources)
        self.flags = tuple(flags)

    def to_json(self) -> dict[str, Any]:
        """The step as plain data."""
        return {
            "kernel": self.kernel,
            "arguments": list(self.arguments),
            "geometry": self.geometry,
            "resources": self.resources,
            "flags": list(self.flags),
        }

    def __str__(self) -> str:
        lines = [f"{self.kernel}({', '.join(self.arguments)})"]
        if self.geometry:
            lines.append(f"  geometry   {_pairs(self.geometry)}")
        if self.resources:
            lines.append(f"  resources  {_pairs(self.resources)}")
        if self.flags:
            lines.append("  flags      " + "  ".join(self.flags))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<LaunchStep {self.kernel}>"


class LaunchPlan(tuple[LaunchStep, ...]):
    """The launches of one host function, in order."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(str(step) for step in self)

    def __repr__(self) -> str:
        return f"<LaunchPlan of {len(self)}: {', '.join(step.kernel for step in self)}>"

    def to_json(self) -> list[dict[str, Any]]:
        """The plan as plain data."""
        return [step.to_json() for step in self]

    def _repr_html_(self) -> str:
        """What notebooks show: a launch a line."""
        from ..support.html import table  # only in notebooks

        rows = [
            (
                step.kernel,
                ", ".join(step.arguments),
                _pairs(step.geometry),
                _pairs(step.resources),
                " ".join(step.flags),
            )
            for step in self
        ]
        return table(("kernel", "arguments", "geometry", "resources", "flags"), rows)


def _pairs(values: Mapping[str, int | str]) -> str:
    return "  ".join(f"{name}={value}" for name, value in values.items())


def plan_of(host: PrimFunc) -> LaunchPlan:
    """The plan of one host function of a lowered module."""
    return LaunchPlan(_step(node) for node in walk(host.body) if isinstance(node, Launch))


def _step(node: Launch) -> LaunchStep:
    arguments = [getattr(arg, "name", None) or arg.script() for arg in node.args]
    geometry = {axis: _value(extent) for axis, extent in zip(node.axes, node.extents, strict=True)}
    resources = {name: _value(value) for name, value in zip(node.resources, node.resource_values, strict=True)}
    return LaunchStep(node.kernel, arguments, geometry, resources, node.flags)


def _value(expr: Expr) -> int | str:
    return expr.value if isinstance(expr, IntImm) else expr.script()
