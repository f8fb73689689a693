"""The faults of `faults.txt`, which says how they are written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tests.plugins.conformance.toys import Edit

TEXT = Path(__file__).with_name("faults.txt")
EDIT = re.compile(r"^<<< (?P<file>.*)\n(?P<old>(?:.*\n)*?)===\n(?P<new>(?:.*\n)*?)>>>$", re.MULTILINE)


class Fault(NamedTuple):
    """What is wrong, the check that must say so, a part of its message, the edits that make it so, and in which toy."""

    name: str
    check: str
    says: str
    toy: str
    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        return self.name


def read(block: str) -> Fault:
    """One fault from its text."""
    name, _, rest = block.partition("\n")
    fields = dict(re.findall(r"^(check|says|toy): (.*)$", rest.partition("<<<")[0], re.MULTILINE))
    edits = tuple(
        Edit(*(found[part].removesuffix("\n") for part in ("file", "old", "new"))) for found in EDIT.finditer(rest)
    )
    assert edits, name
    return Fault(name, fields["check"], fields["says"], fields.get("toy", "wavefront"), edits)


FAULTS = tuple(map(read, TEXT.read_text(encoding="utf-8").split("\n== ")[1:]))
