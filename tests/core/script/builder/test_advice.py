"""Exceptions of Python's in traced kernels and in helpers keep their type, and say what to write instead (notes: Python 3.11)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tirx import script as Tx
from tirx.support.errors import ScriptError

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")


def transposed(x: Any, tx: Any) -> None:
    x[tx] = x.T


def exponential(x: Any, tx: Any) -> None:
    x[tx] = np.exp(x[tx])


def wrong_keyword(x: Any, tx: Any) -> None:
    Tx.alloc_shared(shape=(3,), typ="int32")


def undefined(x: Any, tx: Any) -> None:
    x[tx] = exp(x[tx])  # noqa: F821 - the mistake


MISTAKES = {
    transposed: (AttributeError, "help: x.permute(1, 0) is the transposed view"),
    exponential: (TypeError, "help: write Tx.exp(...)"),
    wrong_keyword: (TypeError, "help: did you mean `dtype`? it takes (shape,"),
    undefined: (NameError, "help: it is in the language: write Tx.exp"),
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda item: item.__name__)
def test_traced(mistake: Callable[..., None]) -> None:
    def body(x: Any) -> None:
        Tx.device_entry()
        mistake(x, Tx.thread_id([64]))

    kind, note = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        Tx.trace(body, Tx.Buffer((64,), "float32"))
    assert caught.value.__notes__[0].startswith(note)
    assert len(caught.value.__notes__) == 1


def test_a_helper_of_a_parsed_kernel() -> None:
    with pytest.raises(AttributeError) as caught:

        @Tx.prim_func
        def kernel(x: Tx.Buffer((64,), "float32")):
            Tx.device_entry()
            transposed(x, Tx.thread_id([64]))

    assert caught.value.__notes__ == ["help: x.permute(1, 0) is the transposed view"]


def test_errors_of_others_are_left_alone() -> None:
    def body(x: Any) -> None:
        Tx.device_entry()
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine") as caught:
        Tx.trace(body, Tx.Buffer((64,), "float32"))
    assert not getattr(caught.value, "__notes__", [])


def test_ours_say_it_already() -> None:
    def body(x: Any) -> None:
        Tx.device_entry()
        x[0] = math.sqrt(x[0])

    with pytest.raises(ScriptError) as caught:
        Tx.trace(body, Tx.Buffer((64,), "float32"))
    assert not getattr(caught.value, "__notes__", [])
