"""Mistakes in traced kernels: the whole message, at the author's line."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.core.script.builder import kernels
from tirx.testing import GoldenCase, read_cases, write_output

CASES = read_cases(*sorted((Path(__file__).parent / "mistakes").glob("*.txt")))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message(case: GoldenCase, request: pytest.FixtureRequest) -> None:
    output = kernels.message(case.text)
    if request.config.getoption("--update-golden"):
        write_output(case, output)
    elif sys.version_info < (3, 11):
        assert without_columns(output) == without_columns(case.expected)
    else:
        assert output == case.expected


@pytest.mark.parametrize("case", CASES, ids=str)
def test_is_placed(case: GoldenCase) -> None:
    assert re.match(r"kernel\.py:\d+(:\d+)?: error: ", case.expected)


def without_columns(text: str) -> str:
    """The message without columns and carets, which Python 3.10 does not know."""
    text = re.sub(r"(kernel\.py:\d+):\d+", r"\1", text)
    return re.sub(r"\n *\| *\^+", "", text)
