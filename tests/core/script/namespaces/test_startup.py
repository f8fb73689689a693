"""What a fresh interpreter loads for the language, and what it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "numpy",
    "pluggy",
    "importlib.metadata",
    "importlib_metadata",
    "inspect",
    "dataclasses",
    "ml_dtypes",
    "asyncio",
    "logging",
)
KERNEL = """
from tirx import script as Tx

@Tx.prim_func
def scale(A: Tx.Buffer((256,), "float32"), B: Tx.Buffer((256,), "float32"), s: Tx.float32):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    B[tx] = A[tx] * s
"""


def loaded(code: str, tmp_path: Path) -> set[str]:
    """The modules that are loaded after `code`."""
    path = tmp_path / "kernel.py"
    path.write_text(code + "\nimport sys\nprint(*sys.modules)\n")
    # -I -S: neither the user's site nor editable installs, whose finders load things of their own
    import tirx

    root = Path(tirx.__file__).parent.parent
    start = f"import sys, runpy; sys.path.insert(0, {str(root)!r}); runpy.run_path({str(path)!r})"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", start], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code", ["import tirx", "from tirx import script as Tx", KERNEL], ids=["tirx", "script", "kernel"]
)
def test_loads_nothing_heavy(code: str, tmp_path: Path) -> None:
    assert not loaded(code, tmp_path) & set(HEAVY)


def test_a_traced_kernel_loads_no_parser(tmp_path: Path) -> None:
    code = """
from tirx import script as Tx

def scale(A):
    A[Tx.thread_id([64])] = 1

Tx.trace(scale, Tx.Buffer((64,)))
"""
    found = loaded(code, tmp_path)
    assert not {name for name in found if name.startswith("tirx.script.transpiler")}
    assert "tirx.script.printer" not in found


def test_nothing_of_the_compiler_is_loaded_for_a_kernel(tmp_path: Path) -> None:
    found = loaded(KERNEL, tmp_path)
    assert not {
        name
        for name in found
        if name.startswith(("tirx.transform", "tirx.sim", "tirx.codegen", "tirx.runtime", "tirx.wiring"))
    }


def test_submodules_ask_no_backend(tmp_path: Path) -> None:
    assert "tirx.wiring" not in loaded("from tirx.script import ir, printer", tmp_path)
