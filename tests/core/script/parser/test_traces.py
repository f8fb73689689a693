"""Exceptions: the author's own keep type and traceback, ours never show."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import ScriptError

OURS = str(Path(tirx.__file__).parent)
Vector = Tx.Buffer((64,), "float32")


class TooWideError(Exception):
    """The author's own."""


def check_width(width: int) -> None:
    if width > 4:
        raise TooWideError(width)


@Tx.inline
def checked(A, width):
    check_width(width)
    A[0] = 1.0


def build() -> Any:
    @Tx.prim_func
    def f(A: Vector):
        checked(A, 8)

    return f


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


def test_exceptions_of_helpers_keep_type_and_traceback() -> None:
    with pytest.raises(TooWideError) as info:
        build()
    found = frames(info.value)
    assert [entry.name for entry in found[-3:]] == ["f", "checked", "check_width"]
    assert [entry.line for entry in found[-3:]] == ["checked(A, 8)", "check_width(width)", "raise TooWideError(width)"]


def test_our_frames_are_stripped() -> None:
    with pytest.raises(TooWideError) as info:
        build()
    ours = [entry.name for entry in frames(info.value) if entry.filename.startswith(OURS)]
    assert ours == ["prim_func"]  # what the author called; none between the author's frames


def test_everything_is_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIRX_DEBUG", "1")
    with pytest.raises(TooWideError) as info:
        build()
    assert "__call__" in [entry.name for entry in frames(info.value)]


def test_what_python_raises_in_the_kernel_itself_has_a_place() -> None:
    with pytest.raises(ScriptError) as info:

        @Tx.prim_func
        def f(A: Vector):
            A[0] = [1.0][2]

    assert info.value.message == "list index out of range"
    assert info.value.span.column == 19


def test_the_builder_is_left_alone_after_an_error() -> None:
    with pytest.raises(TooWideError):
        build()
    assert tirx.ir.active_builder() is None

    @Tx.prim_func
    def g(A: Vector):
        A[0] = 1.0

    assert g.name == "g"


def test_raise_on_python_conditions_is_the_authors() -> None:
    with pytest.raises(TooWideError):

        @Tx.prim_func
        def f(A: Vector):
            if A.shape[0] > 32:
                raise TooWideError(A.shape[0])


def test_lines_are_right_in_long_kernels() -> None:
    """Python 3.10's line table counts in steps of at most 127 lines and 254 bytes; ours is put together by hand."""
    many = "".join(f"    A[{k % 64}] = A[{k % 64}] + A[{k % 63}] * A[1] - A[2]\n" for k in range(90))
    text = f"@T.prim_func\ndef f(A: T.Buffer((64,))):\n{many}{chr(10) * 400}    check(9)\n{many}"
    with pytest.raises(TooWideError) as info:
        Tx.from_source(text, {"check": check_width}, filename="long.py")
    entry = next(item for item in frames(info.value) if item.filename == "long.py" and item.name == "f")
    assert entry.lineno == 2 + 90 + 400 + 1
    with pytest.raises(ScriptError) as wrong:
        Tx.from_source(text.replace("check(9)", "A[64] = 1.0"), filename="long.py")
    assert str(wrong.value).startswith("long.py:493:5: error: index 64 is outside")


def test_columns_of_statements_over_several_lines() -> None:
    text = "@T.prim_func\ndef f(A: T.Buffer((64,))):\n    A[0] = (\n        A[1]\n        + A[2, 0]\n    )\n"
    with pytest.raises(ScriptError) as info:
        Tx.from_source(text, filename="lines.py")
    assert str(info.value).startswith("lines.py:5:11: error: `A` has 1 dimension")
