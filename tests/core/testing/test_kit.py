"""The test kit itself: differences in words, golden files, round trips that fail when they should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tirx import script as Tx
from tirx.ir import INT32, Add, Buffer, Evaluate, IRModule, PrimFunc, Var, const
from tirx.script.printer import to_script
from tirx.support.errors import ScriptError
from tirx.testing import assert_round_trip, first_difference, read_cases, write_output


def kernel(value: int, name: str = "k") -> PrimFunc:
    return Tx.trace(lambda A: A.__setitem__(0, value), Tx.Buffer((4,), "int32"), name=name)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (kernel(2), ".body.BufferStore.value.IntImm.value: 1 and 2"),
        (kernel(1, "other"), ".name: 'k' and 'other'"),
        (
            Tx.trace(lambda A: None, Tx.Buffer((4,), "int32"), name="k"),
            '.body: A = T.buffer((4,), "int32")\nA[0] = 1 and pass',
        ),
        (Tx.trace(lambda A: A.__setitem__(0, 1), Tx.Buffer((5,), "int32"), name="k"), ".params[0]: Buffer('A', (4,)"),
    ],
)
def test_differences_are_named(other: PrimFunc, words: str) -> None:
    assert first_difference(kernel(1), other).startswith(words)


def test_equal_programs_have_no_difference() -> None:
    assert (
        first_difference(IRModule([kernel(1)]), IRModule([kernel(1)]))
        == "no difference of shape; variables are matched differently"
    )


def test_a_round_trip_that_changes_something_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tirx.testing.roundtrip.from_source", lambda text: kernel(2))
    with pytest.raises(AssertionError, match=r"1 and 2\n--- written\n(.|\n)*--- read as"):
        assert_round_trip(kernel(1))


def test_text_that_cannot_be_read_is_shown() -> None:
    x = Var("x", INT32)
    broken = PrimFunc("k", [Buffer("A", (4,), scope="nowhere")], Evaluate(Add(x, const(1))), {"global_symbol": "k"})
    with pytest.raises(ScriptError, match="there is no storage scope 'nowhere'"):
        assert_round_trip(broken)


def test_golden_cases_are_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "cases.txt"
    path.write_text("== one\nx = 1\n-- output\nold\n\n== two\ny\n-- output\nkept\n")
    one, two = read_cases(path)
    assert (one.name, one.text, one.expected, str(two)) == ("one", "x = 1\n", "old", "cases-two")
    write_output(one, "new\nlines\n")
    assert [case.expected for case in read_cases(path)] == ["new\nlines", "kept"]


def test_only_programs_have_script() -> None:
    with pytest.raises(TypeError, match="int has no script"):
        to_script(3)
