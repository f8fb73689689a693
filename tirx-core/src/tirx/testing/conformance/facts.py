"""Constructs that no neutral kernel shows: what declares them must have what they are for, and what has it must declare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...backend import registry
from ...target import CONSTRUCTS, Target
from .check import ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS", "FACTS"]


def _prints(target: Target, host: str) -> bool:
    """A function with a format and any number of values."""
    return any(
        row.name.endswith(("print", "printf")) and row.variadic
        for row, owner in registry().entries("intrinsics")
        if owner.backend == host
    )


def _copies(target: Target, host: str) -> bool:
    """A way of its own to run the tile operation: core's neutral ones wait."""
    return any(
        row.operation == "copy_async" and row.kind == target.kind.name
        for row, owner in registry().entries("dispatch_variants")
        if owner.backend == host
    )


def _clusters(target: Target, host: str) -> bool:
    return "cluster" in target.scope_model()


FACTS: dict[str, tuple[Callable[[Target, str], bool], str]] = {
    "printf": (_prints, "an intrinsic called `print` or `printf` that takes any number of values"),
    "async_copy": (_copies, "a variant of the tile operation `copy_async`"),
    "cluster": (_clusters, "a level `cluster` of its scope model"),
}
"""Construct: how to find it, and what that is in words."""


def _declared(name: str) -> Callable[[Subject], Iterator[str]]:
    has, what = FACTS[name]

    def run(subject: Subject) -> Iterator[str]:
        for target in subject.targets:
            declared, found = name in target.capabilities.constructs, has(target, subject.host)
            if declared and not found:
                yield f"kind `{target.kind.name}` declares `{name}`, and does not have {what}"
            elif found and not declared:
                yield f"kind `{target.kind.name}` has {what}, and does not declare `{name}`"
            elif not declared:
                yield Gap(f"kind `{target.kind.name}` does not declare {CONSTRUCTS[name]}, and has none")

    return run


CHECKS = tuple(
    ConformanceCheck(
        f"construct.{name}",
        _declared(name),
        f"{CONSTRUCTS[name]} are declared where there are any, and only there",
        f"declare `{name}` in Capabilities where the kind has {what}",
    )
    for name, (_, what) in FACTS.items()
)
