"""What the simulator leaves out, counted: it grows only where somebody says why."""

from __future__ import annotations

from collections import Counter

from tirx_cuda.ptx.coverage import LEFT_OUT, accuracy_of, coverage
from tirx_cuda.ptx.forms import rows_of
from tirx_cuda.ptx.names import FAMILIES

from .published import PUBLISHED, matching

WITHOUT = {"fabric": 11, "tcgen05": 1}  # rows
PARTLY = {"cp": 4, "tcgen05": 13}  # rows of which some words have no meaning
UNKNOWN = {"fabric": 23, "tcgen05": 29, "cp": 3}  # of the published forms


def test_rows_without_a_meaning() -> None:
    found = list(coverage())
    assert {one.family: one.without for one in found if one.without} == WITHOUT
    assert {one.family: one.partly for one in found if one.partly} == PARTLY
    assert {one.family for one in found if one.without or one.partly} == set(LEFT_OUT)
    assert all(sum(one.accuracies.values()) + one.without == one.rows for one in found)


def test_published_forms_without_a_meaning() -> None:
    forms = [form for form in map(matching, PUBLISHED) if form is not None]
    lacking = [form for form in forms if form.function is None and form.effect.kind != "control"]
    assert len(forms) == len(PUBLISHED)
    assert Counter(form.row.family for form in lacking) == UNKNOWN


def test_accuracies_are_known_words() -> None:
    said = {accuracy_of(row) for family in FAMILIES for row in rows_of(family)}
    assert said == {"", "exact", "model", "ulp(1)", "ulp(2)"}
    special = {s.notes.get("accuracy", "exact") for family in FAMILIES for row in rows_of(family) for s in row.specials}
    assert special <= {"exact", "model"}
