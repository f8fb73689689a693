"""`check_well_formed=False`: the verifier leaves a function out, and its text says so."""

from __future__ import annotations

import pytest

import tirx
from tirx import script as Tx
from tirx.analysis.verify import verify_module
from tirx.ir import IRModule
from tirx.support.errors import VerifyError
from tirx.target import Target


def build(checked: bool) -> tirx.PrimFunc:
    @Tx.prim_func(check_well_formed=checked)
    def twice(x: Tx.Buffer((4,), "float32")):
        Tx.device_entry()
        Tx.thread_id([1000000])
        x[0] = 1.0

    return twice


def test_an_unchecked_function_is_left_out() -> None:
    assert verify_module(IRModule([build(False)]), Target("generic")) == []
    assert verify_module(IRModule([build(True)]), Target("generic"))


def test_the_flag_is_printed_and_read_back() -> None:
    func = build(False)
    again = tirx.from_source(func.script())
    assert tirx.structural_equal(func, again)
    assert verify_module(IRModule([again]), Target("generic")) == []


def test_a_checked_one_does_not_compile() -> None:
    with pytest.raises(VerifyError):
        tirx.compile(build(True), "generic")
