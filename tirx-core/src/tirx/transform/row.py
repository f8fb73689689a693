"""Rows of checks that the verifier runs for a target kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..ir import IRModule
from ..support.errors import Diagnostic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Check", "check_check"]

STAGES = ("script", "bound", "lowered")


class Check:
    """A row of hook `tirx_checks`: `run(module, target)` reads a module for target `kind` and answers what is wrong.

    `stage` is when: `script` as written, `bound` with the target known, `lowered` before source.
    """

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
