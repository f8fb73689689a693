"""The manual lists every hook, and only those."""

from __future__ import annotations

import re
from pathlib import Path

from tirx.backend.hooks import functions_of
from tirx.backend.signatures import Signatures, specifications
from tirx.wiring import CORE, ROW_KINDS

MANUAL = Path(__file__).parents[2] / "docs" / "reference" / "plugins.md"


def documented() -> dict[str, list[str]]:
    """Hook -> the words of its row in the manual's table."""
    rows = re.findall(r"^\| `(tirx_\w+)` \| (.*?) \|(.*?)\|$", MANUAL.read_text(), re.MULTILINE)
    return {hook: [meaning, promise] for hook, meaning, promise in rows}


def test_every_hook_is_documented_with_its_meaning_and_promises():
    manual = documented()
    assert list(manual) == [kind.hook for kind in ROW_KINDS]
    for kind in ROW_KINDS:
        meaning, promise = manual[kind.hook]
        assert meaning == kind.doc
        assert re.findall(r"`(\w+)\.<", promise) == list(kind.provides)


def test_hooks_are_named_after_their_kind():
    assert [kind.hook for kind in ROW_KINDS] == [f"tirx_{kind.name}" for kind in ROW_KINDS]


def test_every_kind_has_a_specification():
    module = specifications(ROW_KINDS)
    assert {name for name in vars(module) if name.startswith("tirx_")} == {kind.hook for kind in ROW_KINDS}


def test_core_passes_the_validation_that_plugins_must_pass():

    Signatures(ROW_KINDS).register("core", functions_of(CORE, {kind.name: kind for kind in ROW_KINDS}))
