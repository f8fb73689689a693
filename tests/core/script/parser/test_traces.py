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
