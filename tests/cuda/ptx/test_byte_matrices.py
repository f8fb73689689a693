"""Moves of matrices of bytes, and of smaller elements that become bytes, element by element as the manual's figures place them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx

TARGET = "cuda -arch=sm_120a"


def loader(mnemonic: str, registers: int, row_bytes: int) -> Any:
    """Lane i names row i; every lane returns its registers."""
    places = ", ".join(f"r[{i}]" for i in range(registers))
    return Tx.from_source(f"""
@T.prim_func
def load(A: T.Buffer((32, {row_bytes}), "uint8"), C: T.Buffer(({registers}, 32), "uint32")):
    T.device_entry()
    lane = T.thread_id([32])
    s = T.alloc_shared((32, {row_bytes}), "uint8", align=128)
    r = T.alloc_local(({registers},), "uint32")
    for i in range({row_bytes}):
        s[lane, i] = A[lane, i]
    T.cuda.cta_sync()
    T.ptx["{mnemonic}"]({places}, s.ptr_to([lane, 0]))
    for i in T.unroll({registers}):
        C[i, lane] = r[i]
""")


def loaded(mnemonic: str, registers: int, rows: Any, target: str = TARGET) -> Any:
    made = np.zeros((registers, 32), np.uint32)
    report = tirx.simulate(loader(mnemonic, registers, rows.shape[1]), rows, made, target=target)
    assert report.verdict == "clean", str(report)
    return made


def unpacked(row: Any, bits: int) -> list[int]:
    """The sixteen elements of a row, the first in the lowest bits."""
    number = int.from_bytes(row.tobytes(), "little")
    return [number >> (bits * i) & ((1 << bits) - 1) for i in range(16)]


def word(elements: list[int]) -> int:
    return sum((e & 0xFF) << (8 * i) for i, e in enumerate(elements))


SOURCES = {"b8": (8, 16), "b8x16.b6x16_p32": (6, 16), "b8x16.b4x16_p64": (4, 16), "s8.s4": (4, 8)}


def rows_of(kind: str) -> tuple[Any, list[list[int]]]:
    bits, row_bytes = SOURCES[kind]
    rows = np.random.default_rng(1).integers(0, 256, (32, row_bytes)).astype(np.uint8)
    elements = [unpacked(row, bits) for row in rows]
    return rows, [[e - 16 if kind == "s8.s4" and e > 7 else e for e in row] for row in elements]


@pytest.mark.parametrize("kind", ["b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"])
@pytest.mark.parametrize("count", [1, 2])
def test_load_sixteen_by_sixteen(kind: str, count: int) -> None:
    rows, elements = rows_of(kind)
    made = loaded(f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared.{kind}", 2 * count, rows)
    for matrix in range(count):
        for half in range(2):
            for lane in range(32):
                column, first = lane // 4 + 8 * half, 4 * (lane % 4)
                expected = word([elements[16 * matrix + first + i][column] for i in range(4)])
                assert made[2 * matrix + half, lane] == expected


@pytest.mark.parametrize("kind", ["b8x16.b6x16_p32", "b8x16.b4x16_p64", "s8.s4"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_load_eight_by_sixteen(kind: str, count: int) -> None:
    rows, elements = rows_of(kind)
    made = loaded(f"ldmatrix.sync.aligned.m8n16.x{count}.shared.{kind}", count, rows)
    for matrix in range(count):
        for lane in range(32):
            first = 4 * (lane % 4)
            assert made[matrix, lane] == word(elements[8 * matrix + lane // 4][first : first + 4])


@pytest.mark.parametrize("count", [1, 2, 4])
def test_store_sixteen_by_eight(count: int) -> None:
    values = ", ".join(f"A[{i}, lane]" for i in range(count))
    kernel = Tx.from_source(f"""
@T.prim_func
def store(A: T.Buffer(({count}, 32), "uint32"), C: T.Buffer(({8 * count}, 16), "uint8")):
    T.device_entry()
    lane = T.thread_id([32])
    s = T.alloc_shared(({8 * count}, 16), "uint8", align=128)
    T.ptx["stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8"](s.ptr_to([lane % {8 * count}, 0]), {values})
    T.cuda.cta_sync()
    if lane < {8 * count}:
        for i in range(16):
            C[lane, i] = s[lane, i]
""")
    given = np.random.default_rng(2).integers(0, 1 << 32, (count, 32), dtype=np.uint64).astype(np.uint32)
    made = np.zeros((8 * count, 16), np.uint8)
    report = tirx.simulate(kernel, given, made, target=TARGET)
    assert report.verdict == "clean", str(report)
    for matrix in range(count):
        for lane in range(32):
            for e in range(4):  # two columns of the matrix, then the row that is eight below
                row, column = 8 * matrix + 2 * (lane % 4) + e % 2, lane // 4 + 8 * (e // 2)
                assert made[row, column] == int(given[matrix, lane]) >> (8 * e) & 0xFF


def test_padding_may_be_unwritten_and_rows_must_be_aligned() -> None:
    kernel = Tx.from_source("""
@T.prim_func
def load(C: T.Buffer((32,), "uint32")):
    T.device_entry()
    lane = T.thread_id([32])
    s = T.alloc_shared((33, 16), "uint8", align=128)
    r = T.alloc_local((1,), "uint32")
    for i in range(8):
        s[lane, 8 + i] = 1
        if lane < 1:
            s[32, i] = 1
    T.cuda.cta_sync()
    T.ptx.ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64(r[0], s.ptr_to([lane, 8]))
    C[lane] = r[0]
""")
    report = tirx.simulate(kernel, np.zeros(32, np.uint32), target=TARGET)
    assert [finding.kind for finding in report.findings] == ["misaligned"]
    assert "rows at multiples of 16 bytes" in str(report)
