"""Machines with one agent: boxes of buffers, their checks; and host functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tirx.intrinsic import Intrinsic, Operand, call
from tirx.ir import (
    Alloc,
    Assert,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Evaluate,
    For,
    If,
    IRModule,
    Launch,
    LShift,
    Max,
    Min,
    PrimFunc,
    RShift,
    StringImm,
    Var,
    const,
    seq,
)  # fmt: skip
from tirx.ir.dtype import DType
from tirx.sim import simulate_module
from tirx.sim.host import run_host
from tirx.sim.row import Simulator
from tirx.support.errors import ArgumentError
from tirx.target import ScopeModel
from tirx.target.kind import Capabilities, TargetKind

HERE = "tests.core.sim.test_sequential:"
COPY = Intrinsic(
    "flow.copy",
    [Operand("dst", "region", rw="w"), Operand("src", "region")],
    doc="a box",
    effect="write",
    meaning=HERE + "move",
)
I32 = DType("int32")


def move(ctx: Any, dst: Any, src: Any) -> None:
    dst.write(src.read())


KIND = TargetKind(
    "flow", doc="one agent", attributes={}, scope_model=lambda target, attrs: ScopeModel(),
    capabilities=lambda target: Capabilities(()), limits=lambda target: {},
)  # fmt: skip


@pytest.fixture
def flow(monkeypatch):
    """A target without threads, known only inside the test."""
    from tirx.sim import executor

    monkeypatch.setattr(executor, "find", lambda kind, name: Simulator("flow", "sequential"))
    return SimpleNamespace(kind=KIND, attrs={})


def box(buffer: Buffer, *ranges: tuple[Any, int]) -> BufferRegion:
    return BufferRegion(
        buffer, tuple(const(a) if isinstance(a, int) else a for a, _ in ranges), tuple(const(n) for _, n in ranges)
    )


def program(A: Buffer, B: Buffer, body: Any) -> IRModule:
    host = PrimFunc("main", [A, B], Launch("k", (A.data, B.data), (), ()), {"role": "host"})
    return IRModule([host, PrimFunc("k", [A.data, B.data], body, {"role": "device"})])


def buffers() -> tuple[Buffer, Buffer, Buffer]:
    return Buffer("A", (4, 8)), Buffer("B", (4, 8)), Buffer("tile", (2, 8), scope="tile")


def copies(first: int, rows: int = 2) -> tuple[Buffer, Buffer, Any]:
    A, B, tile = buffers()
    i = Var("i", I32)
    step = seq(
        [
            Evaluate(call(COPY, box(tile, (0, rows), (0, 8)), box(A, (i, rows), (0, 8)))),
            Evaluate(call(COPY, box(B, (i, 2), (0, 8)), box(tile, (0, 2), (0, 8)))),
        ]
    )
    return A, B, seq([Alloc(tile), For(i, const(first), const(4), const(2), "serial", step)])


def test_boxes_move(flow):
    a, b = np.arange(32, dtype="f4").reshape(4, 8), np.zeros((4, 8), "f4")
    report = simulate_module(program(*copies(0)), [a, b], flow)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(a, b)
    assert {(line.buffer, line.space): line.bytes for line in report.lines if line.store} == {
        ("tile", "tile"): 128,
        ("B", "global"): 128,
    }


def test_a_box_outside(flow):
    a, b = np.ones((4, 8), "f4"), np.zeros((4, 8), "f4")
    report = simulate_module(program(*copies(1)), [a, b], flow)
    assert {finding.message for finding in report.findings} == {
        "index 3 to 4 is outside dimension 0 of `A` (4, 8)", "index 3 to 4 is outside dimension 0 of `B` (4, 8)",
    }  # fmt: skip


def test_a_tile_that_is_half_written(flow):
    report = simulate_module(program(*copies(0, rows=1)), [np.ones((4, 8), "f4"), np.zeros((4, 8), "f4")], flow)
    assert [finding.kind for finding in report.findings] == ["uninitialised"]
    assert report.findings[0].message == "`tile` is read where nothing was written"


def test_single_elements(flow):
    A, B, _ = buffers()
    i, j = Var("i", I32), Var("j", I32)
    store = BufferStore(B, BufferLoad(A, (i, j)) * 2.0, (i, j))
    inner = For(j, const(0), const(8), const(1), "serial", If(j < 6, store))
    body = For(i, const(0), const(4), const(1), "serial", inner)
    a, b = np.arange(32, dtype="f4").reshape(4, 8), np.zeros((4, 8), "f4")
    assert simulate_module(program(A, B, body), [a, b], flow).verdict == "clean"
    np.testing.assert_array_equal(b[:, :6], a[:, :6] * 2)
    assert (b[:, 6:] == 0).all()


def test_a_host_assertion_is_a_finding_in_a_simulation(flow):
    A, B, _ = buffers()
    host = PrimFunc("main", [A, B], Assert(const(0) > const(1), (StringImm("n is a multiple of 4"),)), {"role": "host"})
    report = simulate_module(IRModule([host]), [np.zeros((4, 8), "f4")] * 2, flow)
    assert [(f.kind, f.message) for f in report.findings] == [("assertion", "n is a multiple of 4")]


def test_host_functions_run_for_a_device():
    n = Var("n", I32)
    launched = []
    launch = Launch("k", (n,), ("cta.x",), ((n + 31) // 32,), ("dynamic_shared_bytes",), (n * 4,))
    body = seq([Assert(n % 4 < 1, (StringImm("n is a multiple of 4"),)), launch])
    func = PrimFunc("main", [n], body, {"role": "host"})
    run_host(
        func,
        {id(n): 100},
        lambda node, args, extents, resources: launched.append((node.kernel, args, extents, resources)),
    )
    assert launched == [("k", [100], [4], {"dynamic_shared_bytes": 400})]
    with pytest.raises(ArgumentError, match="n is a multiple of 4"):
        run_host(func, {id(n): 101}, lambda *_: None)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda n: Min(n, const(7, "uint64")), 7),
        (lambda n: Max(n, const(7, "uint64")), 2**64 - 1),
        (lambda n: LShift(const(1, "uint64"), n), 0),
        (lambda n: RShift(n, const(64, "uint64")), 0),
        (lambda n: n + const(2, "uint64"), 1),
    ],
)
def test_the_hosts_numbers_have_the_width_of_their_type(make, expected):
    n = Var("n", DType("uint64"))
    launched = []
    func = PrimFunc("main", [n], Launch("k", (make(n),), (), ()), {"role": "host"})
    run_host(func, {id(n): 2**64 - 1}, lambda node, args, *_: launched.extend(args))
    assert launched == [expected]
