"""How far the simulator goes: for each family how many rows it computes and how exactly, and what is left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .forms import rows_of
from .names import FAMILIES
from .syntax import Row

__all__ = ["LEFT_OUT", "Coverage", "accuracy_of", "coverage"]

LEFT_OUT = {
    "cp": "copies that report which of their bytes are valid: the manual does not say what is reported",
    "fabric": "several devices through a fabric: its objects come from a driver, and no kernel can say what they are",
    "tcgen05": "`.ashift`, `tcgen05.shift`, tables of `decompress::lut::b` and copies of `4x256b`: which rows and bits go where"
    " stands only in the manual's figures",
}


class Coverage(NamedTuple):
    """A family: rows by accuracy, rows without a meaning, and rows that lack one for some of their words."""

    family: str
    rows: int
    accuracies: dict[str, int]
    without: int
    partly: int

    @property
    def reason(self) -> str:
        """Why something is left out; empty where nothing is."""
        return LEFT_OUT.get(self.family, "")


def accuracy_of(row: Row) -> str:
    """How exactly a row is simulated: `exact`, `ulp(n)`, `model`; empty where it is not. Leaving a thread needs no function."""
    notes = row.notes
    if notes.get("meaning", "none") == "none" and notes.get("effect") != "control":
        return ""
    return notes.get("accuracy", "exact")


def coverage() -> Iterator[Coverage]:
    """All families, in the order of their names."""
    for family in sorted(FAMILIES):
        rows = rows_of(family)
        found = Counter(map(accuracy_of, rows))
        without = found.pop("", 0)
        partly = sum(bool(accuracy_of(row)) and _lacks(row) for row in rows)
        yield Coverage(family, len(rows), dict(sorted(found.items())), without, partly)


def _lacks(row: Row) -> bool:
    return any(special.notes.get("meaning") == "none" for special in row.specials)
