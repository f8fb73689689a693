"""Rows of checks that the verifier runs for a target kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..ir import IRModule
from ..support.errors import Diagnostic

__all__ = ["Check", "check_check"]

STAGES = ("script", "bound", "lowered")


class Check:
    """A row of hook `tirx_checks`: for target `kind` at `stage` (`script`: as written, `bound`: target known, `lowered`: before
    source), `run(module, target)` reads the module and answers what is wrong."""

    __slots__ = ("kind", "name", "run", "stage")

    def __init__(self, name: str, kind: str, stage: str, run: Callable[[IRModule, Any], Iterable[Diagnostic]]) -> None:
        self.name = name
        self.kind = kind
        self.stage = stage
        self.run = run


def check_check(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Check):
        raise ValueError(f"expected a Check, got {type(row).__name__}")
    if row.stage not in STAGES:
        raise ValueError(f"check {row.name}: stage {row.stage!r} is none of {', '.join(STAGES)}")
