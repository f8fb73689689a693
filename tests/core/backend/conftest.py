from __future__ import annotations

import pytest

from tests.core.backend.toy import World


@pytest.fixture
def world(tmp_path, monkeypatch):
    """Folders to install made-up distributions into, and hosts that look there."""
    made = World(tmp_path, monkeypatch)
    yield made
    made.forget_modules()
