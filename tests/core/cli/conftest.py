"""A shell for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.cli.commands import Shell, shell_in


@pytest.fixture
def tirx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Runs `tirx` commands in a folder with kernel files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TIRX_BACKENDS", "")
    return shell_in(tmp_path)
