"""What cannot be simulated at all: errors with a place and a way out."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.core.sim.running import lowered, simulate
from tirx import script as Tx
from tirx.ir import Call, GlobalVar, IRModule, PrimFunc, Return, Var
from tirx.ir.dtype import DType
from tirx.sim import executor, simulate_module
from tirx.sim.inline import inlined
from tirx.support.errors import SimulationError
from tirx.target import Target

HERE = __file__


@Tx.prim_func
def fill(a: Tx.handle, n: Tx.int32):
    A = Tx.match_buffer(a, (n,), "float32")
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 32)])
    tx = Tx.thread_id([32])
    if bx * 32 + tx < n:
        A[bx * 32 + tx] = 1.0


def environment(module, *values):
    host = module["fill"]
    return {id(getattr(p, "data", p)): v for p, v in zip(host.params, values, strict=True)}


def test_an_empty_launch():
    module = lowered(fill)
    with pytest.raises(SimulationError, match=r"`fill_kernel` is launched with extents \(0, 32\)") as error:
        simulate_module(module, environment(module, np.zeros(4, "f4"), 0), Target("generic"))
    assert error.value.span.path == HERE


def test_an_address_of_nothing():
    @Tx.prim_func
    def through(p: Tx.handle("float32"), B: Tx.Buffer((32,), "float32")):
        A = Tx.decl_buffer((32,), "float32", data=p)
        Tx.device_entry()
        tx = Tx.thread_id([32])
        B[tx] = A[tx]

    with pytest.raises(SimulationError, match="the address 0x1000 given to the kernel belongs to no array"):
        simulate(through, 0x1000, np.zeros(32, "f4"))


def test_a_kernel_that_is_missing():
    module = lowered(fill)
    alone = IRModule([module["fill"]])
    with pytest.raises(SimulationError, match="the module has no kernel `fill_kernel`"):
        simulate_module(alone, environment(module, np.zeros(4, "f4"), 4), Target("generic"))


def test_a_module_without_a_host_function():
    module = lowered(fill)
    with pytest.raises(SimulationError, match="no host function to run"):
        simulate_module(IRModule([module["fill_kernel"]]), {}, Target("generic"))


def test_a_kind_that_says_nothing(monkeypatch):
    monkeypatch.setattr(executor, "find", lambda kind, name: None)
    with pytest.raises(SimulationError, match="kind `generic` says nothing about how it is simulated"):
        simulate_module(lowered(fill), {}, Target("generic"))


def test_arrays_of_a_device():
    module = lowered(fill)
    elsewhere = SimpleNamespace(pointer=1, device="acme:0", host=None)
    with pytest.raises(SimulationError, match="the simulator runs on host arrays; `A` is on acme:0"):
        simulate_module(module, environment(module, elsewhere, 4), Target("generic"))


def test_a_function_that_calls_itself():
    x = Var("x", DType("int32"))
    again = PrimFunc("again", [x], Return(Call(x.dtype, GlobalVar("again"), (x,))))
    with pytest.raises(SimulationError, match="`again` calls itself too deeply"):
        inlined(again, IRModule([again]))
