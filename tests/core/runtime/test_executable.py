"""Names of an executable that are not there, and faults behind names that are."""

from __future__ import annotations

import pytest

import tirx
from tirx import script as Tx
from tirx.runtime import Executable


@Tx.prim_func
def one(x: Tx.Buffer((1,))):
    Tx.device_entry()
    Tx.thread_id([1])
    x[0] = 1.0


def test_a_name_of_another_compiler() -> None:
    with pytest.raises(AttributeError) as caught:
        tirx.compile(one, "generic").get_source()
    assert str(caught.value) == "an Executable has no `get_source`; did you mean `source`?"


def test_a_fault_of_a_code_generator_is_not_taken_for_an_absent_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Executable, "source", property(lambda self: self.target.colour))
    with pytest.raises(AttributeError, match="'Target' object has no attribute 'colour'"):
        _ = tirx.compile(one, "generic").source
