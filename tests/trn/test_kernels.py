"""Three kernels from hand-built IR to the executed file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.trn.build import index, kernel, loop, psum, run, sbuf, source_of
from tirx.ir import Buffer, PrimFunc
from tirx_trn import script as nki


def add_kernel(rows: int = 512, columns: int = 1024) -> PrimFunc:
    a, b, c = (Buffer(name, (rows, columns)) for name in "abc")
    x, y, i = sbuf("x", 128, columns), sbuf("y", 128, columns), index("i")
    part = slice(i * 128, i * 128 + 128)
    return kernel(
        "add",
        [a, b, c],
        loop(
            i, rows // 128, x, y,
            nki.load(x, a[part, :]), nki.load(y, b[part, :]), nki.tensortensor(x, x, y, "add"), nki.store(c[part, :], x),
        ),
    )  # fmt: skip


def matmul_kernel(m: int = 256, n: int = 1024, k: int = 512) -> PrimFunc:
    """exp((lhs_t.T @ rhs) * 0.01 + 0.5): K is tiled, products accumulate in one bank."""
    lhs_t, rhs, out = Buffer("lhs_t", (k, m)), Buffer("rhs", (k, n)), Buffer("out", (m, n))
    acc, left, right, result = (
        psum("acc", 128, 512),
        sbuf("left", 128, 128),
        sbuf("right", 128, 512),
        sbuf("result", 128, 512),
    )
    i, j, kk = index("i"), index("j"), index("kk")
    rows, columns, deep = slice(i * 128, i * 128 + 128), slice(j * 512, j * 512 + 512), slice(kk * 128, kk * 128 + 128)
    products = loop(
        kk,
        k // 128,
        left,
        right,
        nki.load(left, lhs_t[deep, rows]),
        nki.load(right, rhs[deep, columns]),
        nki.matmul(acc, left, right),
    )
    tile = [acc, products, result, nki.activation(result, acc, "exp", 0.5, 0.01), nki.store(out[rows, columns], result)]
    return kernel("matmul_exp", [lhs_t, rhs, out], loop(i, m // 128, loop(j, n // 512, *tile)))


def softmax_kernel(rows: int = 256, columns: int = 1000) -> PrimFunc:
    x, y = Buffer("x", (rows, columns)), Buffer("y", (rows, columns))
    tile, low, total, i = sbuf("tile", 128, columns), sbuf("low", 128, 1), sbuf("total", 128, 1), index("i")
    part = slice(i * 128, i * 128 + 128)
    return kernel(
        "softmax",
        [x, y],
        loop(
            i, rows // 128, tile, low, total,
            nki.load(tile, x[part, :]),
            nki.tensorreduce(low, tile, "max", True, 1),
            nki.activation_reduce(total, tile, tile, "exp", "add", low),
            nki.reciprocal(total, total),
            nki.tensorscalar(tile, tile, total, "mul"),
            nki.store(y[part, :], tile),
        ),
    )  # fmt: skip


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def test_add(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a, b = floats(rng, 512, 1024), floats(rng, 512, 1024)
    np.testing.assert_array_equal(run(add_kernel(), tmp_path, a, b), a + b)


def test_matmul_accumulates_over_k(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a, b = floats(rng, 512, 256), floats(rng, 512, 1024)
    for target in ("trn", "trn -generation=v2", "trn -generation=v4"):
        result = run(matmul_kernel(), tmp_path, a, b, target=target)
        np.testing.assert_allclose(result, np.exp((a.T @ b) * 0.01 + 0.5), rtol=2e-5)


def test_softmax(tmp_path: Path) -> None:
    x = floats(np.random.default_rng(2), 256, 1000) * 10
    np.testing.assert_allclose(run(softmax_kernel(), tmp_path, x), softmax(x), rtol=1e-5, atol=1e-7)


def test_the_source_is_readable() -> None:
    assert source_of(add_kernel()) == GOLDEN_ADD


GOLDEN_ADD = """\
# NKI source for NeuronCore-v3 (trn2), written by TIRx for NKI 0.3 to 0.6.
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def add_kernel(a, b):
    c = nl.ndarray((512, 1024), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(4):
        x = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.sbuf)
        y = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a[i * 128 : i * 128 + 128, :])
        nisa.dma_copy(dst=y, src=b[i * 128 : i * 128 + 128, :])
        nisa.tensor_tensor(dst=x, data1=x, data2=y, op=nl.add)
        nisa.dma_copy(dst=c[i * 128 : i * 128 + 128, :], src=x)
    return c
"""
