"""The NKI kernels of the documentation, from the language to the executed file and to the simulator."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import run, source_of
from tests.trn.lint import complaints

KERNELS = Path(__file__).parents[2] / "docs/examples/kernels"
NAMES = sorted(path.stem for path in KERNELS.glob("nki_*.py"))
SMALL: dict[str, dict[str, int]] = {"nki_add": {"rows": 256}, "nki_softmax": {"rows": 256}}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", KERNELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arguments(module: ModuleType, name: str) -> tuple[Any, ...]:
    made: tuple[Any, ...] = module.arguments(np.random.default_rng(5), **SMALL.get(name, {}))
    return made


def test_there_are_three() -> None:
    assert NAMES == ["nki_add", "nki_matmul", "nki_softmax"]


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
@pytest.mark.parametrize("name", NAMES)
def test_the_emitted_file_computes_it(name: str, generation: str, tmp_path: Path) -> None:
    module = load(name)
    *inputs, _ = arguments(module, name)
    target = f"trn -generation={generation}"
    assert complaints(source_of(module.KERNEL, target)) == []
    result = run(module.KERNEL, tmp_path, *inputs, target=target)
    (wanted,) = module.expected(*inputs, None).values()
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_the_simulator_computes_it(name: str) -> None:
    module = load(name)
    before = arguments(module, name)
    after = tuple(array.copy() for array in before)
    report = tirx.simulate(module.KERNEL, *after, target=module.TARGET)
    assert report.verdict == "clean", str(report)
    ((result, wanted),) = module.expected(*before).items()
    error = np.abs(after[module.KERNEL.names.index(result)] - wanted).max()
    assert error <= module.TOLERANCE * max(1.0, np.abs(wanted).max())
