"""Every row that has a meaning runs: whatever the meaning finds, it is a report and not an exception of Python."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx_cuda.ptx.forms import Form, made_forms, rows_of
from tirx_cuda.ptx.names import FAMILIES
from tirx_cuda.ptx.nearest import misplaced

from .test_compiled import text_of


def forms(seed: int) -> Iterator[Form]:
    """For each row, forms of one choice of modifiers."""
    choices = random.Random(seed)
    for family in FAMILIES:
        for row in rows_of(family):
            for _ in range(60):
                values = {
                    slot.name: choices.choice(slot.choices)
                    for slot in row.slots[1:]
                    if not (slot.optional and choices.random() < 0.5)
                }
                if misplaced(row, values) is None:
                    yield from (form for form in made_forms(row, values, 0) if form.meaning and form.requires.available)
                    break


@pytest.mark.slow
def test_every_row_with_a_meaning_runs() -> None:
    count = 0
    for form in forms(7):
        kernel = Tx.from_source(text_of([form]))
        target = f"cuda -arch={max(form.requires.available)}"
        tirx.simulate(kernel, np.zeros(4096, np.uint8), np.zeros(4096, np.uint32), target=target)
        count += 1
    assert count > 400
