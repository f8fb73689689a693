"""Multicast addresses on several elements in one process: what all hold together, and what one writes for all."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx_cuda import nvshmem

TARGET = "cuda -arch=sm_100a"
BYTES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "b32": np.uint32,
    "b64": np.uint64,
}
BYTES |= {f"{sign}{bits}": np.dtype(f"{'u' * (sign == 'u')}int{bits}") for sign in "us" for bits in (32, 64)}


def everywhere(elements: int, body: str, arrays: list[list[Any]], setup: str = "") -> None:
    """A kernel of 32 threads on each element; `A` and `B` are arrays of 64-bit words."""
    sizes = [len(array) for array in arrays[0]]
    params = ", ".join(f'{name}: T.Buffer(({size},), "uint64")' for name, size in zip("ABC", sizes, strict=False))
    text = f"@T.prim_func\ndef kernel({params}):\n    T.device_entry()\n    tx = T.thread_id([32])\n{setup}{body}"
    reports = nvshmem.simulate(Tx.from_source(text), [tuple(own) for own in arrays], target=TARGET)
    for report in reports:
        assert report.verdict == "clean", str(report)


def words(values: Any) -> Any:
    return np.ascontiguousarray(values).view(np.uint64).reshape(-1)


LOADS = [
    ("min.s32", 1), ("max.u64", 1), ("add.u32", 1), ("and.b32", 1), ("xor.b64", 1), ("add.f32", 1), ("add.v4.f32", 4), ("add.f64", 1),
    ("add.acc::f32.v4.f16x2", 8), ("max.v2.bf16x2", 4), ("min.v8.f16", 8), ("add.acc::f32.v4.bf16", 4),
]  # fmt: skip
COMBINED = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "xor": np.bitwise_xor}


@pytest.mark.parametrize("elements", [1, 3])
@pytest.mark.parametrize(("form", "count"), LOADS)
def test_what_all_hold_together(form: str, count: int, elements: int) -> None:
    name, _, kind = form.partition(".")
    kind = kind.rpartition(".")[2] or kind
    base, packed = kind.removesuffix("x2"), kind.endswith("x2")
    held = np.dtype(BYTES[base])
    rng = np.random.default_rng(1)
    size = max(8, count * held.itemsize)  # bytes that each thread reads, in words of eight
    values = [rng.integers(0, 9, (32, size // held.itemsize)).astype(held) for _ in range(elements)]
    registers = count // 2 if packed else count
    bits = held.itemsize * 8 * (1 + packed)
    outs = [f"r{i}" for i in range(registers)]
    body = "".join(f"    {out}: T.uint{bits} = T.uint{bits}(0)\n" for out in outs)
    body += (
        f'    T.ptx["multimem.ld_reduce.relaxed.sys.global.{form}"]({", ".join(outs)}, A.ptr_to([tx * {size // 8}]))\n'
    )
    body += "".join(f'    C[tx * {registers} + {i}] = T.cast({out}, "uint64")\n' for i, out in enumerate(outs))
    arrays = [[words(own), np.zeros(1, np.uint64), np.zeros(32 * registers, np.uint64)] for own in values]
    everywhere(elements, body, arrays)
    total = values[0].astype(np.float64 if held.kind not in "iu" else held)
    for other in values[1:]:
        total = COMBINED[name](total, other.astype(total.dtype))
    expected = total[:, :count].astype(held)
    for *_, found in arrays:
        raw = found.astype(f"u{bits // 8}").view(held).reshape(32, count)
        assert raw.tolist() == expected.tolist()


def test_what_one_writes_all_have() -> None:
    """Each element writes its own quarter of the words and adds to all counters."""
    elements = 4
    body = """\
    me: T.let = T.nvshmem.my_pe()
    T.ptx["multimem.st.relaxed.sys.global.u64"](A.ptr_to([me * 32 + tx]), T.uint64(me * 100 + tx))
    T.ptx["multimem.red.relaxed.sys.global.add.u64"](B.ptr_to([tx]), T.uint64(me + 1))
    T.ptx["multimem.red.release.gpu.add.v4.f32"](C.ptr_to([tx * 2]), T.float32(1), T.float32(2), T.float32(3), T.float32(me))
"""
    arrays = [[np.zeros(size, np.uint64) for size in (128, 32, 64)] for _ in range(elements)]
    everywhere(elements, body, arrays)
    for first, second, third in arrays:
        assert first.tolist() == [100 * pe + thread for pe in range(4) for thread in range(32)]
        assert second.tolist() == [10] * 32
        assert third.view(np.float32).reshape(32, 4).tolist() == [[4, 8, 12, 6]] * 32


def test_asynchronous_stores_and_updates() -> None:
    body = """\
    T.ptx["multimem.st.async.release.sys.global.u32"](A.ptr_to([tx]), T.uint32(tx))
    T.ptx["multimem.red.async.release.sys.global.add.s32"](B.ptr_to([tx]), T.int32(tx))
"""
    arrays = [[np.full(32, 7, np.uint64), np.zeros(32, np.uint64)] for _ in range(2)]
    everywhere(2, body, arrays)
    for first, second in arrays:
        assert (first & 0xFFFFFFFF).tolist() == list(range(32))
        assert second.tolist() == [2 * thread for thread in range(32)]


@pytest.mark.parametrize("masked", [False, True])
def test_bulk_copies(masked: bool) -> None:
    setup = """\
    s = T.alloc_shared((32,), "uint64", align=16)
    s[tx] = T.cast(T.nvshmem.my_pe() + 1, "uint64") * T.uint64(0x0101010101010101)
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
"""
    copy = "multimem.cp.async.bulk.global.shared::cta.bulk_group" + (".cp_mask" if masked else "")
    more = ", T.uint16(0x00F1)" if masked else ""
    body = f"""\
    if tx == 0:
        T.ptx["{copy}"](A.ptr_to([T.nvshmem.my_pe() * 32]), s.ptr_to([0]), 256{more})
        T.ptx["multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64"](B.ptr_to([0]), s.ptr_to([0]), 256)
        T.ptx.cp.async_.bulk.commit_group()
        T.ptx.cp.async_.bulk.wait_group(0)
"""
    arrays = [[np.zeros(96, np.uint64), np.zeros(32, np.uint64)] for _ in range(3)]
    everywhere(3, body, arrays, setup)
    used = np.array([byte in (0, 4, 5, 6, 7) or not masked for byte in range(16)])
    for first, second in arrays:
        pattern = np.concatenate([np.tile(np.where(used, pe + 1, 0).astype(np.uint8), 16) for pe in range(3)])
        assert first.view(np.uint8).tolist() == pattern.tolist()
        assert second.tolist() == [6 * 0x0101010101010101] * 32


def test_an_address_of_nothing_that_all_share_is_found() -> None:
    text = """\
@T.prim_func
def kernel(A: T.Buffer((32,), "uint32")):
    T.device_entry()
    tx = T.thread_id([32])
    s = T.alloc_shared((32,), "uint32")
    s[tx] = T.uint32(0)
    r: T.uint32 = T.uint32(0)
    T.ptx["multimem.ld_reduce.add.u32"](r, s.ptr_to([tx]))
    A[tx] = r
"""
    given = [(np.zeros(32, np.uint32),) for _ in range(2)]
    reports = nvshmem.simulate(Tx.from_source(text), given, target=TARGET)
    assert all("lie in no symmetric array" in str(report) for report in reports)
    alone = tirx.simulate(Tx.from_source(text), given[0][0], target=TARGET)
    assert alone.verdict == "clean", str(alone)
