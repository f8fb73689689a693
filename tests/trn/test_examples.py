"""The NKI kernels of the documentation, from the language to the executed file and to the simulator."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import imported, run, source_of
from tests.trn.lint import claimed, complaints
from tests.trn.nki_signatures import RELEASES

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


def test_there_are_whole_kernels() -> None:
    wanted = [
        "attention",
        "average_pool",
        "cross_entropy",
        "layernorm",
        "long_softmax",
        "mlp",
        "rmsnorm",
        "rope",
        "tiled_matmul",
        "transpose",
    ]
    assert {f"nki_{name}" for name in wanted} < set(NAMES)


def relative_error(result: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(np.asarray(result, np.float64) - wanted).max() / max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
@pytest.mark.parametrize("name", NAMES)
def test_the_emitted_file_computes_it(name: str, generation: str, tmp_path: Path) -> None:
    module = load(name)
    *inputs, _ = arguments(module, name)
    target = f"trn -generation={generation}"
    assert complaints(source_of(module.KERNEL, target)) == []
    result = run(module.KERNEL, tmp_path, *inputs, target=target)
    (wanted,) = module.expected(*inputs, None).values()
    assert relative_error(result, wanted) <= max(module.TOLERANCE, 1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_the_file_for_each_release_computes_it(name: str, tmp_path: Path) -> None:
    """Every text that is written for NKI 0.3 to 0.6, executed by an NKI with the parameters of the oldest release that it names."""
    module = load(name)
    *inputs, _ = arguments(module, name)
    (wanted,) = module.expected(*inputs, None).values()
    texts = {release: source_of(module.KERNEL, f"trn -nki={release}") for release in RELEASES}
    bodies = {text.partition("\n")[2]: release for release, text in reversed(texts.items())}
    for release in bodies.values():
        assert complaints(texts[release]) == []
        assert release in claimed(texts[release])
        with imported(texts[release], tmp_path, release=release) as file:
            result = getattr(file, f"{module.KERNEL.name}_kernel")(*inputs)
        assert relative_error(result, wanted) <= max(module.TOLERANCE, 1e-7)


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
def test_the_tiled_product_of_float32(generation: str, tmp_path: Path) -> None:
    module = load("nki_tiled_matmul")
    *inputs, _ = module.arguments(np.random.default_rng(6), "float32")
    target = f"trn -generation={generation}"
    assert complaints(source_of(module.KERNEL_FLOAT32, target)) == []
    (wanted,) = module.expected(*inputs, None).values()
    assert relative_error(run(module.KERNEL_FLOAT32, tmp_path, *inputs, target=target), wanted) <= module.TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_the_simulator_computes_it(name: str) -> None:
    module = load(name)
    before = arguments(module, name)
    after = tuple(array.copy() for array in before)
    report = tirx.simulate(module.KERNEL, *after, target=module.TARGET)
    assert report.verdict == "clean", str(report)
    ((result, wanted),) = module.expected(*before).items()
    assert relative_error(after[module.KERNEL.names.index(result)], wanted) <= module.TOLERANCE


def test_an_instance_by_name_simulates() -> None:
    module = load("nki_rope")
    arrays = module.arguments(np.random.default_rng(5))
    assert tirx.simulate(module.KERNEL, *arrays, target="aws/trn2/trn2.48xlarge").verdict == "clean"


@pytest.mark.parametrize("name", ["nki_transpose", "nki_average_pool", "nki_cross_entropy", "nki_long_softmax"])
def test_simulator_and_file_agree(name: str, tmp_path: Path) -> None:
    """Exactly, where data is moved or each engine does the same sums; functions within the last bits of float32."""
    module = load(name)
    *inputs, result = module.arguments(np.random.default_rng(5))
    assert tirx.simulate(module.KERNEL, *inputs, result, target="trn").verdict == "clean"
    executed = run(module.KERNEL, tmp_path, *inputs)
    if name in ("nki_transpose", "nki_average_pool"):
        np.testing.assert_array_equal(result, executed)
    np.testing.assert_allclose(result, executed, rtol=3e-7, atol=1e-6)
