"""What the compiler decided, as text, as data, and from the command line's machine output."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tirx
from tests.core.tile.toys import FEW, lab, mark, never, variant
from tirx import script as Tx
from tirx.cli import main
from tirx.support.errors import DispatchError
from tirx.tile.report import WIDTH


@Tx.prim_func
def k(A: Tx.Buffer((64,))):
    Tx.device_entry()
    Tx.cta_id([1])
    Tx.thread_id([64])
    Tx.cta.fill(A, 1.0)
    Tx.warp.fill(A, 2.0)


ROWS = [
    variant("wide", mark(1), never("vectors must be aligned", bytes=4, wanted=16), priority=20),
    variant("few", mark(2), FEW, priority=10),
    variant("any", mark(3)),
]


def test_the_text_lists_calls_launches_and_what_was_used() -> None:
    with lab(*ROWS):
        text = str(tirx.explain(k, "lab"))
    assert text.splitlines() == [
        "<Executable k for lab>",
        "k_kernel(A)",
        "  geometry   cta.x=1  thread.x=64",
        "tile operations:",
        "  line 23: Tx.cta.fill, 64 threads of a cta together",
        "    -> `any` of lab-kit 1.2, priority 0",
        "       `wide` of lab-kit 1.2, priority 20",
        "           never: vectors must be aligned (bytes=4, wanted=16)",
        "       `few` of lab-kit 1.2, priority 10",
        "           few threads: too many (threads=64)",
        "  line 24: Tx.warp.fill, 32 threads of a warp together",
        "    -> `few` of lab-kit 1.2, priority 10",
        "       `any` of lab-kit 1.2, priority 0: fits too",
        "       `wide` of lab-kit 1.2, priority 20",
        "           never: vectors must be aligned (bytes=4, wanted=16)",
        "used:",
        "  lab-kit 1.2",
        f"  tirx-core {tirx.__version__}",
    ]
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_executable_explains_itself() -> None:
    with lab(*ROWS):
        executable = tirx.compile(k, "lab")
        assert str(executable.explain()) == str(tirx.explain(k, "lab"))
        assert [item.chosen.variant.name for item in executable.decisions if item.chosen] == ["any", "few"]


def test_the_data_has_every_verdict() -> None:
    with lab(*ROWS):
        data = tirx.explain(k, "lab").to_json()
    assert json.loads(json.dumps(data)) == data
    first, second = data["calls"]
    assert (data["verdict"], first["line"], first["scope"], first["threads"]) == ("ok", 23, "cta", 64)
    assert first["column"] == 5
    assert second["chosen"] == {
        "variant": "few",
        "kind": "lab",
        "priority": 10,
        "distribution": "lab-kit",
        "version": "1.2",
        "fits": True,
        "verdicts": [{"predicate": "few threads", "fits": True, "reason": "", "measured": {"threads": 32}}],
    }
    assert [item["variant"] for item in first["others"]] == ["wide", "few"]
    assert first["others"][0]["verdicts"][0]["measured"] == {"bytes": 4, "wanted": 16}


def test_calls_that_nothing_fits_are_part_of_the_answer() -> None:
    with lab(*ROWS[:2]):
        explanation = tirx.explain(k, "lab")
        with pytest.raises(DispatchError) as error:
            tirx.compile(k, "lab")
    assert explanation.executable is None
    assert str(explanation.error) == str(error.value)
    assert "    -> nothing fits" in str(explanation).splitlines()
    data: dict[str, Any] = explanation.to_json()
    assert (data["verdict"], data["launches"], data["used"]) == ("error", [], {})
    assert data["message"] == str(error.value)
    assert [item["chosen"] and item["chosen"]["variant"] for item in data["calls"]] == [None, "few"]


def test_several_functions_are_told_apart() -> None:
    @Tx.prim_func
    def other(A: Tx.Buffer((64,))):
        Tx.device_entry()
        Tx.thread_id([64])
        Tx.cta.fill(A, 1.0)

    with lab(*ROWS):
        lines = str(tirx.explain(tirx.IRModule([k, other]), "lab")).splitlines()
    assert [line for line in lines if line.startswith("  in ")] == ["  in k:", "  in other:"]
    assert [line for line in lines if line.endswith("_kernel(A)")] == ["k_kernel(A)", "other_kernel(A)"]


def test_json_on_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    with lab(*ROWS[:2]), pytest.raises(SystemExit) as left:
        main(["explain", __file__, "-t", "lab", "-f", "k", "--json"])
    (found,) = json.loads(capfd.readouterr().out)
    assert left.value.code == 1
    assert (found["kernel"], found["target"], found["verdict"], len(found["calls"])) == ("k", "lab", "error", 2)
