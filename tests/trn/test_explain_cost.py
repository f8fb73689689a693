"""`tirx explain --cost` and `tirx.estimate`: the estimate of a kernel's backend, found by a row."""

from __future__ import annotations

import json
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
