"""Calling a compiled kernel in a process of its own, where a package `nki` with AWS's documented entry points is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NKI, TORCH = HERE / "fakes", HERE / "fakes_torch"

PROGRAM = """
import importlib.util, json, sys
from pathlib import Path

import numpy as np

import tirx
from tirx_trn import device

kernel, target, neuron = sys.argv[1:4]
device._NEURON = Path(neuron)  # /dev/neuron0, where there is a device
spec = importlib.util.spec_from_file_location("example", kernel)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)
arrays = example.arguments(np.random.default_rng(5))
wanted = example.expected(*(array.copy() for array in arrays))
executable = tirx.compile(example.KERNEL, target)
executable(*arrays)
((name, values),) = wanted.items()
found = arrays[example.KERNEL.names.index(name)].astype(np.float64)
print(json.dumps({"error": float(np.abs(found - values).max()), "tolerance": example.TOLERANCE, "toolchain": executable.binary.toolchain}))
"""


def launched(kernel: str, target: str, *places: Path, device: bool) -> tuple[list[dict[str, str]], dict[str, str]]:
    """What `nki` says that it ran, and what came out."""
    path = os.pathsep.join(map(str, (*places, HERE.parents[1])))
    environ = {key: value for key, value in os.environ.items() if not key.startswith("NEURON_")}
    environ |= {"PYTHONPATH": path, "NEURON_DEVICE": "1" if device else "0"}
    example = HERE.parents[1] / f"docs/examples/kernels/{kernel}.py"
    neuron = HERE if device else HERE / "nothing"
    command = [sys.executable, "-c", PROGRAM, str(example), target, str(neuron)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 0, done.stderr
    *runs, result = (json.loads(line) for line in done.stdout.splitlines())
    return runs, result


@pytest.mark.parametrize(
    ("kernel", "target", "places", "device", "mode", "platform"),
    [
        ("nki_transpose", "trn", (NKI,), False, "simulator", "trn2"),
        ("nki_rope", "aws/trn1/trn1.2xlarge", (NKI,), False, "simulator", "trn1"),
        ("nki_transpose", "trn -generation=v4", (NKI,), True, "device", ""),
        ("nki_cross_entropy", "trn", (NKI, TORCH), True, "device", ""),
    ],
    ids=["simulator", "simulator of another chip", "device", "device through torch"],
)
def test_a_call_runs_the_kernel_through_nki(
    kernel: str, target: str, places: tuple[Path, ...], device: bool, mode: str, platform: str
) -> None:
    runs, result = launched(kernel, target, *places, device=device)
    assert runs == [{"kernel": f"{kernel}_kernel", "mode": mode, "platform": platform}]
    assert float(result["error"]) <= max(float(result["tolerance"]), 1e-5)
    assert result["toolchain"] == "nki 0.6.0+fake"


def test_without_nki_the_error_says_what_to_install() -> None:
    example = HERE.parents[1] / "docs/examples/kernels/nki_transpose.py"
    command = [sys.executable, "-c", PROGRAM, str(example), "trn", str(HERE / "nothing")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "install AWS's nki, 0.3 or newer, from AWS's own package index" in done.stderr
    assert "tirx_trn/device.py" not in done.stderr
