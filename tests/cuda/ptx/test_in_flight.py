"""Operations that go on after their instruction: what disturbs them, and what must stand between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx

BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.global.shared::cta.bulk_group"
BARRIER = """\
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), 1)
    T.cuda.cta_sync()
"""


def found(text: str, *values: Any, target: str = "cuda -arch=sm_90a") -> list[tuple[str, int, int | None]]:
    """Kinds of findings, their lines, and the lines of the other side; lines count in the text."""
    report = tirx.simulate(Tx.from_source(text), *values, target=target)
    assert report.unmodelled == []
    return [(f.kind, f.span.line, f.other.line if f.other is not None else None) for f in report.findings if f.span]


def lines(text: str, *parts: str) -> list[int]:
    """The numbers of the lines that hold these parts."""
    listed = text.splitlines()
    return [next(at for at, line in enumerate(listed, 1) if part in line) for part in parts]


COPIES = f"""\
@T.prim_func
def kernel(A: T.Buffer((32,), "float32"), Out: T.Buffer((32,), "float32")):
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((32,), "float32", align=128)
{BARRIER}\
    if tx == 0:
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 128)
        T.ptx["{BULK}"](s.ptr_to([0]), A.ptr_to([0]), 128, bar.ptr_to([0]))
    T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
    Out[tx] = s[tx]
"""


def test_a_copy_is_waited_for() -> None:
    a, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    assert found(COPIES, a, out) == []
    assert out.tolist() == a.tolist()
    text = COPIES.replace("    T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)\n", "    T.cuda.warp_sync()\n")
    read, copy = lines(text, "Out[tx] =", BULK)
    assert ("in_flight", read, copy) in found(text, a, out)


def test_what_a_copy_writes_is_left_alone() -> None:
    text = COPIES.replace(
        "    T.cuda.mbarrier_wait", "    T.cuda.warp_sync()\n    s[tx] = 1.0\n    T.cuda.mbarrier_wait"
    )
    write, copy = lines(text, "s[tx] = 1.0", BULK)
    assert ("in_flight", write, copy) in found(text, np.zeros(32, np.float32), np.zeros(32, np.float32))


def test_a_wrong_parity_goes_through_too_early() -> None:
    text = COPIES.replace("mbarrier_wait(bar.ptr_to([0]), 0)", "mbarrier_wait(bar.ptr_to([0]), 1)").replace(
        "    if tx == 0:\n        T.ptx.mbarrier.arrive",
        "    T.cuda.mbarrier_wait(bar.ptr_to([0]), 1)\n    if tx == 0:\n        T.ptx.mbarrier.arrive",
    )
    assert {kind for kind, _, _ in found(text, np.zeros(32, np.float32), np.zeros(32, np.float32))} == {"deadlock"}


@pytest.mark.parametrize("count", [112, 144])
def test_bytes_that_do_not_add_up(count: int) -> None:
    text = COPIES.replace("bar.ptr_to([0]), 128)\n        T.ptx", f"bar.ptr_to([0]), {count})\n        T.ptx")
    expects, waits = lines(text, "expect_tx", "mbarrier_wait")
    report = tirx.simulate(
        Tx.from_source(text), np.zeros(32, np.float32), np.zeros(32, np.float32), target="cuda -arch=sm_90a"
    )
    assert [(f.kind, f.span.line) for f in report.findings] == [("transaction_count", expects), ("deadlock", waits)]
    words = "16 bytes more than copies bring" if count > 128 else "16 bytes fewer than copies bring"
    assert words in report.findings[0].message
    assert any("phase 0 (parity 0) runs and lacks 0 of 1 arrivals" in note for note in report.findings[1].notes)


STORES = f"""\
@T.prim_func
def kernel(Out: T.Buffer((32,), "float32")):
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((32,), "float32", align=128)
    s[tx] = T.cast(tx, "float32")
    T.ptx.fence.proxy.async_()
    T.cuda.warp_sync()
    if tx == 0:
        T.ptx["{STORE}"](Out.ptr_to([0]), s.ptr_to([0]), 128)
        T.ptx.cp.async_.bulk.commit_group()
        T.ptx.cp.async_.bulk.wait_group.read(0)
    T.cuda.warp_sync()
    s[tx] = 0.0
"""


def test_the_source_of_a_copy_is_left_alone_until_it_is_read() -> None:
    out = np.zeros(32, np.float32)
    assert found(STORES, out) == []
    assert out.tolist() == list(range(32))
    text = STORES.replace("        T.ptx.cp.async_.bulk.wait_group.read(0)\n", "")
    write, copy = lines(text, "s[tx] = 0.0", STORE)
    assert found(text, out) == [("in_flight", write, copy), ("in_flight", copy, None)]


@pytest.mark.parametrize(("old", "new", "clean"), [
    ("    T.ptx.fence.proxy.async_()\n", "", False),
    ("    T.ptx.fence.proxy.async_()\n    T.cuda.warp_sync()\n", "    T.cuda.warp_sync()\n    T.ptx.fence.proxy.async_()\n", True),
    ("    T.ptx.fence.proxy.async_()\n", "    if tx == 0:\n        T.ptx.fence.proxy.async_()\n", False),
    ("    T.ptx.fence.proxy.async_()\n    T.cuda.warp_sync()\n    if tx == 0:\n",
     "    T.cuda.warp_sync()\n    if tx == 0:\n        T.ptx.fence.proxy.async_()\n", True),
    ("fence.proxy.async_()", "fence.proxy.async_.shared__cta()", True),
    ("fence.proxy.async_()", "fence.proxy.async_.global_()", False),
])  # fmt: skip
def test_ordinary_writes_are_fenced(old: str, new: str, clean: bool) -> None:
    """By who writes, or by who knows of the writes."""
    text = STORES.replace(old, new)
    write, copy = lines(text, "s[tx] = T.cast", STORE)
    assert found(text, np.zeros(32, np.float32)) == ([] if clean else [("proxy_fence", copy, write)])


# ---- products of a warpgroup ------------------------------------------------------------------------------------------

PRODUCT = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
PRODUCTS = f"""\
@T.prim_func
def kernel(Out: T.Buffer((128, 4), "float32")):
    T.device_entry()
    tx = T.thread_id([128])
    sa = T.alloc_shared((64, 16), "float16", align=128)
    sb = T.alloc_shared((8, 16), "float16", align=128)
    d = T.alloc_local((4,), "float32")
    for i in T.unroll(8):
        sa[tx // 2, tx % 2 * 8 + i] = T.float16(1)
    sb[tx // 16, tx % 16] = T.float16(1)
    for i in T.unroll(4):
        d[i] = 0.0
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    a: T.uint64 = T.uint64(0)
    b: T.uint64 = T.uint64(0)
    T.cuda.wgmma.encode_matrix_descriptor(a, sa.ptr_to([0, 0]), 1, 16, 0)
    T.cuda.wgmma.encode_matrix_descriptor(b, sb.ptr_to([0, 0]), 1, 16, 0)
    T.ptx.wgmma.fence.sync.aligned()
    T.ptx["{PRODUCT}"](d[0], d[1], d[2], d[3], a, b, True, 1, 1, 0, 0)
    T.ptx["{PRODUCT}"](d[0], d[1], d[2], d[3], a, b, True, 1, 1, 0, 0)
    T.ptx.wgmma.commit_group.sync.aligned()
    T.ptx.wgmma.wait_group.sync.aligned(0)
    sa[tx // 2, tx % 2 * 8] = T.float16(0)
    for i in T.unroll(4):
        Out[tx, i] = d[i]
"""


def test_products_that_are_waited_for() -> None:
    out = np.zeros((128, 4), np.float32)
    assert found(PRODUCTS, out) == []
    assert (out == 32).all()


def test_products_that_are_not() -> None:
    text = PRODUCTS.replace("    T.ptx.wgmma.wait_group.sync.aligned(0)\n", "")
    write, read, product = lines(text, "T.float16(0)", "Out[tx, i]", PRODUCT)
    made = found(text, np.zeros((128, 4), np.float32))
    assert {("in_flight", write, product + 1), ("in_flight", read, None)} <= set(made)


def test_a_group_that_is_still_running() -> None:
    text = PRODUCTS.replace("wait_group.sync.aligned(0)", "wait_group.sync.aligned(1)")
    assert "in_flight" in {kind for kind, _, _ in found(text, np.zeros((128, 4), np.float32))}


@pytest.mark.parametrize(("old", "new"), [
    ("    T.ptx.wgmma.fence.sync.aligned()\n", ""),
    ("    T.ptx.wgmma.fence.sync.aligned()\n", "    T.ptx.wgmma.fence.sync.aligned()\n    d[2] = 1.0\n"),
])  # fmt: skip
def test_registers_are_handed_over(old: str, new: str) -> None:
    text = PRODUCTS.replace(old, new)
    (product,) = lines(text, PRODUCT)
    assert ("register_fence", product, None) in found(text, np.zeros((128, 4), np.float32))


def test_a_sum_is_not_changed_while_it_grows() -> None:
    text = PRODUCTS.replace("    T.ptx.wgmma.commit_group", "    d[1] = 3.0\n    T.ptx.wgmma.commit_group")
    (line,) = lines(text, "d[1] = 3.0")
    assert ("in_flight", line, None) in found(text, np.zeros((128, 4), np.float32))


# ---- tensor memory ----------------------------------------------------------------------------------------------------

TENSOR = """\
@T.prim_func
def kernel(Out: T.Buffer((128,), "uint32")):
    T.device_entry()
    tx = T.thread_id([128])
    where = T.alloc_shared((1,), "uint32")
    if tx < 32:
        T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(where.ptr_to([0]), 32)
    T.cuda.cta_sync()
    mine: T.uint32 = where[0] + T.uint32(tx // 32 * 32 * 65536)
    r = T.alloc_local((1,), "uint32")
    T.ptx.tcgen05.st.sync.aligned._32x32b.x1.b32(mine, T.uint32(tx))
    T.ptx.tcgen05.wait__st.sync.aligned()
    T.ptx.tcgen05.ld.sync.aligned._32x32b.x1.b32(r[0], mine)
    T.ptx.tcgen05.wait__ld.sync.aligned()
    Out[tx] = r[0]
"""


def test_loads_and_stores_of_tensor_memory_are_waited_for() -> None:
    out, target = np.zeros(128, np.uint32), "cuda -arch=sm_100a"
    assert found(TENSOR, out, target=target) == []
    assert out.tolist() == list(range(128))
    text = TENSOR.replace("    T.ptx.tcgen05.wait__st.sync.aligned()\n", "")
    load, store = lines(text, "tcgen05.ld", "tcgen05.st")
    assert found(text, out, target=target) == [("in_flight", load, store)]
    text = TENSOR.replace("    T.ptx.tcgen05.wait__ld.sync.aligned()\n", "")
    assert found(text, out, target=target) == [("in_flight", lines(text, "Out[tx] =")[0], None)]
