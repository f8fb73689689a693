"""What the simulator leaves out, counted: it grows only where somebody says why. What a whole warp must do together."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx_cuda.ptx.coverage import LEFT_OUT, accuracy_of, coverage
from tirx_cuda.ptx.forms import Form, forms_of, rows_of
from tirx_cuda.ptx.names import FAMILIES

from .published import PUBLISHED, matching
from .test_compiled import text_of
from .test_meanings import forms

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


# ---- `.aligned` -----------------------------------------------------------------------------------------------------


def _aligned_forms() -> list[Form]:
    """One form for each meaning of an instruction that a whole warp makes."""
    found: dict[Any, Form] = {}
    for form in forms(1):
        words = form.mnemonic.split(".")
        if "aligned" in words or (words[0] == "bar" and "warp" not in words):
            found.setdefault((form.function, form.row.family, words[1]), form)
    return list(found.values())


@pytest.mark.parametrize("form", _aligned_forms(), ids=lambda form: form.mnemonic)
def test_half_a_warp_is_found(form: Form) -> None:
    """The other half goes on."""
    text = text_of([form]).replace("    T.ptx[", "    if tx % 2 == 0:\n        T.ptx[")
    target = f"cuda -arch={max(form.requires.available)}"
    report = tirx.simulate(Tx.from_source(text), np.zeros(4096, np.uint8), np.zeros(4096, np.uint32), target=target)
    said = str(report)
    assert "not all lanes of the warp take part" in said or "divergent barrier" in said or "waits for ever" in said


@pytest.mark.parametrize("barrier", ["bar.cta.sync", "barrier.cta.sync", "barrier.cta.sync.aligned"])
def test_barriers_of_some_threads(barrier: str) -> None:
    """Half of two warps are as many threads as one warp; only barriers that need not be aligned take them."""
    text = f"""\
@T.prim_func
def kernel(O: T.Buffer((64,), "uint32")):
    T.device_entry()
    tx = T.thread_id([64])
    if tx % 2 == 0:
        T.ptx["{barrier}"](1, 32)
    O[tx] = T.uint32(tx)
"""
    report = tirx.simulate(Tx.from_source(text), np.zeros(64, np.uint32), target="cuda -arch=sm_90a")
    assert report.verdict == ("clean" if barrier == "barrier.cta.sync" else "error"), str(report)


def test_the_elected_thread_is_known() -> None:
    assert forms_of("elect.sync")[0].effect.elects == "warp"
