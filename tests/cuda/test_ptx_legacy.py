"""`Tx.ptx_legacy`: older argument orders become instructions of `Tx.ptx`, and compute what those do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.script import from_source
from tirx.support.errors import ScriptError

TARGET = "cuda -arch=sm_80"


@Tx.prim_func
def product(A: Tx.Buffer((16, 16), "float16"), B: Tx.Buffer((16, 8), "float16"), C: Tx.Buffer((16, 8), "float32")):
    Tx.device_entry()
    lane = Tx.thread_id([32])
    S = Tx.alloc_shared((16, 16), "float16")
    for i in range(8):
        S[lane // 2, lane % 2 * 8 + i] = A[lane // 2, lane % 2 * 8 + i]
    Tx.cuda.cta_sync()
    a = Tx.alloc_local((10,), "float16")
    b = Tx.alloc_local((4,), "float16")
    c = Tx.alloc_local((4,), "float32")
    Tx.ptx_legacy.ldmatrix(False, 4, ".b16", a.data, 2, S.data, lane % 16 * 16 + lane // 16 * 8, dtype="float16")
    for i in Tx.unroll(4):
        b[i] = B[lane % 4 * 2 + i % 2 + i // 2 * 8, lane // 4]
        c[i] = C[lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2]
    Tx.ptx_legacy.mma(
        "m16n8k16",
        "row",
        "col",
        "float16",
        "float16",
        "float32",
        a.data,
        2,
        b.data,
        0,
        c.data,
        0,
        False,
        dtype="float32",
    )
    for i in Tx.unroll(4):
        C[lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2] = c[i]


def test_a_product() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((16, 16), (16, 8)))
    c = rng.integers(-3, 4, (16, 8)).astype(np.float32)
    wanted = c + a.astype(np.float32) @ b.astype(np.float32)
    report = tirx.simulate(product, a, b, c, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert (c == wanted).all()
    assert tirx.compile(product, TARGET).binaries


def test_text_is_that_of_the_instructions() -> None:
    text = product.script()
    assert "T.ptx.ldmatrix.sync.aligned.m8n8.x4.shared.b16(view[0], view[1], view[2], view[3], " in text
    assert "T.ptx.mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32(" in text
    assert structural_equal(from_source(text), product)


@pytest.mark.parametrize(
    ("shape", "types", "form", "counts"),
    [
        ("m16n8k8", ("bf16", "bf16", "fp32"), "m16n8k8.row.col.f32.bf16.bf16.f32", (2, 1, 4)),
        ("m16n8k8", ("float16", "float16", "float16"), "m16n8k8.row.col.f16.f16.f16.f16", (2, 1, 2)),
        ("m16n8k4", ("tf32", "tf32", "float32"), "m16n8k4.row.col.f32.tf32.tf32.f32", (2, 1, 4)),
        ("m16n8k32", ("int8", "uint8", "int32"), "m16n8k32.row.col.s32.s8.u8.s32", (4, 2, 4)),
        ("m16n8k64", ("int4", "int4", "int32"), "m16n8k64.row.col.s32.s4.s4.s32", (4, 2, 4)),
        ("m8n8k4", ("float64", "float64", "float64"), "m8n8k4.row.col.f64.f64.f64.f64", (1, 1, 2)),
    ],
)
def test_registers_of_every_kind(shape: str, types: tuple[str, ...], form: str, counts: tuple[int, ...]) -> None:
    with Tx.prim_func() as frame:
        Tx.func_name("k")
        Tx.device_entry()
        Tx.thread_id([32])
        a, b, c = (Tx.alloc_local((64,), "uint32") for _ in range(3))
        Tx.ptx_legacy.mma("float32", shape, "row", "col", *types, a.data, 0, b.data, 0, c.data, 0, False)
    (line,) = [line for line in frame.get().script().splitlines() if "T.ptx.mma" in line]
    assert f"T.ptx.mma.sync.aligned.{form}(" in line
    assert line.count("[") == counts[0] + counts[1] + 2 * counts[2]


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda A: Tx.ptx_legacy.mma("m16n8k16", "row"), "mma takes 13 arguments, not 2"),
        (lambda A: Tx.ptx_legacy.mma("big", *"abcde", *[A.data, 0] * 3, False), "mma does not multiply"),
        (
            lambda A: Tx.ptx_legacy.ldmatrix(True, 2, ".b16", A.data, 0, A.data, 0, dtype="int8"),
            "transposes elements of 16 bits",
        ),
        (lambda A: Tx.ptx_legacy.ldmatrix(True, 2, ".b16", A.data, 0, A.data, 0), "takes 7 arguments and dtype"),
    ],
)
def test_mistakes(write: Any, message: str) -> None:
    with Tx.prim_func():
        A = Tx.arg("A", Tx.Buffer((8,), "uint32"))
        Tx.device_entry()
        with pytest.raises(ScriptError, match=message):
            write(A)
