"""The simulator: runs lowered modules on NumPy, with checks."""

from __future__ import annotations

from ..support.lazy import lazy_names

TYPE_CHECKING = False  # type checkers take it as true; NumPy is only imported when something is simulated
if TYPE_CHECKING:
    from .executor import check_names, simulate_module
    from .report import Finding, LineMetrics, Report

__all__ = ["Finding", "LineMetrics", "Report", "check_names", "simulate_module"]

_PLACES = {
    **dict.fromkeys(("check_names", "simulate_module"), "executor"),
    **dict.fromkeys(("Finding", "LineMetrics", "Report"), "report"),
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
