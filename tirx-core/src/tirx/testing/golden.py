"""Golden cases: a text file holds many small cases, each a name, an input and the expected output.

== name of the case
<input>
-- output
<expected output>
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

__all__ = ["GoldenCase", "read_cases", "write_output"]

_HEAD = "== "
_OUTPUT = "-- output"


class GoldenCase(NamedTuple):
    """One case of `path`."""

    path: Path
    name: str
    text: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path.stem}-{self.name}"


def read_cases(*paths: Path) -> list[GoldenCase]:
    """The cases of several files, in order."""
    return [case for path in paths for case in _cases(path)]


def _cases(path: Path) -> list[GoldenCase]:
    found = []
    for block in ("\n" + path.read_text()).split("\n" + _HEAD)[1:]:
        name, _, body = block.partition("\n")
        text, _, expected = body.partition(f"\n{_OUTPUT}\n")
        found.append(GoldenCase(path, name.strip(), text.strip("\n") + "\n", expected.strip("\n")))
    return found


def write_output(case: GoldenCase, output: str) -> None:
    """Replace the expected output of `case` in its file."""
    blocks = []
    for item in _cases(case.path):
        expected = output.strip("\n") if item.name == case.name else item.expected
        blocks.append(f"{_HEAD}{item.name}\n{item.text}{_OUTPUT}\n{expected}\n")
    case.path.write_text("\n".join(blocks))
