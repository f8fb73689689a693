"""A module's own name inside its class: functions above and below, in files and in text."""

from __future__ import annotations

import numpy as np

import tirx
from tests.core.script.parser.module_with_calls import Halves
from tirx import script as Tx
from tirx.ir import IRModule, structural_equal
from tirx.script import ir as I
from tirx.testing import assert_round_trip

TEXT = """
@I.ir_module
class M:
    SCALE = 3

    @T.prim_func(private=True)
    def above(x: T.float32) -> T.float32:
        T.Return(x * 2.0)

    @T.prim_func
    def main(A: T.Buffer((64,)), B: T.Buffer((64,))):
        T.device_entry()
        tx = T.thread_id([64])
        M.store(B, tx, M.above(A[tx]) + M.below(1) + M.SCALE)

    @T.prim_func(private=True)
    def store(B: T.Buffer((64,)), i: T.int32, x: T.float32):
        B[i] = M.above(x)

    @T.prim_func(private=True)
    def below(x: T.float32) -> T.float32:
        T.Return(x + 4.0)
"""


def check(module: IRModule) -> None:
    """The kernel gives `((2 A + 5) + 3) * 2`."""
    a, b = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    module = IRModule({"main": module["main"], **module.functions})  # the first function is the one that runs
    assert tirx.simulate(module, a, b, target="generic").verdict == "clean"
    assert np.array_equal(b, (2 * a + 8) * 2)


def test_text() -> None:
    module = Tx.from_source(TEXT)
    assert isinstance(module, IRModule)
    check(module)
    assert_round_trip(module)
    again = Tx.from_source(module.script())
    assert all(structural_equal(module[name], again[name]) for name in ("above", "main", "store", "below"))
    check(again)


def test_one_kernel_of_the_module_brings_those_it_calls() -> None:
    module = IRModule.of(Tx.from_source(TEXT)["main"])
    assert set(module.functions) == {"above", "main", "store", "below"}
    check(module)


def test_a_class_in_a_function() -> None:
    @I.ir_module
    class M:
        @Tx.prim_func
        def main(A: Tx.Buffer((64,)), B: Tx.Buffer((64,))):
            Tx.device_entry()
            tx = Tx.thread_id([64])
            B[tx] = M.twice(A[tx] + 4) * 2

        @Tx.prim_func(private=True)
        def twice(x: Tx.float32) -> Tx.float32:
            Tx.Return(x * 2.0)

    assert isinstance(M, IRModule)
    a, b = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    tirx.simulate(M, a, b, target="generic")
    assert np.array_equal(b, (a + 4) * 4)


def test_a_class_of_a_file() -> None:
    a, b = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    tirx.simulate(Halves, a, b, target="generic")
    assert np.array_equal(b, a / 2 - 1)
    assert_round_trip(Halves)
