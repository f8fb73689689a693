"""What CUDA C++ comes out for each construct, and that NVRTC takes it for every generation."""

from __future__ import annotations

import statistics

import pytest

from tests.cuda.helpers import GOLDEN, kernels, source_of
from tirx.ir import IRModule
from tirx.target import Target
from tirx_cuda.nvrtc import open_nvrtc
from tirx_cuda.toolchain import compile_with_nvrtc

KERNELS = kernels()
NEWER = frozenset({"clusters", "votes"})  # need sm_90


@pytest.mark.parametrize("name", KERNELS)
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    found = source_of(KERNELS[name]).text
    path = GOLDEN / f"{name}.cu"
    if request.config.getoption("--update-golden"):
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"no {path.name}; run with --update-golden, read it, commit it"
    assert found == path.read_text(encoding="utf-8")


def test_there_is_a_kernel_for_each_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.cu")} == set(KERNELS)


def test_goldens_are_short() -> None:
    lengths = [path.read_text(encoding="utf-8").count("\n") for path in GOLDEN.glob("*.cu")]
    assert statistics.median(lengths) < 20


@pytest.mark.slow
@pytest.mark.skipif(open_nvrtc() is None, reason="NVRTC is not installed: pip install 'tirx-backend-cuda[nvrtc]'")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a", "sm_120"])
def test_nvrtc_takes_all_of_it(arch: str) -> None:
    chosen = [kernel for name, kernel in KERNELS.items() if arch != "sm_80" or name not in NEWER]
    target = f"cuda -arch={arch}"
    binary = compile_with_nvrtc(source_of(IRModule(chosen), target), Target(target))
    assert set(binary.resources) == {f"{kernel.name}_kernel" for kernel in chosen}
    assert binary.log == ""
    assert all(figures.spill_bytes == 0 for figures in binary.resources.values())
