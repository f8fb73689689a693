"""The second witness: neutral kernels run natively through OpenCL, and agree with NumPy and with the simulator.

The backend is the example of a third party's (docs/examples/tirx-backend-opencl); `nox -s opencl` installs it together with PoCL, which
runs OpenCL on any CPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.examples import EXAMPLES, NEUTRAL, copies, largest_error, load
from tirx.testing.conformance import check_backend

# What makes an example one machine's own; those of machines without threads begin with nki_.
VENDORS = ("Tx.cuda", "Tx.ptx", "Tx.nvshmem", "mma_fragment_layout")
OWN = [path for path in sorted(EXAMPLES.glob("*.py")) if not path.stem.startswith("nki_")]
FILES = [
    *sorted(NEUTRAL.glob("*.py")),
    *(path for path in OWN if not any(word in path.read_text("utf-8") for word in VENDORS)),
]
CASES = [
    pytest.param(
        path, id=f"{path.parent.name}-{path.stem}", marks=[pytest.mark.slow] if path.stem.startswith("tile_") else []
    )
    for path in FILES
]
SIZES: dict[str, dict[str, Any]] = {
    "scale": {"n": 1003}, "silu_mul": {"rows": 6}, "vector_add": {"n": 1002}, "tile_layernorm": {"n": 13}, "tile_rmsnorm_fp8": {"n": 12},
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def device() -> Any:
    """The device; a skip, with the reason, where there is none."""
    pytest.importorskip("tirx_opencl", reason="tirx-backend-opencl is not installed: nox -s opencl")
    driver = pytest.importorskip(
        "tirx_opencl.driver", reason="pyopencl is not installed: nox -s opencl", exc_type=ImportError
    )
    if driver.default_driver() is None:
        pytest.skip("no OpenCL device is present: nox -s opencl installs PoCL")


def small(path: Path) -> tuple[Any, Any, Any]:
    """A module, its kernel and arguments at a size for tests."""
    module, rng = load(path), np.random.default_rng(11)
    if path.parent == NEUTRAL:
        return module, module.kernel(32), module.arguments(rng)
    sizes = SIZES.get(path.stem, {})
    if path.stem.startswith("tile_") and sizes:
        return module, getattr(module, path.stem).specialize(N=sizes["n"]), module.arguments(rng, **sizes)
    return module, module.KERNEL, module.arguments(rng, **sizes)


def test_there_are_enough() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", CASES)
def test_the_native_run_agrees_with_numpy_and_the_simulator(path: Path) -> None:
    module, kernel, native = small(path)
    before, simulated = copies(native), copies(native)
    report = tirx.simulate(kernel, *simulated, target="opencl", checks="all")
    assert report.verdict == "clean", str(report)
    tirx.compile(kernel, "opencl")(*native)
    assert largest_error(module, kernel, before, native) <= module.TOLERANCE
    assert getattr(module, "also", lambda *_: True)(*native)
    if path.stem == "lock":  # blocks come in any order
        return
    for name, got, wanted in zip(kernel.names, native, simulated, strict=True):
        np.testing.assert_allclose(np.float64(got), np.float64(wanted), rtol=2e-3, atol=1e-6, err_msg=name)


def test_the_kit_finds_a_function_that_the_device_computes_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device of a toy computes nothing, so this fault is seeded here: half of a sum is rounded up instead of down."""
    from tirx_opencl.op import EMISSIONS

    row = next(item for item in EMISSIONS if item.intrinsic == "opencl.hadd")
    assert check_backend("opencl", only=["intrinsics.agree"]).ok
    monkeypatch.setattr(row, "rule", "rhadd({0}, {1})")
    report = check_backend("opencl", only=["intrinsics.agree"])
    (problem,) = report["intrinsics.agree"].problems
    assert problem.startswith("`opencl.hadd` on opencl: the device answers")
