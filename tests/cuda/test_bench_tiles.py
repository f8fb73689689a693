"""The benchmark's kernels of tile operations compute what the documentation's examples do, and break no rule of the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.examples import binary_or_skip, largest_error, load
from tirx import script as Tx
from tirx.ir import PrimFunc
from tirx.layout import ComposeLayout, S, TileLayout, laneid
from tirx_cuda.cubin import instruction_counts

ROOT = Path(__file__).parents[2]
FILES = {path.stem: path for path in sorted((ROOT / "bench/kernels/tiles").glob("*.py"))}
EXAMPLES = ROOT / "docs/examples/kernels"
CHECKS = ("alignment", "barriers", "bounds", "races", "uninitialised")
NAMES = {"Tx": Tx, "ComposeLayout": ComposeLayout, "S": S, "TileLayout": TileLayout, "laneid": laneid}
# Registers and instructions of apache-tvm 0.27's source for the same texts (`python -m bench --only tiles`, NVRTC 13.5).
PUBLISHED = {
    "t1_gemm": (110, 564), "t2_attention": (143, 1305), "t3_rmsnorm_fp8": (56, 1386), "t4_layernorm": (40, 503),
    "t5_transpose": (30, 72), "t6_batched_gemm": (60, 181), "t7_top_k": (30, 116),
}  # fmt: skip
HANDED_OUT = 8  # registers that a thread gets at a time
OTHER_COMPILERS = 1.05  # another NVRTC may need a few instructions more
SIZES: dict[str, dict[str, Any]] = {"gemm": {"m": 512}, "layernorm": {"n": 1024}}


def test_each_example_has_its_text() -> None:
    assert sorted(f"tile_{name.partition('_')[2]}" for name in FILES) == sorted(p.stem for p in EXAMPLES.glob("tile_*"))


def kernel_of(name: str) -> PrimFunc:
    """The function of one file."""
    space: dict[str, Any] = dict(NAMES)
    exec(compile(FILES[name].read_text(encoding="utf-8"), str(FILES[name]), "exec"), space)
    kernel: PrimFunc = space[name.partition("_")[2]]
    return kernel


@pytest.mark.parametrize("name", FILES)
def test_a_kernel_needs_no_more_than_published(name: str) -> None:
    arch = "sm_90a" if name.endswith("fp8") else "sm_80"
    binary = binary_or_skip(kernel_of(name), f"cuda -arch={arch}")
    (used,) = binary.resources.values()
    registers, instructions = PUBLISHED[name]
    assert used.spill_bytes == 0
    assert -(-used.registers // HANDED_OUT) <= -(-registers // HANDED_OUT)
    assert sum(instruction_counts(binary.data).values()) <= OTHER_COMPILERS * instructions


@pytest.mark.parametrize("name", FILES)
def test_a_kernel_computes_what_its_example_does(name: str) -> None:
    short = name.partition("_")[2]
    example = load(EXAMPLES / f"tile_{short}.py")
    kernel = kernel_of(name)
    arguments = example.arguments(np.random.default_rng(5), **SIZES.get(short, {}))
    before = tuple(item.copy() for item in arguments)
    report = tirx.simulate(kernel, *arguments, target="cuda -arch=sm_90a", checks=CHECKS)
    assert report.verdict == "clean", str(report)
    assert largest_error(example, kernel, before, arguments) <= example.TOLERANCE
