"""Kernels that call functions of their module."""

from __future__ import annotations

import numpy as np
import pytest

from tirx import script as Tx
from tirx.backend import find
from tirx.ir import IRModule
from tirx.runtime import bind_arguments
from tirx.sim import simulate_module
from tirx.support.errors import SimulationError
from tirx.target import Target
from tirx.transform.pipeline import PassContext, run_passes


@Tx.prim_func(private=True)
def small_or_square(x: Tx.float32) -> Tx.float32:
    if x < 0.5:
        return x
    return x * x


@Tx.prim_func(private=True)
def put(P: Tx.handle("float32"), i: Tx.int32, v: Tx.float32):
    B = Tx.decl_buffer((64,), "float32", data=P)
    B[i] = v


@Tx.prim_func(private=True)
def meet_and_swap(P: Tx.handle("float32"), i: Tx.int32) -> Tx.float32:
    S = Tx.decl_buffer((64,), "float32", data=P, scope="shared")
    Tx.tvm_storage_sync("shared")
    return S[63 - i]


def simulate(kernel, functions, *args):
    context = PassContext(Target("generic"))
    steps = [step for step in find("pipelines", "generic").lower if step.name != "verify"]
    module = run_passes(steps, IRModule([kernel, *functions]), context)
    return simulate_module(module, bind_arguments(kernel, args).environment(), context.target, entry=kernel.name)


def test_results_and_early_returns():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        B[tx] = small_or_square(A[tx]) + small_or_square(A[63 - tx])

    a, b = np.random.default_rng(1).random(64, "f4"), np.zeros(64, "f4")
    report = simulate(kernel, [small_or_square], a, b)
    assert report.verdict == "clean", str(report)
    once = np.where(a < 0.5, a, a * a)
    np.testing.assert_array_equal(b, once + once[::-1])


def test_pointers_are_passed_on():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        put(A.data, tx, Tx.float32(tx))

    a = np.zeros(64, "f4")
    assert simulate(kernel, [put], a).verdict == "clean"
    np.testing.assert_array_equal(a, np.arange(64))


def test_a_barrier_inside_a_function():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        s = Tx.alloc_shared((64,), "float32")
        s[tx] = A[tx]
        B[tx] = meet_and_swap(s.data, tx)

    a, b = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    report = simulate(kernel, [meet_and_swap], a, b)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(b, a[::-1])


def test_a_function_that_is_missing():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([64])
        put(A.data, tx, Tx.float32(tx))

    with pytest.raises(SimulationError, match="the module has no function `put`"):
        simulate(kernel, [], np.zeros(64, "f4"))
