"""Tile calls that the language does not make, but that passes and people who build IR by hand can."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tirx
from tests.core.tile.building import built, call_of
from tirx import script as Tx
from tirx.analysis.free import free_variables
from tirx.analysis.verify import check_lowered, check_well_formed, verify_module
from tirx.ir import INT32, Attr, Buffer, BufferRegion, IRModule, PrimFunc, Seq, TileCall, Var, const
from tirx.support.errors import ArgumentError, VerifyError
from tirx.support.span import Span
from tirx.target import Capabilities, ScopeModel, Target, TargetKind
from tirx.tile.ops import ALL
from tirx.transform.pipeline import PassContext
from tirx.transform.split_host_device import split_host_device

HERE = Span("hand.py", 7, 4)
ROWS = {row.name: row for row in ALL}
A, B = Buffer("A", (16, 8), "float16"), Buffer("B", (16, 8), "float16")


def copy(**changes: Any) -> TileCall:
    made = TileCall(ROWS["copy"], "warp", ("dst", "src"), (A.region(), B.region()), span=HERE)
    return made.rebuild(**changes)


def kernel(call: TileCall, params: Sequence[Any] = (A, B), **attrs: Any) -> IRModule:
    body = Attr("tirx.device_entry", const(True), call)
    return IRModule([PrimFunc("k", list(params), body, {"global_symbol": "k", **attrs})])


def region(*starts: Any, extents: Sequence[Any] = (1, 1)) -> BufferRegion:
    return BufferRegion(
        A, tuple(const(s) if isinstance(s, int | float) else s for s in starts), tuple(map(const, extents))
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (copy(names=("dst",)), "Tx.warp.copy has 2 operands for the names dst"),
        (copy(names=("src", "dst")), "Tx.warp.copy has the operands src, dst, not those of its row in their order"),
        (copy(names=("dst", "source")), "Tx.warp.copy has the operands dst, source, not those of its row in their order"),
        (copy(workspace_names=("a", "a"), workspace=(A.region(), B.region())), "Tx.warp.copy has 2 workspace for the names a, a"),
        (copy(config_names=("k",)), "Tx.warp.copy has 0 keywords for the names k"),
        (
            TileCall(ROWS["fill"], "warp", ("dst", "value"), (A.region(), const(1.0)), span=HERE),
            "`value` of Tx.warp.fill is a float32, where it takes float16",
        ),
        (copy(args=(region(0), B.region())), "a region of `A` has 1 dimensions, not 2"),
        (copy(args=(region(0, 0.5), B.region())), "a bound of a region of `A` is not an integer"),
    ],
)  # fmt: skip
def test_malformed_calls(call: TileCall, message: str) -> None:
    (found,) = verify_module(kernel(call), Target("generic"))
    assert (found.message, found.span) == (message, HERE)


def test_variables_of_regions_and_keywords_are_defined() -> None:
    i = Var("i", INT32)
    for call in (copy(args=(region(i, 0), B.region())), copy(config_names=("k",), config=(i + 1,))):
        with pytest.raises(VerifyError, match="`i` is not defined in this function"):
            check_well_formed(kernel(call))
    with pytest.raises(VerifyError, match="`B` is not defined in this function"):
        check_well_formed(kernel(copy(), [A]))


def test_predicates_define_their_positions() -> None:
    func = built(lambda a, b, n: Tx.tile.select(a, b, 0, lambda i, j: i < n), Tx.Buffer((4, 4)), Tx.Buffer((4, 4)), Tx.int32)  # fmt: skip
    check_well_formed(IRModule([func]))
    assert {var.name for var in free_variables(func.body)} == {"A", "B", "n"}


class OneAgent:
    """A kind of target without threads."""

    @staticmethod
    @tirx.backend.hookimpl
    def tirx_target_kinds() -> list[TargetKind]:
        return [
            TargetKind(
                "one_agent", doc="no threads", attributes={}, scope_model=lambda target, attrs: ScopeModel(),
                capabilities=lambda target: Capabilities((), ()), limits=lambda target: {},
            )
        ]  # fmt: skip


def test_levels_of_a_target_without_threads() -> None:
    tirx.backend.register("one_agent", OneAgent(), provides=["kind.one_agent"])
    target = Target("one_agent")
    calls = [item for item in verify_module(kernel(copy()), target) if "level" in item.message]
    assert [item.message for item in calls] == [
        "Tx.warp.copy needs a level `warp`, which target `one_agent` does not have"
    ]
    assert calls[0].hint == "it runs a kernel once: Tx.tile.copy"
    assert not [item for item in verify_module(kernel(copy(scope="thread")), target) if "level" in item.message]
    tirx.backend.unload("one_agent")


def test_nothing_is_left_after_lowering() -> None:
    check_lowered(IRModule([PrimFunc("k", [A], Seq(()), {})]))
    for check in (
        lambda: check_lowered(kernel(copy())),
        lambda: check_well_formed(kernel(copy(), role="device")),
        lambda: split_host_device.run(kernel(copy()), PassContext(Target("generic"))),
    ):
        with pytest.raises(VerifyError) as caught:
            check()
        assert caught.value.message == "Tx.warp.copy is still there after lowering"
        assert caught.value.span is HERE


def test_filters_and_selectors_stand_in_conditions() -> None:
    def body(a: Any, b: Any) -> None:
        lane = Tx.lane_id([32])
        with Tx.If(Tx.filter(lane, lambda i: i % 2 == 0)), Tx.Then():
            Tx.tile.copy(a, b)
        with Tx.If(Tx.And(Tx.selector(lane, lane == 3), lane < 8)), Tx.Then():
            Tx.warp.copy(a, b)

    func = built(body)
    assert "if T.filter(lane, lane % 2 == 0):" in func.script()
    assert "if T.selector(lane, lane == 3) and lane < 8:" in func.script()


def test_spans_are_those_of_the_call() -> None:
    call = call_of(lambda a, b: Tx.tile.copy(a, b))
    assert call.span is not None
    assert call.span.path == __file__


def test_arrays_that_a_tile_operation_writes_must_be_writable() -> None:
    func = built(lambda a, b: Tx.cta.copy(a, b), Tx.Buffer((8, 8)), Tx.Buffer((8, 8)))
    out, source = np.zeros((8, 8), np.float32), np.ones((8, 8), np.float32)
    out.flags.writeable = False
    with pytest.raises(ArgumentError, match="argument `A` of kernel: expected an array that can be written"):
        tirx.simulate(func, out, source, target="generic")
    source.flags.writeable = False
    assert tirx.simulate(func, out.copy(), source, target="generic").verdict == "clean"
