"""The command line on kernels that a backend compiles: source, binaries, launch plans, as text, files and data."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs.examples import EXAMPLES, binary_or_skip, load

pytestmark = pytest.mark.needs("tirx-backend-cuda")
SCALE = str(EXAMPLES / "scale.py")
TARGET = ("--target", "cuda -arch=sm_90a")


def tirx(*words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command; fail when it ends with another status."""
    done = subprocess.run(
        [sys.executable, "-m", "tirx.cli", *words], capture_output=True, text=True, check=False, env={**os.environ}
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture
def compiler() -> None:
    """Needs a compiler."""
    binary_or_skip(load(EXAMPLES / "scale.py").KERNEL, TARGET[1])


def test_source_is_what_is_written_by_default() -> None:
    assert tirx("compile", SCALE, *TARGET).stdout.startswith(
        'extern "C" __global__ void __launch_bounds__(256) scale_kernel('
    )


def test_the_file_says_for_which_target() -> None:
    assert tirx("check", SCALE).stdout == f"scale  {load(EXAMPLES / 'scale.py').TARGET}  ok\n"


@pytest.mark.usefixtures("compiler")
def test_files_of_each_form(tmp_path: Path) -> None:
    words = [word for form in ("source", "binary", "launch") for word in ("--emit", form)]
    done = tirx("compile", SCALE, *TARGET, *words, "-o", str(tmp_path))
    assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scale.cu", "scale.cubin", "scale.launch.json"]
    assert (tmp_path / "scale.cubin").read_bytes().startswith(b"\x7fELF")
    (step,) = json.loads((tmp_path / "scale.launch.json").read_text())
    assert step["arguments"] == ["x", "y", "a", "n"]


@pytest.mark.usefixtures("compiler")
def test_a_binary_as_data() -> None:
    found = json.loads(tirx("compile", SCALE, *TARGET, "--emit", "binary", "--json").stdout)
    assert found["binary"]["format"] == "cubin"
    assert found["binary"]["resources"]["scale_kernel"]["spill_bytes"] == 0


def test_kernels_with_odd_names_stay_in_the_folder(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text("from tests.programs.bad import fill, traced\nKERNEL = traced(fill, name='../../outside')\n")
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "tirx.cli", "compile", str(file), *TARGET, "-o", str(tmp_path / "a/b")]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    assert sorted(path.name for path in tmp_path.rglob("*.cu")) == ["______outside.cu"]
    assert list((tmp_path / "a/b").glob("*.cu"))


def test_every_example_is_accepted() -> None:
    for path in EXAMPLES.glob("*.py"):
        if not path.stem.startswith("nki_"):
            assert re.search(r"  cuda( -arch=\w+)?  ok\n", tirx("check", str(path)).stdout), path


@pytest.mark.needs("tirx-backend-trn")
def test_a_target_without_threads() -> None:
    done = tirx("run", str(EXAMPLES / "nki_add.py"), "--arg", "a=random:128x1024")
    assert done.stdout.startswith("nki_add: clean")
    assert "@nki.jit" in tirx("compile", str(EXAMPLES / "nki_add.py")).stdout
