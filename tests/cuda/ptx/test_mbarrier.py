"""Objects of both layouts, their two kinds of phases, and arrivals in several ctas at once."""

from __future__ import annotations

import numpy as np

import tirx
from tirx import script as Tx


def test_layouts_and_phases() -> None:
    text = """\
@T.prim_func
def kernel(A: T.Buffer((8,), "uint32")):
    T.device_entry()
    tx = T.thread_id([32])
    bars = T.alloc_shared((2,), "uint64")
    p: T.bool = T.bool(False)
    q: T.bool = T.bool(True)
    v: T.uint8 = T.uint8(9)
    if tx == 0:
        T.ptx.mbarrier.init.shared__cta.b64(bars.ptr_to([0]), T.uint32(1))
        T.ptx["mbarrier.init.layout::v1.shared::cta.b64"](bars.ptr_to([1]), T.uint32(1))
        for which in T.unroll(2):
            T.ptx["mbarrier.check_layout.layout::v1.shared::cta.b64"](p, bars.ptr_to([which]))
            A[which] = T.cast(p, "uint32")
        T.ptx["mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64"](p, bars.ptr_to([1]), T.uint32(0))
        A[2] = T.cast(p, "uint32")
        T.ptx.mbarrier.arrive.shared__cta.b64(T.ptx.SINK, bars.ptr_to([1]))
        T.ptx["mbarrier.test_wait.parity.phase_type::conditional.shared::cta.b64"](p, bars.ptr_to([1]), T.uint32(0))
        A[3] = T.cast(p, "uint32")
        T.ptx["mbarrier.try_wait.parity.phase_type::primary.shared::cta.b64"](p, q, v, bars.ptr_to([1]), T.uint32(0))
        A[4] = T.cast(p, "uint32")
        A[5] = T.cast(q, "uint32")
        A[6] = T.cast(v, "uint32")
        T.ptx["mbarrier.test_wait.parity.phase_type::primary.shared::cta.b64"](p, bars.ptr_to([1]), T.uint32(1))
        A[7] = T.cast(p, "uint32")
"""
    found = np.full(8, 7, np.uint32)
    report = tirx.simulate(Tx.from_source(text), found, target="cuda -arch=sm_90a")
    assert report.verdict == "clean", str(report)
    assert found.tolist() == [0, 1, 0, 1, 1, 0, 0, 0]


def test_the_newer_layout_counts_to_511() -> None:
    text = """\
@T.prim_func
def kernel():
    T.device_entry()
    tx = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx["mbarrier.init.LAYOUT.shared::cta.b64"](bar.ptr_to([0]), T.uint32(512))
"""
    for layout, verdict in (("layout::v0", "clean"), ("layout::v1", "error")):
        report = tirx.simulate(Tx.from_source(text.replace("LAYOUT", layout)), target="cuda -arch=sm_90a")
        assert report.verdict == verdict, str(report)


def test_arrivals_in_all_ctas_of_a_cluster() -> None:
    """Cta 0 announces bytes and arrives in both; each waits for its own object."""
    text = """\
@T.prim_func
def kernel(A: T.Buffer((2,), "uint32")):
    T.device_entry()
    T.cluster_id([1])
    rank = T.cta_id_in_cluster([2])
    tx = T.thread_id([32])
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx.mbarrier.init.shared__cta.b64(bar.ptr_to([0]), T.uint32(3))
    T.cuda.cluster_sync()
    here: T.uint32 = T.cuda.cvta_generic_to_shared(bar.ptr_to([0]))
    if tx == 0 and rank == 0:
        T.ptx["mbarrier.arrive.expect_tx.shared::cluster.multicast::cluster::32b.b64"](here, T.uint32(8), T.uint32(3))
        T.ptx["mbarrier.arrive.shared::cluster.multicast::cluster::32b.b64"](here, T.uint32(2), T.uint32(3))
        T.ptx["mbarrier.expect_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64"](here, T.uint32(8), T.uint32(2))
        T.ptx["mbarrier.complete_tx.relaxed.cluster.shared::cluster.multicast::cluster::32b.b64"](here, T.uint32(8), T.uint32(3))
    T.cuda.cluster_sync()
    done: T.bool = T.bool(False)
    T.ptx.mbarrier.test_wait.parity.shared__cta.b64(done, bar.ptr_to([0]), T.uint32(0))
    if tx == 0:
        A[rank] = T.cast(done, "uint32")
    T.cuda.cluster_sync()
"""
    found = np.full(2, 7, np.uint32)
    report = tirx.simulate(Tx.from_source(text), found, target="cuda -arch=sm_107a")
    assert report.verdict == "clean", str(report)
    assert found.tolist() == [1, 0]  # cta 1 still lacks eight bytes
