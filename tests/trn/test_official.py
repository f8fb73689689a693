"""The emitted examples under the official simulator, where that is installed (it comes from AWS's own package index)."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trn.build import lowered
from tests.trn.test_examples import NAMES, arguments, load, relative_error
from tirx.target import Target
from tirx_trn.codegen.generate import generate

PLATFORMS = {"v2": "trn1", "v3": "trn2", "v4": "trn3"}


def official() -> Any:
    """The real `nki` with its simulator; the distribution of that name on PyPI is a placeholder that refuses to be imported."""
    try:
        found = importlib.import_module("nki")
    except ImportError:
        return None
    return found if hasattr(found, "simulate") else None


@pytest.mark.skipif(
    official() is None, reason="the official NKI (nki >= 0.3 from AWS's package index) is not installed"
)
@pytest.mark.parametrize("generation", PLATFORMS)
@pytest.mark.parametrize("name", NAMES)
def test_the_official_simulator_agrees(
    name: str, generation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", PLATFORMS[generation])
    module = load(name)
    *inputs, _ = arguments(module, name)
    target = Target(f"trn -generation={generation}")
    made = generate(lowered(module.KERNEL, str(target)), target)
    path = tmp_path / f"{name}.py"
    path.write_text(made.text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(file)
    result = official().simulate(getattr(file, made.entries[0]))(*inputs)
    (wanted,) = module.expected(*inputs, None).values()
    assert relative_error(np.asarray(result), wanted) <= max(module.TOLERANCE, 1e-4)
