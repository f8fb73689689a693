"""Traced kernels: what each statement of the language builds, as the printer writes it, and that its text can be read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.script.builder import kernels
from tirx.testing import GoldenCase, assert_round_trip, read_cases, write_output

CASES = read_cases(*sorted((Path(__file__).parent / "traced").glob("*.txt")))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_builds(case: GoldenCase, request: pytest.FixtureRequest) -> None:
    output = kernels.script(kernels.run(case.text))
    if request.config.getoption("--update-golden"):
        write_output(case, output)
    else:
        assert output == case.expected


@pytest.mark.parametrize("case", CASES, ids=str)
def test_can_be_read_back(case: GoldenCase) -> None:
    assert_round_trip(kernels.run(case.text))
