"""`tirx explain --cost` and `tirx.estimate`: the estimate of a kernel's backend, found by a row."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import TargetError

KERNEL = Path(__file__).parents[2] / "docs/examples/kernels/nki_add.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tirx.cli", "explain", *arguments], capture_output=True, text=True, check=False
    )


def test_as_a_table_and_for_machines() -> None:
    table = run(str(KERNEL), "--cost", "--size", "n=4096")
    assert table.returncode == 0
    assert "bound by dma" in table.stdout
    (row,) = json.loads(run(str(KERNEL), "--cost", "--size", "n=4096", "--json").stdout)
    assert row["bound"] == "dma"
    assert row["bytes"] > 0


@pytest.mark.parametrize("name", ["nki_long_softmax", "nki_rmsnorm", "nki_tiled_matmul"])
def test_the_bound_that_is_reached_is_shown(name: str) -> None:
    """Softmax, RMSNorm and the tiled product come within 80 % of what queues or tensor engine need at least."""
    text = run(str(KERNEL.with_name(f"{name}.py")), "--cost").stdout
    shown = re.findall(r"bounds, of which (\d+) % are reached:\n  (\w+)", text)
    assert int(shown[0][0]) >= 80
    assert shown[0][1] == "dma"


def test_the_large_product_is_bound_by_its_engine(tmp_path: Path) -> None:
    example = KERNEL.with_name("nki_tiled_matmul.py").read_text()
    large = tmp_path / "large.py"
    large.write_text(
        example.replace('SIZE = {"M": 200, "N": 1100, "K": 300}', 'SIZE = {"M": 2048, "N": 2048, "K": 2048}')
    )
    for percent, engine in re.findall(
        r"bounds, of which (\d+) % are reached:\n  (\w+)", run(str(large), "--cost").stdout
    ):
        assert int(percent) >= 80
        assert engine == "tensor"


def test_sizes_are_numbers_of_names() -> None:
    assert "'n' is not NAME=N" in run(str(KERNEL), "--cost", "--size", "n").stderr


def test_a_kind_without_figures_says_so() -> None:
    @Tx.prim_func
    def nothing(x: Tx.Buffer((1,), "float32")):
        Tx.device_entry()
        Tx.thread_id([1])
        x[0] = 1.0

    with pytest.raises(TargetError, match="kind `generic` has no cost model"):
        tirx.estimate(nothing, "generic")
