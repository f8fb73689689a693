"""A launch of nothing says which axis it is, what the author wrote for it, and with which values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.sim.running import lowered, simulate
from tirx import script as Tx
from tirx.sim.host import run_host
from tirx.support.errors import ArgumentError, SimulationError

HERE = __file__
LAUNCHED = "`grid_kernel` is launched with extents"


@Tx.prim_func
def grid(A: Tx.Buffer((32,), "float32"), n: Tx.int32, m: Tx.int32):
    blocks: Tx.let = n * m
    Tx.device_entry()
    bx, by = Tx.cta_id([Tx.ceildiv(m, 32), blocks])
    tx = Tx.thread_id([32])
    if bx == 0 and by == 0:
        A[tx] = 1.0


def line_of(text):
    with open(HERE) as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def test_a_product_that_wraps():
    with pytest.raises(SimulationError) as error:
        simulate(grid, np.zeros(32, "f4"), 65536, 65536)
    assert error.value.message == (
        f"{LAUNCHED} (2048, 0, 32): axis cta.y is `n * m`, where `m` is 65536 and `n` is 65536"
    )
    assert (
        error.value.hint == "the value is 4294967296, which int32 does not hold: compute it in int64, or launch fewer"
    )
    assert (error.value.span.path, error.value.span.line) == (HERE, line_of("blocks: Tx.let"))


def test_nothing_to_do():
    with pytest.raises(SimulationError) as error:
        simulate(grid, np.zeros(32, "f4"), 5, 0)
    assert error.value.message == f"{LAUNCHED} (0, 0, 32): axis cta.x is `(m + 31) // 32`, where `m` is 0"
    assert error.value.hint == "do not launch a kernel on nothing: give every axis an extent of at least 1"
    assert (error.value.span.path, error.value.span.line) == (HERE, line_of("bx, by = Tx.cta_id"))


def test_on_a_device_it_is_an_error_of_the_call():
    host = lowered(grid)["grid"]
    values = {id(getattr(p, "data", p)): v for p, v in zip(host.params, (4096, 5, -40), strict=True)}
    with pytest.raises(ArgumentError) as error:
        run_host(host, values, lambda *_: pytest.fail("it is launched"))
    assert error.value.message.endswith("axis cta.x is `(m + 31) // 32`, where `m` is -40")
    assert error.value.span.line == line_of("bx, by = Tx.cta_id")
