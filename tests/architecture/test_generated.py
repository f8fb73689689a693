"""Generated files are what their generators return, and say what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.tree import ROOT
from tools import generated


def test_generated_files_are_current() -> None:
    stale = [entry.path for entry in generated.GENERATED if not entry.is_current()]
    assert not stale, f"run `{generated.COMMAND}`; out of date: {stale}"


def test_generated_files_say_so_in_line_one() -> None:
    silent = [entry.path for entry in generated.GENERATED if "generated" not in first_line(ROOT / entry.path).lower()]
    assert not silent


def first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0]


def test_a_stale_file_is_noticed_and_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "ROOT", tmp_path)
    entry = generated.Generated("table.txt", lambda: "generated\n1\n")
    monkeypatch.setattr(generated, "GENERATED", (entry,))
    (tmp_path / "table.txt").write_text("old")
    assert not entry.is_current()
    generated.main()
    assert entry.is_current()
