"""The tables against the list of forms that assemble, and against themselves."""

from __future__ import annotations

import importlib
import random
from pathlib import Path

import pytest

import tirx_cuda.ptx.tables
from tirx_cuda.ptx.forms import Form, forms_of, made_forms, rows_of
from tirx_cuda.ptx.names import ALIASES, FAMILIES
from tirx_cuda.ptx.nearest import misplaced
from tirx_cuda.ptx.syntax import Row, parse_table

from .assembler import accepted, find_ptxas, line_of
from .published import ARCHS, PUBLISHED, matching

needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="the wheel nvidia-cuda-nvcc brings ptxas")


def test_every_published_form_exists_with_its_operands() -> None:
    assert [row.form for row in PUBLISHED if matching(row) is None] == []


def test_every_published_form_has_its_architectures() -> None:
    wrong = []
    for row in PUBLISHED:
        form = matching(row)
        assert form is not None
        assert form.requires is not None
        ours = tuple(arch for arch in ARCHS if arch in form.requires.available)
        if ours != row.archs:
            wrong.append((row.form, ours, row.archs))
    assert wrong == []


def test_the_index_of_families_is_that_of_the_tables() -> None:
    folder = Path(tirx_cuda.ptx.tables.__file__).parent
    found = {
        row.family: path.stem
        for path in sorted(folder.glob("*.txt"))
        for row in parse_table(path.stem, path.read_text())
    }
    assert found == FAMILIES
    assert {text.split(".")[0] for text in ALIASES.values()} <= set(FAMILIES)


def _all_rows() -> list[Row]:
    return [row for family in FAMILIES for row in rows_of(family)]


def test_every_row_says_where_the_manual_describes_it() -> None:
    assert [(row.table, row.line) for row in _all_rows() if not (row.section[0].isdigit() and row.title)] == []


def test_every_meaning_can_be_loaded() -> None:
    named = {note.replace(".", ":") for row in _all_rows() for note in _meanings(row)}
    for place in named:
        module, _, function = place.partition(":")
        assert callable(getattr(importlib.import_module(f"tirx_cuda.sim.ptx.{module}"), function)), place


def _meanings(row: Row) -> list[str]:
    notes = [row.notes, *(special.notes for special in row.specials)]
    return [note["meaning"] for note in notes if note.get("meaning", "none") != "none"]


def test_a_form_is_found_again_by_its_name() -> None:
    for form in _drawn(2, 3):
        assert any(other.parts == form.parts or other.template == form.template for other in forms_of(form.mnemonic)), (
            form.mnemonic
        )


def _drawn(count: int, seed: int) -> list[Form]:
    """Forms with modifiers drawn at random, some of each row."""
    drawing = random.Random(seed)
    found: dict[str, Form] = {}
    for row in _all_rows():
        for _ in range(count * 8):
            chosen = [slot for slot in row.slots[1:] if not slot.optional or drawing.random() < 0.4]
            values = {slot.name: drawing.choice(slot.choices) for slot in chosen}
            if misplaced(row, values) is None:
                found.update((line_of(form), form) for form in made_forms(row, values, 0))
            if len([1 for form in found.values() if form.row is row]) >= count:
                break
    return list(found.values())


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize("arch", ARCHS)
def test_published_forms_assemble_exactly_where_the_table_says(arch: str) -> None:
    forms = [matching(row) for row in PUBLISHED]
    lines = list(dict.fromkeys(line_of(form) for form in forms if form is not None))
    ours = {line_of(form) for form in forms if form is not None and form.requires and arch in form.requires.available}
    assert {lines[number] for number in accepted(lines, arch)} == ours


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100f", "sm_107a", "sm_110a", "sm_120", "sm_120f"])
def test_forms_drawn_at_random_assemble_exactly_where_the_table_says(arch: str) -> None:
    forms = _drawn(1, 1)
    lines = [line_of(form) for form in forms]
    ours = {line for line, form in zip(lines, forms, strict=True) if form.requires and arch in form.requires.available}
    theirs = {lines[number] for number in accepted(lines, arch)}
    assert (sorted(theirs - ours), sorted(ours - theirs)) == ([], [])
