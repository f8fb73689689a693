"""The simulator: runs lowered modules on NumPy, with checks."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; NumPy is only imported when something is simulated
if TYPE_CHECKING:
    from typing import Any

    from .executor import check_names, simulate_module
    from .report import Finding, LineMetrics, Report

__all__ = ["Finding", "LineMetrics", "Report", "check_names", "simulate_module"]

_LAZY = {
    "simulate_module": "executor",
    "check_names": "executor",
    "Report": "report",
    "Finding": "report",
    "LineMetrics": "report",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
