"""The example kernels of the documentation: simulated with all checks, held against NumPy, compiled for real GPUs."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tirx
from tests.conftest import installed
from tests.programs.examples import EXAMPLES, binary_or_skip, copies, largest_error, load
from tirx import script as Tx
from tirx.ir import structural_equal

FILES = {path.stem: path for path in sorted(EXAMPLES.glob("*.py"))}
GPU = [name for name in FILES if not name.startswith("nki_")]
SMALL: dict[str, dict[str, Any]] = {
    "block_reduction": {"pieces": 3},
    "blackwell_gemm": {"m": 136, "n": 72, "k": 200},
    "convolution": {"image": np.random.default_rng(3).random((40, 50)).astype(np.float32)},
    "histogram": {"n": 5003},
    "hopper_gemm": {"m": 136, "n": 72, "k": 200},
    "layernorm": {"rows": 6},
    "nki_add": {"rows": 256},
    "nki_softmax": {"rows": 256},
    "prefix_sum": {"rows": 4},
    "rmsnorm": {"rows": 6},
    "scale": {"n": 1003},
    "silu_mul": {"rows": 6},
    "softmax": {"rows": 6},
    "transpose": {"rows": 70, "cols": 33},
    "vector_add": {"n": 1002},
}


@pytest.fixture(params=FILES)
def name(request: pytest.FixtureRequest) -> str:
    """The name of an example whose backend is installed."""
    found: str = request.param
    wanted = "tirx-backend-trn" if found.startswith("nki_") else "tirx-backend-cuda"
    if not installed(wanted):
        pytest.skip(f"not installed: {wanted}")
    return found


# Kernels whose sizes are fixed when they are compiled: several tiles in every direction.
SIZED = {
    "matmul": {"M": 128, "N": 64, "K": 64},
    "tile_gemm": {"M": 256, "N": 256, "K": 96},
    "tile_attention": {"H": 2, "N": 128},
    "tile_batched_gemm": {"BATCH": 8},
    "tile_layernorm": {"N": 13},
    "tile_rmsnorm_fp8": {"N": 12},
    "tile_top_k": {"N": 8},
    "tile_transpose": {"M": 64, "N": 96},
}  # fmt: skip


def small(name: str, module: ModuleType) -> tuple[Any, Any]:
    """A kernel and its arguments at a size for tests."""
    rng = np.random.default_rng(11)
    if name in SIZED:
        kernel = getattr(module, name).specialize(**SIZED[name])
        return kernel, module.arguments(rng, **{key.lower(): value for key, value in SIZED[name].items()})
    return module.KERNEL, module.arguments(rng, **SMALL.get(name, {}))


def test_there_are_enough() -> None:
    assert len(GPU) >= 12
    assert len(FILES) - len(GPU) >= 13
    assert set(SMALL) <= set(FILES)


def test_it_computes_what_numpy_computes(name: str) -> None:
    module = load(FILES[name])
    kernel, after = small(name, module)
    before = copies(after)
    report = tirx.simulate(kernel, *after, target=module.TARGET, checks="all")
    assert report.verdict == "clean", str(report)
    assert largest_error(module, kernel, before, after) <= module.TOLERANCE


def test_it_reads_back(name: str) -> None:
    kernel, _ = small(name, load(FILES[name]))
    assert structural_equal(Tx.from_source(kernel.script()), kernel)


@pytest.mark.slow
@pytest.mark.needs("tirx-backend-cuda")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("example", GPU)
def test_nvrtc_takes_it(example: str, arch: str) -> None:
    module = load(FILES[example])
    if arch not in getattr(module, "ARCHITECTURES", (arch,)):
        pytest.skip(f"it is for {', '.join(module.ARCHITECTURES)} only")
    binary = binary_or_skip(module.KERNEL, {"kind": "cuda", "arch": arch})
    assert all(used.spill_bytes == 0 for used in binary.resources.values())
    assert binary.log == ""


def test_two_are_traced() -> None:
    traced = [name for name, path in FILES.items() if "Tx.builder.Builder()" in path.read_text(encoding="utf-8")]
    assert len(traced) == 2
