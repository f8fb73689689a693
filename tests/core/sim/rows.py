"""Intrinsics that only these tests have: named barriers, a wait, a shuffle of other levels, something that is not modelled."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import Barrier, Effect, Intrinsic, Operand, call
from tirx.ir import DType

HERE = "tests.core.sim.rows:"

BAR_SYNC = Intrinsic(
    "test.bar_sync", [Operand("number"), Operand("count")], "void",
    Effect("sync", Barrier("cta", identifier="number", count="count")), doc="a named barrier",
)  # fmt: skip
BAR_ARRIVE = Intrinsic(
    "test.bar_arrive",
    [Operand("number"), Operand("count")],
    "void",
    "sync",
    doc="arrive only",
    meaning=HERE + "bar_arrive",
)
GRID_SYNC = Intrinsic(
    "test.grid_sync", [], "void", Effect("sync", Barrier("kernel")), doc="all threads of the launch meet"
)
CTA_OR = Intrinsic(
    "test.cta_or",
    [Operand("value")],
    "int32",
    Effect("sync", Barrier("cta")),
    doc="whether any says yes",
    meaning=HERE + "cta_or",
)
WAIT_SET = Intrinsic(
    "test.wait_set", [Operand("flag", "pointer")], "bool", "wait", doc="wait for a flag", meaning=HERE + "wait_set"
)
MYSTERY = Intrinsic("test.mystery", [Operand("x")], "same", doc="nobody knows")


def bar_sync(number: Any, count: Any) -> Any:
    return call(BAR_SYNC, number, count)


def bar_arrive_(number: Any, count: Any) -> Any:
    return call(BAR_ARRIVE, number, count)


def grid_sync() -> Any:
    return call(GRID_SYNC)


def any_in_cta(value: Any) -> Any:
    return call(CTA_OR, value)


def wait_for(flag: Any) -> Any:
    return call(WAIT_SET, flag)


def mystery(x: Any) -> Any:
    return call(MYSTERY, x)


# ---- meanings -----------------------------------------------------------------------------------------------------------


def bar_arrive(ctx: Any, number: Any, count: Any) -> None:
    ctx.arrive("cta", number, count)


def cta_or(ctx: Any, value: Any) -> Any:
    rows, present = ctx.collect(np.broadcast_to(value, (ctx.count,)) != 0, "cta")
    return (rows & present).any(axis=1).astype(np.int32)


def wait_set(ctx: Any, flag: Any) -> Any:
    value = ctx.atomic(flag, DType("int32"), lambda old, _: old, 0)
    ctx.acquire(flag)
    return value != 0
