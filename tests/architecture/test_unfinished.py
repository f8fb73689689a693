"""What is not there is absent: no stubs, no notes to come back."""

from __future__ import annotations

import re

import pytest

from tests.architecture.tree import PACKAGES, Module, modules

UNFINISHED = re.compile(
    r"NotImplementedError|\b(?:TODO|FIXME|XXX|HACK)\b|(?i:#\s*(?:todo|fixme)|not (?:yet )?implemented|coming soon)"
)


def unfinished(module: Module) -> list[str]:
    """Every sign of something that was left for later."""
    return [
        f"{module.where}:{number}: {match.group()}"
        for number, line in enumerate(module.text.splitlines(), 1)
        if (match := UNFINISHED.search(line))
    ]


@pytest.mark.parametrize("package", PACKAGES)
def test_nothing_is_left_for_later(package: str) -> None:
    problems = [problem for module in modules(package) for problem in unfinished(module)]
    assert not problems, "finish it or take it out:\n" + "\n".join(problems)


@pytest.mark.parametrize("line", ["raise NotImplementedError", "# TODO: rest", "x = 1  # fixme", "not yet implemented"])
def test_a_stub_is_noticed(line: str) -> None:
    assert unfinished(Module("tirx.x", PACKAGES["tirx"] / "x.py", line))
