"""The benchmark's kernels of tile operations compute what the documentation's examples do, and break no rule of the machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.examples import largest_error, load
from tirx import script as Tx
from tirx.layout import ComposeLayout, S, TileLayout, laneid

ROOT = Path(__file__).parents[2]
FILES = {path.stem: path for path in sorted((ROOT / "bench/kernels/tiles").glob("*.py"))}
EXAMPLES = ROOT / "docs/examples/kernels"
CHECKS = ("alignment", "barriers", "bounds", "races", "uninitialised")
NAMES = {"Tx": Tx, "ComposeLayout": ComposeLayout, "S": S, "TileLayout": TileLayout, "laneid": laneid}
SIZES: dict[str, dict[str, Any]] = {"gemm": {"m": 512}, "layernorm": {"n": 1024}}


def test_each_example_has_its_text() -> None:
    assert sorted(f"tile_{name.partition('_')[2]}" for name in FILES) == sorted(p.stem for p in EXAMPLES.glob("tile_*"))


@pytest.mark.parametrize("name", FILES)
def test_a_kernel_computes_what_its_example_does(name: str, tmp_path: Path) -> None:
    short = name.partition("_")[2]
    example = load(EXAMPLES / f"tile_{short}.py")
    space = dict(NAMES)
    exec(compile(FILES[name].read_text(encoding="utf-8"), str(FILES[name]), "exec"), space)
    kernel = space[short]
    arguments = example.arguments(np.random.default_rng(5), **SIZES.get(short, {}))
    before = tuple(item.copy() for item in arguments)
    report = tirx.simulate(kernel, *arguments, target="cuda -arch=sm_90a", checks=CHECKS)
    assert report.verdict == "clean", str(report)
    assert largest_error(example, kernel, before, arguments) <= example.TOLERANCE
