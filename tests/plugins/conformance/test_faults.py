"""Every seeded fault is found by the check that is meant for it, says so in words, and is told once: no other check fails."""

from __future__ import annotations

import pytest

from tests.plugins.conformance.faults import FAULTS, Fault, judged
from tirx.testing.conformance import ALL

# These start processes, or compile everything several times: `python -m tests.plugins.conformance.faults` runs them too.
LONG = {
    "import.either_order", "import.budget", "load.processes", "load.threads", "pipelines.contracts", "pipelines.readable",
    "codegen.deterministic",
}  # fmt: skip

# What no toy can have: the device of a toy computes nothing. tests/programs/test_opencl.py seeds faults into one that does.
ELSEWHERE = {"intrinsics.agree"}


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_seeded_fault_is_caught_by_its_check_and_by_no_other(fault: Fault, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    quick = [check.name for check in ALL if check.name == fault.check or check.name not in LONG]
    imported = fault.check.startswith(("manifest.", "import.", "load."))
    report = judged(fault, tmp_path, quick, imported=imported)
    outcome = report[fault.check]
    assert outcome.state == "failed", str(report)
    assert fault.says in "\n".join(outcome.problems), str(report)
    assert outcome.check.advice in str(report)
    assert set(report.failed) - fault.also == {fault.check}, str(report)


def test_every_check_has_a_fault_that_it_finds() -> None:
    assert {check.name for check in ALL} - {fault.check for fault in FAULTS} == ELSEWHERE
