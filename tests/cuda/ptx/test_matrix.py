"""Matrices in registers: products of every dense shape, and moves between memory and registers."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx

from .machine import run

LANES = np.arange(32)
GROUP, MEMBER = LANES >> 2, LANES & 3
PER_WORD = {
    "f16": 2,
    "bf16": 2,
    "tf32": 1,
    "s8": 4,
    "u8": 4,
    "s4": 8,
    "u4": 8,
    "b1": 32,
    "e4m3": 4,
    "e5m2": 4,
    "e3m2": 4,
    "e2m1": 8,
    "f64": 1,
}


def matrix(kind: str, shape: tuple[int, int], seed: int) -> Any:
    """Small numbers that every sum of products holds exactly."""
    rng = np.random.default_rng(seed)
    low, high = {"u8": (0, 200), "s8": (-100, 100), "u4": (0, 16), "s4": (-8, 8), "b1": (0, 2)}.get(kind, (-4, 5))
    return rng.integers(low, high, shape).astype(np.float64)


def packed(values: Any, kind: str) -> Any:
    """Elements along the last axis as registers of 32 bits (64 for doubles)."""
    if kind == "f64":
        return values.astype(np.float64)[..., 0]
    if kind == "tf32":
        return values.astype(np.float32).view(np.uint32)[..., 0]
    floats = {
        "f16": np.float16,
        "bf16": ml_dtypes.bfloat16,
        "e4m3": ml_dtypes.float8_e4m3fn,
        "e5m2": ml_dtypes.float8_e5m2,
    }
    if kind in floats:
        return np.ascontiguousarray(values.astype(floats[kind])).view(np.uint32)[..., 0]
    if kind in ("e3m2", "e2m1"):
        small = {"e3m2": ml_dtypes.float6_e3m2fn, "e2m1": ml_dtypes.float4_e2m1fn}[kind]
        values = values.astype(small).view(np.uint8)
    bits = 32 // values.shape[-1]
    parts = values.astype(np.int64) & ((1 << bits) - 1)
    return (parts << (bits * np.arange(values.shape[-1]))).sum(axis=-1).astype(np.uint32)


def left_words(a: Any, kind: str) -> list[Any]:
    """Registers of matrix A: rows of the group and eight below, columns by member, then further to the right."""
    per, (rows, columns) = PER_WORD[kind], a.shape
    corners = [(8 * below, right * 4 * per) for right in range(columns // (4 * per)) for below in range(rows // 8)]
    words = [
        np.stack([a[GROUP + row, MEMBER * per + e + column] for e in range(per)], axis=-1) for row, column in corners
    ]
    return [packed(word, kind) for word in words]


def right_words(b: Any, kind: str) -> list[Any]:
    """Registers of matrix B: rows by member, columns by group."""
    per = PER_WORD[kind]
    words = [
        np.stack([b[MEMBER * per + e + below * 4 * per, GROUP] for e in range(per)], axis=-1)
        for below in range(len(b) // (4 * per))
    ]
    return [packed(word, kind) for word in words]


def sum_places(m: int) -> list[tuple[Any, Any]]:
    """Rows and columns of the accumulators of each lane."""
    return [(GROUP + 8 * (i // 2), MEMBER * 2 + i % 2) for i in range(m // 4)]


SHAPES = [
    *((f"m16n8k{k}", kind, kind, "f32") for kind, sizes in {"f16": (8, 16), "bf16": (8, 16), "tf32": (4, 8)}.items() for k in sizes),
    *((f"m16n8k{k}", "e4m3", "e5m2", "f32") for k in (16, 32)),
    *((f"m8n8k{k}", kind, kind, "s32") for k, kind in ((16, "s8"), (32, "s4"))),
    *((f"m16n8k{k}", a, b, "s32") for k, a, b in ((16, "u8", "s8"), (32, "s8", "u8"), (32, "u4", "s4"), (64, "s4", "u4"))),
    ("m8n8k4", "f64", "f64", "f64"), ("m16n8k4", "f64", "f64", "f64"), ("m16n8k8", "f64", "f64", "f64"), ("m16n8k16", "f64", "f64", "f64"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "kind_a", "kind_b", "sums"), SHAPES)
def test_products(shape: str, kind_a: str, kind_b: str, sums: str) -> None:
    m, n, k = (int(part) for part in shape.replace("n", " ").replace("k", " ").replace("m", " ").split())
    a, b = matrix(kind_a, (m, k), 1), matrix(kind_b, (k, n), 2)
    c = np.random.default_rng(3).integers(-50, 50, (m, n)).astype(np.float64)
    held = {"f32": np.float32, "s32": np.int32, "f64": np.float64}[sums]
    places = sum_places(m)
    start = [c[rows, columns].astype(held) for rows, columns in places]
    start = [word.view(np.uint32) if sums != "f64" else word for word in start]
    mnemonic = f"mma.sync.aligned.{shape}.row.col.{sums}.{kind_a}.{kind_b}.{sums}"
    made = run(mnemonic, *left_words(a, kind_a), *right_words(b, kind_b), *start)
    exact = a @ b + c
    for (rows, columns), word in zip(places, made, strict=True):
        assert word.view(held).tolist() == exact[rows, columns].tolist()


def test_half_precision_sums_are_packed() -> None:
    a, b, c = matrix("f16", (16, 16), 4), matrix("f16", (16, 8), 5), matrix("f16", (16, 8), 6)
    start = [
        packed(np.stack([c[GROUP + 8 * i, MEMBER * 2], c[GROUP + 8 * i, MEMBER * 2 + 1]], axis=-1), "f16")
        for i in range(2)
    ]
    made = run(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", *left_words(a, "f16"), *right_words(b, "f16"), *start
    )
    exact = (a @ b + c).astype(np.float16)
    for i, word in enumerate(made):
        assert word.view(np.float16).reshape(32, 2).tolist() == [
            [exact[g + 8 * i, 2 * t], exact[g + 8 * i, 2 * t + 1]] for g, t in zip(GROUP, MEMBER, strict=True)
        ]


@pytest.mark.parametrize("operation", ["xor", "and"])
def test_products_of_bits_count_them(operation: str) -> None:
    a, b = matrix("b1", (16, 128), 7), matrix("b1", (128, 8), 8)
    zero = [np.zeros(32, np.uint32)] * 4
    made = run(
        f"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.{operation}.popc",
        *left_words(a, "b1"),
        *right_words(b, "b1"),
        *zero,
    )
    together = a[:, :, None].astype(int), b[None].astype(int)
    counts = ((together[0] ^ together[1]) if operation == "xor" else (together[0] & together[1])).sum(axis=1)
    for (rows, columns), word in zip(sum_places(16), made, strict=True):
        assert word.tolist() == counts[rows, columns].tolist()


def test_integers_saturate_when_asked() -> None:
    a, b = np.full((8, 16), 127.0), np.full((16, 8), 127.0)
    start = [np.full(32, 2**31 - 5, np.uint32)] * 2
    plain = run("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", *left_words(a, "s8"), *right_words(b, "s8"), *start)
    assert plain[0].view(np.int32)[0] == 2**31 - 5 + 16 * 127**2 - 2**32
    kept = run(
        "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32", *left_words(a, "s8"), *right_words(b, "s8"), *start
    )
    assert kept[0].view(np.int32)[0] == 2**31 - 1


def test_four_small_products_at_once() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.integers(-4, 5, (4, 8, 4)).astype(np.float64), rng.integers(-4, 5, (4, 4, 8)).astype(np.float64)
    quad, high = (LANES % 16) // 4, LANES >= 16
    rows = LANES % 4 + 4 * high
    left = [packed(a[quad, rows][:, 2 * i : 2 * i + 2], "f16") for i in range(2)]
    right = [packed(b[quad, :, rows][:, 2 * i : 2 * i + 2], "f16") for i in range(2)]
    zero = [np.zeros(32, np.float32).view(np.uint32)] * 8
    made = run("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", *left, *right, *zero)
    exact = a @ b
    for i, word in enumerate(made):
        row = (LANES & 1) + (i & 2) + 4 * high
        column = (i & 4) + (LANES & 2) + (i & 1)
        assert word.view(np.float32).tolist() == exact[quad, row, column].tolist()


SCALED = [
    ("m16n8k32", "mxf8f6f4", "", "e4m3", "e3m2", "ue8m0", 1, (3, 1, 2, 3)),
    ("m16n8k64", "mxf4", ".scale_vec::2X", "e2m1", "e2m1", "ue8m0", 2, (2, 0, 0, 1)),
    ("m16n8k64", "mxf4nvf4", ".scale_vec::4X", "e2m1", "e2m1", "ue4m3", 4, (0, 1, 0, 2)),
]


@pytest.mark.parametrize(("shape", "kind", "vector", "kind_a", "kind_b", "scale", "blocks", "selectors"), SCALED)
def test_products_with_a_scale_for_each_block(
    shape: str, kind: str, vector: str, kind_a: str, kind_b: str, scale: str, blocks: int, selectors: tuple[int, ...]
) -> None:
    k = int(shape.rpartition("k")[2])
    a, b, c = matrix(kind_a, (16, k), 1), matrix(kind_b, (k, 8), 2), matrix("f16", (16, 8), 3)
    held = ml_dtypes.float8_e8m0fnu if scale == "ue8m0" else ml_dtypes.float8_e4m3fn
    rng = np.random.default_rng(4)
    stored_a, stored_b = (2.0 ** rng.integers(-2, 3, (32, 4)) for _ in range(2))  # bytes of each lane
    byte_a, thread_a, byte_b, thread_b = selectors
    scale_a = np.array([stored_a[(m % 8) * 4 + thread_a * 2 + m // 8, byte_a : byte_a + blocks] for m in range(16)])
    scale_b = np.array([stored_b[n * 4 + thread_b, byte_b : byte_b + blocks] for n in range(8)]).T
    words = [np.ascontiguousarray(stored.astype(held)).view(np.uint32)[:, 0] for stored in (stored_a, stored_b)]
    numbers = [np.full(32, number, np.uint16) for number in selectors]
    places = sum_places(16)
    start = [c[rows, columns].astype(np.float32).view(np.uint32) for rows, columns in places]
    mnemonic = f"mma.sync.aligned.{shape}.row.col.kind::{kind}.block_scale{vector}.f32.{kind_a}.{kind_b}.f32.{scale}"
    registers = (*left_words(a, kind_a), *right_words(b, kind_b), *start)
    scales = (words[0], *numbers[:2], words[1], *numbers[2:])
    made = run(mnemonic, *registers, *scales, target="cuda -arch=sm_120a")
    exact = (a * scale_a.repeat(k // blocks, axis=1)) @ (b * scale_b.repeat(k // blocks, axis=0)) + c
    for (rows, columns), word in zip(places, made, strict=True):
        assert word.view(np.float32).tolist() == exact[rows, columns].tolist()


def test_a_warp_that_is_not_whole_is_a_finding() -> None:
    one = np.zeros(16, np.uint32)
    run("movmatrix.sync.aligned.m8n8.trans.b16", one, verdict="error")


# ---- moves ----------------------------------------------------------------------------------------------------------


def test_matrices_move_between_shared_memory_and_registers() -> None:
    @Tx.prim_func
    def kernel(
        A: Tx.Buffer((32, 8), "uint16"),
        B: Tx.Buffer((32, 8), "uint16"),
        C: Tx.Buffer((4, 32), "uint32"),
        D: Tx.Buffer((32,), "uint32"),
    ):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        s = Tx.alloc_shared((32, 8), "uint16", align=128)
        t = Tx.alloc_shared((32, 8), "uint16", align=128)
        r = Tx.alloc_local((4,), "uint32")
        for i in range(8):
            s[lane, i] = A[lane, i]
        Tx.cuda.cta_sync()
        Tx.ptx.ldmatrix.sync.aligned.m8n8.x4.shared.b16(r[0], r[1], r[2], r[3], s.ptr_to([lane, 0]))
        for i in Tx.unroll(4):
            C[i, lane] = r[i]
        Tx.ptx.stmatrix.sync.aligned.m8n8.x4.trans.shared.b16(t.ptr_to([lane, 0]), r[0], r[1], r[2], r[3])
        Tx.cuda.cta_sync()
        for i in range(8):
            B[lane, i] = t[lane, i]
        m: Tx.uint32 = Tx.uint32(0)
        Tx.ptx.movmatrix.sync.aligned.m8n8.trans.b16(m, r[0])
        D[lane] = m

    a = np.arange(256, dtype=np.uint16).reshape(32, 8)
    b, c, d = np.zeros((32, 8), np.uint16), np.zeros((4, 32), np.uint32), np.zeros(32, np.uint32)
    report = tirx.simulate(kernel, a, b, c, d, target="cuda -arch=sm_90")
    assert report.verdict == "clean", str(report)
    matrices = a.reshape(4, 8, 8)
    assert c.view(np.uint16).reshape(4, 8, 4, 2).reshape(4, 8, 8).tolist() == matrices.tolist()
    assert b.reshape(4, 8, 8).tolist() == matrices.swapaxes(1, 2).tolist()
    assert d.view(np.uint16).reshape(8, 8).tolist() == matrices[0].T.tolist()


def test_transposing_while_loading() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((16, 8), "uint16"), C: Tx.Buffer((2, 32), "uint32")):
        Tx.device_entry()
        lane = Tx.thread_id([32])
        s = Tx.alloc_shared((16, 8), "uint16", align=128)
        r = Tx.alloc_local((2,), "uint32")
        if lane < 16:
            for i in range(8):
                s[lane, i] = A[lane, i]
        Tx.cuda.cta_sync()
        Tx.ptx.ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16(r[0], r[1], s.ptr_to([lane % 16, 0]))
        C[0, lane] = r[0]
        C[1, lane] = r[1]

    a, c = np.arange(128, dtype=np.uint16).reshape(16, 8), np.zeros((2, 32), np.uint32)
    assert tirx.simulate(kernel, a, c, target="cuda -arch=sm_80").verdict == "clean"
    assert c.view(np.uint16).reshape(2, 8, 8).tolist() == a.reshape(2, 8, 8).swapaxes(1, 2).tolist()


# ---- a whole product ------------------------------------------------------------------------------------------------


@Tx.prim_func
def gemm(A: Tx.Buffer((256, 256), "float16"), B: Tx.Buffer((256, 256), "float16"), C: Tx.Buffer((256, 256), "float32")):
    Tx.device_entry()
    bx, by = Tx.cta_id([4, 4])
    w = Tx.warp_id([4])
    lane = Tx.lane_id([32])
    tx = w * 32 + lane
    As = Tx.alloc_shared((64, 32), "float16", align=128)
    Bs = Tx.alloc_shared((32, 64), "float16", align=128)
    acc = Tx.alloc_local((2, 4, 4), "float32")
    a = Tx.alloc_local((2, 4), "uint32")
    b = Tx.alloc_local((4, 2), "uint32")
    for i, j, r in Tx.grid(2, 4, 4):
        acc[i, j, r] = 0.0
    for ko in range(8):
        for i in Tx.unroll(2):
            Tx.ptx.cp.async_.cg.shared.global_(
                As.ptr_to([i * 32 + tx // 4, tx % 4 * 8]),
                A.ptr_to([bx * 64 + i * 32 + tx // 4, ko * 32 + tx % 4 * 8]),
                16,
            )
            Tx.ptx.cp.async_.cg.shared.global_(
                Bs.ptr_to([i * 16 + tx // 8, tx % 8 * 8]),
                B.ptr_to([ko * 32 + i * 16 + tx // 8, by * 64 + tx % 8 * 8]),
                16,
            )
        Tx.ptx.cp.async_.commit_group()
        Tx.ptx.cp.async_.wait_group(0)
        Tx.cuda.cta_sync()
        for kk in Tx.unroll(2):
            for i in Tx.unroll(2):
                Tx.ptx.ldmatrix.sync.aligned.m8n8.x4.shared.b16(
                    a[i, 0],
                    a[i, 1],
                    a[i, 2],
                    a[i, 3],
                    As.ptr_to([w // 2 * 32 + i * 16 + lane % 16, kk * 16 + lane // 16 * 8]),
                )
            for j in Tx.unroll(4):
                Tx.ptx.ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16(
                    b[j, 0], b[j, 1], Bs.ptr_to([kk * 16 + lane % 16, w % 2 * 32 + j * 8])
                )
            for i in Tx.unroll(2):
                for j in Tx.unroll(4):
                    Tx.ptx.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32(
                        acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3], a[i, 0], a[i, 1], a[i, 2], a[i, 3],
                        b[j, 0], b[j, 1], acc[i, j, 0], acc[i, j, 1], acc[i, j, 2], acc[i, j, 3],
                    )  # fmt: skip
        Tx.cuda.cta_sync()
    for i in Tx.unroll(2):
        for j in Tx.unroll(4):
            for r in Tx.unroll(4):
                C[
                    bx * 64 + w // 2 * 32 + i * 16 + lane // 4 + r // 2 * 8,
                    by * 64 + w % 2 * 32 + j * 8 + lane % 4 * 2 + r % 2,
                ] = acc[i, j, r]


def test_a_product_of_256_runs_within_two_seconds_and_clean() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (256, 256)).astype(np.float16) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    assert tirx.simulate(gemm, a, b, c, target="cuda -arch=sm_80").verdict == "clean"
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
    started = time.process_time()
    tirx.simulate(gemm, a, b, c, target="cuda -arch=sm_80", checks=())
    assert time.process_time() - started < 2


def test_sums_of_float64_are_rounded_as_asked() -> None:
    """One product and one sum for each element: rounded once, down, up or to zero."""
    rng = np.random.default_rng(5)
    a, b, c = np.zeros(32), rng.normal(size=32), rng.normal(size=(2, 32)) * 1e-3
    a[::4] = rng.normal(size=8)  # lane 4 r holds (r, 0), the others what must not count
    for rounding in ("rz", "rm", "rp", "rn"):
        mnemonic = f"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.{rounding}"
        made = run(mnemonic, a, b, *c)
        for lane in range(32):
            for number in range(2):
                row, column = lane // 4, lane % 4 * 2 + number
                exact = Fraction(a[4 * row]) * Fraction(b[4 * column]) + Fraction(c[number][lane])
                near = float(exact)  # the nearest
                below = near if Fraction(near) <= exact else float(np.nextafter(near, -np.inf))
                above = near if Fraction(near) >= exact else float(np.nextafter(near, np.inf))
                expected = {"rn": near, "rm": below, "rp": above, "rz": below if exact > 0 else above}[rounding]
                assert float(np.asarray(made[number][lane : lane + 1]).view(np.float64)[0]) == expected
