"""Whether a backend holds what core and other backends count on: the suite behind `tirx conform`.

    print(check_backend("acme"))                       # in this process
    report = conform("acme", samples=["kernels.py"])   # under pytest, as `tirx conform` does
    test_conformance = conformance_tests("acme")       # one line in a test file of the backend's own

Nothing here is a plugin of pytest, and importing it changes nothing in other people's runs.
"""

from __future__ import annotations

from .check import ConformanceCheck, Gap, Outcome
from .report import ConformanceReport
from .run import ALL, check_backend
from .sample import Sample, load_samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session import conform
    from .suite import conformance_tests

__all__ = [
    "ALL", "ConformanceCheck", "ConformanceReport", "Gap", "Outcome", "Sample", "check_backend", "conform",
    "conformance_tests", "load_samples",
]  # fmt: skip

_WITH_PYTEST = {"conform": "session", "conformance_tests": "suite"}


def __getattr__(name: str) -> object:
    """What needs pytest is imported when it is asked for: it comes with the extra `tirx-core[testing]`."""
    if name not in _WITH_PYTEST:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_WITH_PYTEST[name]}", __name__), name)
