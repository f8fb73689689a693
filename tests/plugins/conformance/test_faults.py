"""Every seeded fault is found by the check that is meant for it, and says so in words."""

from __future__ import annotations

import pytest

from tests.plugins.conformance.faults import FAULTS, Fault
from tests.plugins.conformance.toys import installed, plant
from tirx.testing.conformance import ALL, check_backend


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_seeded_fault_is_caught(fault: Fault, tmp_path) -> None:
    with installed(plant(fault.toy, tmp_path, *fault.edits)):
        report = check_backend(fault.toy, only=[fault.check])
    outcome = report[fault.check]
    assert outcome.state == "failed", str(report)
    assert fault.says in "\n".join(outcome.problems), str(report)
    assert outcome.check.advice in str(report)


def test_most_checks_have_a_fault_that_they_find() -> None:
    """The others need what the toys do not have, or are covered by those of their kind."""
    caught = {fault.check for fault in FAULTS}
    uncaught = {check.name for check in ALL} - caught
    assert {name for name in uncaught if not name.startswith(("construct.", "kernel."))} == {
        "import.isolated", "load.loads", "pipelines.readable", "codegen.declared", "toolchain.compiles", "device.runs", "samples.gaps",
    }  # fmt: skip
