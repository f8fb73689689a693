"""Whole matrices through `wmma`: loaded, multiplied, stored, whatever the fragments hold."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx

HELD = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f64": np.float64,
    "s8": np.int8,
    "u8": np.uint8,
}
SUMS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}
LIMITS = {"u8": (0, 200), "u4": (0, 16), "s4": (-8, 8), "b1": (0, 2)}
BITS = {"s4": 4, "u4": 4, "b1": 1}


def memory(matrix: Any, kind: str, layout: str) -> Any:
    """The bytes of a matrix, rows (or columns) of elements one after the other."""
    lines = matrix if layout == "row" else matrix.T
    if kind not in BITS:
        return np.ascontiguousarray(lines.astype({**HELD, **SUMS}[kind])).view(np.uint8).reshape(-1)
    bits, each = BITS[kind], 32 // BITS[kind]
    parts = (lines.astype(np.int64) & ((1 << bits) - 1)).reshape(-1, each)
    return (parts << (bits * np.arange(each))).sum(axis=1).astype(np.uint32).view(np.uint8)


CASES = [
    ("m16n16k16", "f16", "f32", 8, 8, 8, "row", "col"), ("m32n8k16", "f16", "f16", 8, 8, 4, "col", "row"),
    ("m8n32k16", "bf16", "f32", 2, 8, 8, "row", "row"), ("m16n16k8", "tf32", "f32", 4, 4, 8, "col", "col"),
    ("m8n8k4", "f64", "f64", 1, 1, 2, "row", "col"), ("m16n16k16", "u8", "s32", 2, 2, 8, "row", "row"),
    ("m32n8k16", "s8", "s32", 4, 1, 8, "row", "col"), ("m8n8k32", "s4", "s32", 1, 1, 2, "row", "col"),
    ("m8n8k128", "b1", "s32", 1, 1, 2, "row", "col"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "kind", "sums", "na", "nb", "nc", "la", "lb"), CASES)
def test_products(shape: str, kind: str, sums: str, na: int, nb: int, nc: int, la: str, lb: str) -> None:
    m, n, k = (int(part) for part in shape.replace("n", " ").replace("k", " ").replace("m", " ").split())
    rng = np.random.default_rng(1)
    low, high = LIMITS.get(kind, (-4, 5))
    a, b = rng.integers(low, high, (m, k)).astype(np.float64), rng.integers(low, high, (k, n)).astype(np.float64)
    c = rng.integers(-50, 50, (m, n)).astype(np.float64)
    given = memory(a, kind, la), memory(b, kind, lb), memory(c, sums, "col")
    result = np.zeros(m * n * np.dtype(SUMS[sums]).itemsize, np.uint8)
    types = sums + "." + sums if kind == "f16" else f"{sums}.{kind}.{kind}.{sums}"
    name = "and.popc." if kind == "b1" else ""
    held = {"f32": "float32", "f64": "float64"}.get(sums, "uint32")
    fragment = "float64" if kind == "f64" else "uint32"
    registers = {x: ", ".join(f"{x}[{i}]" for i in range(count)) for x, count in (("a", na), ("b", nb), ("c", nc))}
    layouts = f"{la}.{lb}"
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer(({len(given[0])},), "uint8"), B: T.Buffer(({len(given[1])},), "uint8"),
           C: T.Buffer(({len(given[2])},), "uint8"), D: T.Buffer(({len(result)},), "uint8")):
    T.device_entry()
    tx = T.thread_id([32])
    a = T.alloc_local(({na},), "{fragment}")
    b = T.alloc_local(({nb},), "{fragment}")
    c = T.alloc_local(({nc},), "{held}")
    T.ptx["wmma.load.a.sync.aligned.{la}.{shape}.global.{kind}"]({registers["a"]}, A.ptr_to([0]), {k if la == "row" else m})
    T.ptx["wmma.load.b.sync.aligned.{lb}.{shape}.global.{kind}"]({registers["b"]}, B.ptr_to([0]))
    T.ptx["wmma.load.c.sync.aligned.col.{shape}.global.{sums}"]({registers["c"]}, C.ptr_to([0]))
    T.ptx["wmma.mma.{name}sync.aligned.{layouts}.{shape}.{types}"]({registers["c"]}, {registers["a"]}, {registers["b"]}, {registers["c"]})
    T.ptx["wmma.store.d.sync.aligned.row.{shape}.global.{sums}"](D.ptr_to([0]), {registers["c"]}, {n})
"""
    report = tirx.simulate(Tx.from_source(text), *given, result, target="cuda -arch=sm_90a")
    assert report.verdict == "clean", str(report)
    assert result.view(SUMS[sums]).reshape(m, n).tolist() == (a @ b + c).astype(SUMS[sums]).tolist()
