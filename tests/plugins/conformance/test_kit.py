"""The kit on backends without a fault; its reports, its command, and what it leaves alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.cli.commands import Shell
from tests.plugins.conformance.toys import installed, plant
from tirx.testing.conformance import ALL, check_backend, conform

SAMPLES = Path(__file__).parent / "samples"
SAMPLE = str(SAMPLES / "add_rows.py")
WRONG = str(SAMPLES / "wrong.py")


@pytest.fixture(scope="module")
def toys(tmp_path_factory):
    """Both toys, without a fault."""
    folder = tmp_path_factory.mktemp("toys")
    with installed(plant("wavefront", folder), plant("dataflow", folder)):
        yield


def test_a_machine_with_threads_passes(toys) -> None:
    report = check_backend("wavefront")
    assert report.ok, str(report)
    assert len(report.outcomes) == len(ALL)
    assert report["construct.atomics"].gaps == ["kind `wavefront` does not declare atomic updates, and refuses them"]
    assert report["construct.barriers"].state == "passed"


def test_a_machine_without_threads_passes_under_pytest(toys) -> None:
    report = conform("dataflow", [SAMPLE])
    assert report.ok, str(report)
    assert [item.check.name for item in report.outcomes] == [check.name for check in ALL]
    for name in (
        "kernel.samples",
        "pipelines.contracts",
        "codegen.deterministic",
        "load.processes",
        "intrinsics.emittable",
    ):
        assert report[name].state == "passed", str(report[name])
    assert report["kernel.row_sums"].gaps == ["kind `dataflow` has no threads; give samples of your own"]


def test_samples_count(toys) -> None:
    report = check_backend("dataflow", [WRONG], only=["kernel.samples", "samples"])
    assert report.failed == ("kernel.samples", "samples.gaps")
    assert "wrong on dataflow, simulated: `C` is off by" in report["kernel.samples"].problems[0]
    assert "'intrinsics.emittable: flow.multiply' is none" in report["samples.gaps"].problems[0]


def test_the_command_tells_people_and_machines(toys) -> None:
    tirx = Shell(Path.cwd())
    text = tirx("conform", "wavefront", "--only", "targets", "--only", "manifest.found").out
    assert text.splitlines()[0] == "wavefront of tirx-toy-wavefront 1.0, with tirx-core 0.1.0"
    assert "+ manifest.found: passed" in text
    data = json.loads(
        tirx("conform", "dataflow", "--samples", WRONG, "--only", "kernel.samples", "--json", status=1).out
    )
    assert (data["backend"], data["ok"], data["counts"]) == ("dataflow", False, {"passed": 0, "gap": 0, "failed": 1})
    assert data["checks"][0]["advice"] == "run `tirx run FILE`, and read the report"


def test_the_command_lists_checks_and_refuses_unknown_names() -> None:
    tirx = Shell(Path.cwd())
    assert "codegen.names" in tirx("conform", "--list").out
    assert {item["name"] for item in json.loads(tirx("conform", "--list", "--json").out)} == {item.name for item in ALL}
    assert "there is no check or topic 'nonsense'" in tirx("conform", "any", "--only", "nonsense", status=2).err
    assert "name a backend" in tirx("conform", status=2).err
    assert "there is no backend `nobody`" in tirx("conform", "nobody", status=1).err


def test_every_check_has_a_name_a_proof_and_advice() -> None:
    names = [check.name for check in ALL]
    assert len(set(names)) == len(names) >= 70
    for check in ALL:
        topic, _, name = check.name.partition(".")
        assert all((topic, name, check.proves, check.advice)), check


def test_the_kit_is_no_plugin_of_pytest_and_does_not_import_it() -> None:
    code = "import sys; import tirx.testing.conformance; print('pytest' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    points = __import__("importlib.metadata").metadata.entry_points(group="pytest11")
    assert not [point for point in points if point.value.startswith("tirx")]


def test_one_line_makes_a_test_file(toys, pytester) -> None:
    pytester.makepyfile(
        "from tirx.testing.conformance import conformance_tests\n"
        f"test_conformance = conformance_tests('dataflow', samples=[{SAMPLE!r}])\n"
    )
    result = pytester.runpytest_inprocess("-k", "manifest or kernel", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=5, skipped=5)


pytest_plugins = ["pytester"]
