"""The worked example of an extension: somebody else's distribution that adds to this backend."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.tree import ROOT
from tests.docs.test_code_blocks import install

EXAMPLE = "tirx-cuda-extras"
CONFORM = """
import sys
from tirx.testing.conformance import check_backend
report = check_backend("cuda.extras", only=sys.argv[1:])
print(report)
sys.exit(not report.ok)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> str:
    return str(install(EXAMPLE, tmp_path_factory.mktemp("extension")))


def run(place: str, *words: str) -> str:
    """What a process with the extension installed prints; it must succeed."""
    environ = {
        "PYTHONPATH": place,
        "PATH": "",
        "TIRX_PLUGIN_CACHE": "0",
        "TIRX_CACHE": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=environ, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass(place: str) -> None:
    assert "3 passed" in run(
        place, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider", f"docs/examples/{EXAMPLE}/tests"
    )


@pytest.mark.slow
def test_it_passes_the_kit_and_its_host_does_beside_it(place: str) -> None:
    topics = ("manifest", "import", "load", "rows", "namespaces", "pipelines", "intrinsics", "dispatch", "kernel")
    text = run(place, "-c", CONFORM, *topics)
    assert "+ dispatch.selected: passed" in text
    assert "+ dispatch.results: passed" in text
    assert "+ pipelines.contracts: passed" in text


EXPLAIN = """
import runpy, tirx
kernel = runpy.run_path("docs/examples/tirx-cuda-extras/tests/test_extras.py")["shades"]
print(tirx.explain(kernel, "cuda", extensions=["cuda.extras"]))
print(tirx.explain(kernel, "cuda", extensions=["cuda.extras"]).to_json()["passes"])
"""


def test_explain_says_whose_variant_and_whose_pass(place: str) -> None:
    text = run(place, "-c", EXPLAIN)
    assert "-> `strided_fill` of tirx-cuda-extras 0.1.0, priority 50" in text
    assert "passes of extensions:\n  `merge_barriers` of tirx-cuda-extras 0.1.0, at cuda:after_lower\n" in text
    assert "'anchor': 'cuda:after_lower'" in text
