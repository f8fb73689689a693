"""Products of a warpgroup: where descriptors put matrices, and which registers hold the sums."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx

from .test_matrix import left_words
from .test_sparse import metadata, random_rows

HELD = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "s8": np.int8,
}
WIDTHS = (0, 32, 64, 128)  # bytes of a row, by what encode_matrix_descriptor takes


def places(rows: int, k: int, size: int, mode: int, transposed: bool) -> tuple[Any, int, int]:
    """The byte of each element (rows, k) of a matrix, and both offsets of its descriptor in units of 16 bytes."""
    row, column = np.meshgrid(np.arange(rows), np.arange(k), indexing="ij")
    if not transposed:
        byte = column * size
        if mode == 0:  # 8 x 16 bytes at a time, those along k first
            return row // 8 * (8 * k * size) + byte // 16 * 128 + row % 8 * 16 + byte % 16, 8, k * size // 2
        width = WIDTHS[mode]
        place = row * width + byte
        return place ^ (place >> 7 & (width // 16 - 1)) << 4, 1, width // 2
    byte = row * size
    if mode == 0:
        return byte // 16 * (16 * k) + column // 8 * 128 + column % 8 * 16 + byte % 16, 8, k
    width = WIDTHS[mode]
    place = byte // width * (k * width) + column * width + byte % width
    return place ^ (place >> 7 & (width // 16 - 1)) << 4, k * width // 16, width // 2


def stored(matrix: Any, kind: str, mode: int, transposed: bool) -> tuple[Any, int, int]:
    data = np.ascontiguousarray(matrix.astype(HELD[kind]))
    size = data.dtype.itemsize
    place, leading, stride = places(*matrix.shape, size, mode, transposed)
    memory = np.zeros(16384, np.uint8)
    for byte in range(size):
        memory[place + byte] = data.view(np.uint8).reshape(*matrix.shape, size)[..., byte]
    return memory, leading, stride


CASES = [
    *(("f16", "f32", 16, mode, trans, 64) for mode in range(4) for trans in (False, True) if not (trans and mode == 3)),
    ("bf16", "f32", 16, 3, True, 128), ("f16", "f16", 16, 3, False, 24), ("tf32", "f32", 8, 3, False, 8),
    ("e4m3", "f32", 32, 2, False, 256), ("s8", "s32", 32, 3, False, 96),
]  # fmt: skip


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize(("kind", "sums", "k", "mode", "transposed", "n"), CASES)
def test_products(kind: str, sums: str, k: int, mode: int, transposed: bool, n: int, registers: bool) -> None:
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-4, 5, shape).astype(np.float64) for shape in ((64, k), (n, k), (64, n)))
    packs = 2 if sums == "f16" else 1
    count = n // 2 // packs
    memory_a, *offsets_a = stored(a, kind, mode, transposed)
    memory_b, *offsets_b = stored(b, kind, mode, transposed)
    thread = np.arange(128)
    row = (thread // 32 * 16 + thread % 32 // 4)[:, None] + 8 * (np.arange(n // 2) // 2 % 2)
    column = 8 * (np.arange(n // 2) // 4) + 2 * (thread % 4)[:, None] + np.arange(n // 2) % 2
    held = {"f16": np.float16, "f32": np.float32, "s32": np.int32}[sums]
    words = np.ascontiguousarray(c[row, column].astype(held)).view(np.uint32)
    left = [left_words(a[16 * warp : 16 * warp + 16], kind) for warp in range(4)]
    fragment = np.array([np.concatenate(parts) for parts in zip(*left, strict=True)]).T.copy()
    more = {"f16": 2, "bf16": 2, "tf32": 0, "e4m3": 0, "s8": 0}[kind] - (registers and kind in ("f16", "bf16"))
    numbers = ["1", "-1", *[str(int(transposed))] * more] if sums != "s32" else []
    first = "F[tx, 0], F[tx, 1], F[tx, 2], F[tx, 3]" if registers else "da"
    carried = "float32" if sums == "f32" else "uint32"
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer((16384,), "uint8"), B: T.Buffer((16384,), "uint8"), C: T.Buffer((128, {count}), "uint32"),
           F: T.Buffer((128, 4), "uint32")):
    T.device_entry()
    tx = T.thread_id([128])
    sa = T.alloc_shared((16384,), "uint8", align=1024)
    sb = T.alloc_shared((16384,), "uint8", align=1024)
    d = T.alloc_local(({count},), "{carried}")
    for i in range(128):
        sa[i * 128 + tx] = A[i * 128 + tx]
        sb[i * 128 + tx] = B[i * 128 + tx]
    for i in T.unroll({count}):
        d[i] = T.reinterpret("{carried}", C[tx, i])
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    da: T.uint64 = T.uint64(0)
    db: T.uint64 = T.uint64(0)
    T.cuda.wgmma.encode_matrix_descriptor(da, sa.ptr_to([0]), {offsets_a[0]}, {offsets_a[1]}, {mode})
    T.cuda.wgmma.encode_matrix_descriptor(db, sb.ptr_to([0]), {offsets_b[0]}, {offsets_b[1]}, {mode})
    T.ptx.wgmma.fence.sync.aligned()
    T.ptx["wgmma.mma_async.sync.aligned.m64n{n}k{k}.{sums}.{kind}.{kind}"](
        {", ".join(f"d[{i}]" for i in range(count))}, {", ".join([first, "db", "True", *numbers])})
    T.ptx.wgmma.commit_group.sync.aligned()
    T.ptx.wgmma.wait_group.sync.aligned(0)
    for i in T.unroll({count}):
        C[tx, i] = T.reinterpret("uint32", d[i])
"""
    report = tirx.simulate(Tx.from_source(text), memory_a, memory_b, words, fragment, target="cuda -arch=sm_90a")
    assert report.verdict == "clean", str(report)
    left_matrix = -a if sums != "s32" else a
    exact = left_matrix @ b.T + c
    assert words.view(held).tolist() == exact[row, column].astype(held).tolist()


# ---- half of A left out ---------------------------------------------------------------------------------------------

SPARSE = [
    ("f16", "f32", 32, 3, False, 64, 1), ("f16", "f32", 32, 0, True, 16, 0), ("bf16", "f32", 32, 2, True, 32, 1),
    ("f16", "f32", 32, 0, False, 24, 0), ("tf32", "f32", 16, 3, False, 8, 1), ("e4m3", "f32", 64, 3, False, 16, 0),
    ("s8", "s32", 64, 2, False, 32, 0),
]  # fmt: skip


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize(("kind", "sums", "k", "mode", "transposed", "n", "selector"), SPARSE)
def test_sparse_products(
    kind: str, sums: str, k: int, mode: int, transposed: bool, n: int, selector: int, registers: bool
) -> None:
    whole, kept, nibbles = random_rows(kind, 64, k, False, 1)
    b = np.random.default_rng(2).integers(-4, 5, (n, k)).astype(np.float64)
    memory_a, *offsets_a = stored(kept, kind, mode, transposed)
    memory_b, *offsets_b = stored(b, kind, mode, transposed)
    words = np.concatenate([metadata(nibbles[16 * w : 16 * w + 16], kind, selector, w) for w in range(4)])
    left = [left_words(kept[16 * warp : 16 * warp + 16], kind) for warp in range(4)]
    fragment = np.array([np.concatenate(parts) for parts in zip(*left, strict=True)]).T.copy()
    more = 2 - registers if kind in ("f16", "bf16") else 0
    numbers = ["1", "-1", *[str(int(transposed))] * more] if sums != "s32" else []
    carried = "float32" if sums == "f32" else "uint32"
    first = "F[tx, 0], F[tx, 1], F[tx, 2], F[tx, 3]" if registers else "da"
    count = n // 2
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer((16384,), "uint8"), B: T.Buffer((16384,), "uint8"), C: T.Buffer((128, {count}), "uint32"),
           F: T.Buffer((128, 4), "uint32"), E: T.Buffer((128,), "uint32")):
    T.device_entry()
    tx = T.thread_id([128])
    sa = T.alloc_shared((16384,), "uint8", align=1024)
    sb = T.alloc_shared((16384,), "uint8", align=1024)
    d = T.alloc_local(({count},), "{carried}")
    for i in range(128):
        sa[i * 128 + tx] = A[i * 128 + tx]
        sb[i * 128 + tx] = B[i * 128 + tx]
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    da: T.uint64 = T.uint64(0)
    db: T.uint64 = T.uint64(0)
    T.cuda.wgmma.encode_matrix_descriptor(da, sa.ptr_to([0]), {offsets_a[0]}, {offsets_a[1]}, {mode})
    T.cuda.wgmma.encode_matrix_descriptor(db, sb.ptr_to([0]), {offsets_b[0]}, {offsets_b[1]}, {mode})
    for i in T.unroll({count}):
        d[i] = T.reinterpret("{carried}", T.uint32(0))
    T.ptx.wgmma.fence.sync.aligned()
    T.ptx["wgmma.mma_async.sp.sync.aligned.m64n{n}k{k}.{sums}.{kind}.{kind}"](
        {", ".join(f"d[{i}]" for i in range(count))},
        {", ".join([first, "db", "E[tx]", str(selector), "False", *numbers])})
    T.ptx.wgmma.commit_group.sync.aligned()
    T.ptx.wgmma.wait_group.sync.aligned(0)
    for i in T.unroll({count}):
        C[tx, i] = T.reinterpret("uint32", d[i])
"""
    sum_words = np.zeros((128, count), np.uint32)
    report = tirx.simulate(
        Tx.from_source(text), memory_a, memory_b, sum_words, fragment, words, target="cuda -arch=sm_90a"
    )
    assert report.verdict == "clean", str(report)
    thread, i = np.arange(128)[:, None], np.arange(count)
    row = thread // 32 * 16 + thread % 32 // 4 + 8 * (i // 2 % 2)
    column = 8 * (i // 4) + 2 * (thread % 4) + i % 2
    exact = (-whole if sums != "s32" else whole) @ b.T
    held = {"f32": np.float32, "s32": np.int32}[sums]
    assert sum_words.view(held).tolist() == exact[row, column].astype(held).tolist()
