"""The checks as tests of pytest. It is run by `conform`, or by a test file of a backend's own:

from tirx.testing.conformance import conformance_tests

test_conformance = conformance_tests("acme", samples=["tests/kernels.py"])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from .check import ConformanceCheck
from .run import ALL, judge
from .subject import Subject

__all__ = ["conformance_tests"]


def conformance_tests(
    name: str, samples: Sequence[str | Path] = (), heard: Callable[[Any], None] | None = None
) -> Callable[..., None]:
    """A parametrised test, one case for each check; gaps are skips with their reasons. `heard` is told each outcome."""
    subject = Subject(name, samples)

    @pytest.mark.parametrize("check", ALL, ids=[item.name for item in ALL])
    def test_conformance(check: ConformanceCheck) -> None:
        outcome = judge(check, subject)
        if heard is not None:
            heard(outcome)
        if outcome.problems:
            pytest.fail(str(outcome), pytrace=False)
        if outcome.gaps:
            pytest.skip("; ".join(outcome.gaps))

    return test_conformance
