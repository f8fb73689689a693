"""What must not be imported, which is what start-up times are made of. (Times are measured by `nox -s bench`.)"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.core.backend.toy import write_distribution

HEAVY = {
    "numpy", "pluggy", "importlib.metadata", "importlib_metadata", "inspect", "dataclasses", "json", "email", "zipfile",
    "threading", "subprocess", "tempfile", "typing", "re", "tirx_cuda", "tirx_trn",
}  # fmt: skip


def imported_by(code: str, **environ: str) -> set[str]:
    """The modules that code imports in a fresh process."""
    script = f"import sys; before = set(sys.modules); {code}; print(*sorted(set(sys.modules) - before))"
    command = [sys.executable, "-c", script]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, env=environ).stdout.split())


def test_importing_the_plugin_system():
    assert not imported_by("import tirx.backend") & HEAVY


def test_importing_tirx_wires_without_importing_what_it_wires():
    found = imported_by("import tirx")
    assert not found & {"numpy", "pluggy", "importlib.metadata", "importlib_metadata", "tirx_cuda", "tirx_trn"}
    assert not {name for name in found if name.startswith("tirx.")} & {"tirx.wiring", "tirx.backend.host", "tirx.ir"}


KERNEL = """
from tirx import script as Tx

@Tx.prim_func
def scale(A: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([256])
    A[tx] = A[tx] * 2.0
"""


def test_the_language_and_a_first_kernel(tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    for code in ("from tirx import script as Tx", f"import runpy; runpy.run_path({str(file)!r})"):
        found = imported_by(code)
        assert not found & {"numpy", "pluggy", "importlib.metadata", "importlib_metadata", "tirx_cuda", "tirx_trn"}


@pytest.mark.parametrize("cached", [False, True])
def test_a_discovery(tmp_path, cached):
    site = tmp_path / "site"
    for number in range(5):
        write_distribution(site, f"toy-{number}", groups={"tirx.api.v1": {f"toy{number}": f"toy_{number}.plugin"}})
    code = "from tirx.backend.host import Host; print(*[c.name for c in Host(()).candidates() if c.name[:3] == 'toy'])"
    settings = {"PYTHONPATH": str(site), "TIRX_PLUGIN_CACHE": str(tmp_path / "cache") if cached else "0"}
    for _ in range(2):
        found = imported_by(code, **settings)
        assert not found & HEAVY
        assert {"toy0", "toy4"} <= found  # what the code itself printed


def test_core_rows_need_no_pluggy():
    code = (
        "from tests.core.backend.toy import KINDS, Core, Host; Host(KINDS, Core()).registry().rows('kinds')['generic']"
    )
    assert "pluggy" not in imported_by(code, PYTHONPATH=":".join(sys.path))
