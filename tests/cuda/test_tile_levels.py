"""Tile operations of this machine's levels: warpgroups, clusters, elected threads, and the barriers between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tirx
from tirx import backend
from tirx import script as Tx
from tirx.ir import PrimFunc
from tirx.tile import Variant

TARGET = "cuda -arch=sm_90a"


def _emit(call: Any, context: Any) -> None:
    if context.can_sync():
        context.sync()
    call.operand("dst").buffer[context.rank] = context.threads


class Marks:
    @backend.hookimpl
    def tirx_dispatch_variants(self) -> list[Variant]:
        return [Variant("fill", "cuda", "mark", emit=_emit, priority=1000)]


@pytest.fixture(autouse=True)
def marks() -> Iterator[None]:
    if not any(item.name == "marks" for item in backend.default_host().candidates()):
        backend.register("marks", Marks(), distribution="marks-kit")
    backend.load("marks")
    yield
    backend.unload("marks")


def lines(kernel: PrimFunc) -> list[str]:
    """The statements of the device function's source that store or synchronise."""
    text = tirx.compile(kernel, TARGET).source.text
    body = text[text.index("__global__") :]
    return [line.strip() for line in body.splitlines() if "A[" in line or "sync(" in line.replace("__shfl_sync", "")]


def test_a_warpgroup() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((512,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([256])
        Tx.wg.fill(A, 1.0)

    assert lines(k) == ["warpgroup_sync(15 - warpgroup_in_cta);", "A[thread_in_warpgroup] = 128.0f;"]


def test_one_warpgroup_of_a_cta_meets_alone() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((512,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([256])
        group = Tx.warpgroup_id()
        if group == 1:
            Tx.cta.fill(A, 1.0)

    assert lines(k) == ["warpgroup_sync(15 - group);", "A[tx - 128] = 128.0f;"]


def test_a_cluster() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((512,))):
        Tx.device_entry()
        Tx.cta_id([4])
        Tx.cta_id_in_cluster([2])
        Tx.thread_id([128])
        Tx.cluster.fill(A, 1.0)

    assert lines(k) == ["cluster_sync();", "A[cbx * 128 + tx] = 256.0f;"]


def test_what_only_the_ctas_of_a_cluster_disagree_about() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((512,))):
        Tx.device_entry()
        Tx.cta_id([4])
        cta = Tx.cta_id_in_cluster([2])
        Tx.thread_id([128])
        if cta == 0:
            Tx.cta.fill(A, 1.0)
            Tx.cluster.fill(A, 1.0)

    assert [line for line in lines(k) if "A[" in line] == ["A[tx] = 128.0f;", "A[cta * 128 + tx] = 128.0f;"]


def test_elected_threads() -> None:
    @Tx.prim_func
    def k(A: Tx.Buffer((512,))):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([256])
        warp = Tx.warp_id()
        if Tx.cuda.elect_sync():
            Tx.warp.fill(A, 1.0)
            Tx.cta.fill(A, 1.0)
            if warp >= 4:
                Tx.cta.fill(A, 1.0)
                Tx.warpgroup.fill(A, 1.0)

    assert [line for line in lines(k) if "A[" in line] == [
        "A[0] = 1.0f;",
        "A[warp] = 8.0f;",
        "A[warp - 4] = 4.0f;",
        "A[warp_in_warpgroup] = 4.0f;",
    ]
