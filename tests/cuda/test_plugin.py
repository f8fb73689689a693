"""The plugin as core sees it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tirx.backend as backend
from tirx.backend import registry


def test_every_promise_of_the_manifest_is_kept() -> None:
    backend.load("cuda")
    assert backend.info("cuda").state == "OK"
    for prefix, name in (("namespace", "cuda"), ("kind", "cuda"), ("tags", "nvidia"), ("name", "SMEMPool")):
        assert "cuda" in backend.provides(prefix, name)


@pytest.mark.parametrize(
    "expression", ["Tx.SMEMPool", "Tx.cuda.cta_sync", "__import__('tirx.target').target.Target('nvidia/nvidia-l4')"]
)
def test_each_is_found_before_anything_is_loaded(expression: str) -> None:
    lines = "from tirx import script as Tx", "import tirx.backend as b", "assert not b.is_loaded('cuda')", expression
    code = "; ".join([*lines, "assert b.is_loaded('cuda')"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", ["numpy", "ctypes", "subprocess", "cuda", "tirx.codegen.expr", "tirx_cuda.device"])
def test_loading_does_not_import_what_only_later_steps_need(module: str) -> None:
    code = f"import sys, tirx.backend; tirx.backend.load('cuda'); assert {module!r} not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_rows_belong_to_the_distribution() -> None:
    backend.load("cuda")
    owner = registry().owner("target_kinds", "cuda")
    assert owner.distribution == "tirx-backend-cuda"
    assert registry().owner("emissions", ("exp", "cuda")).distribution == "tirx-backend-cuda"
    assert registry().owner("intrinsics", "exp").distribution == "tirx-core"
