"""Kernels of tile operations: every release and generation, loops and guards around them, printed and read back, explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import imported
from tests.trn.lint import complaints
from tirx import script as Tx
from tirx.ir import structural_equal
from tirx.support.errors import DispatchError, VerifyError
from tirx_trn.nki_api import RELEASES


@Tx.prim_func
def attention(
    q: Tx.Buffer((64, 100), "float32"),
    k: Tx.Buffer((64, 120), "float32"),
    v: Tx.Buffer((120, 64), "float32"),
    out: Tx.Buffer((100, 64), "float32"),
):
    """Queries and keys come with their 64 features on partitions."""
    Tx.device_entry()
    queries = Tx.alloc_buffer((64, 100), "float32", scope="trn.sbuf", layout="PF")
    keys = Tx.alloc_buffer((64, 120), "float32", scope="trn.sbuf", layout="PF")
    values = Tx.alloc_buffer((120, 64), "float32", scope="trn.sbuf", layout="PF")
    scores = Tx.alloc_buffer((100, 120), "float32", scope="trn.sbuf", layout="PF")
    low = Tx.alloc_buffer((100, 1), "float32", scope="trn.sbuf", layout="PF")
    total = Tx.alloc_buffer((100, 1), "float32", scope="trn.sbuf", layout="PF")
    result = Tx.alloc_buffer((100, 64), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(queries, q)
    Tx.tile.copy(keys, k)
    Tx.tile.copy(values, v)
    Tx.tile.gemm(scores, queries, keys, scores, transpose_A=True, alpha=0.125)
    Tx.tile.select(scores, scores, -1e30, lambda i, j: j <= i + 20)
    Tx.tile.reduce_negate(low, scores, "max")
    Tx.tile.unary_reduce(scores, total, scores, "exp", "sum", low)
    Tx.tile.gemm(result, scores, values, result)
    Tx.tile.fdiv(result, result, total)
    Tx.tile.copy(out, result)


def attended(q: Any, k: Any, v: Any) -> Any:
    scores = q.astype(np.float64).T @ k / 8
    rows, columns = np.indices(scores.shape)
    weights = np.exp(np.where(columns <= rows + 20, scores, -1e30))
    return weights / weights.sum(axis=1, keepdims=True) @ v


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
@pytest.mark.parametrize("release", RELEASES)
def test_every_release_and_generation(release: str, generation: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((64, 100), (64, 120), (120, 64))]
    text = tirx.compile(attention, f"trn -generation={generation} -nki={release}").source.text
    assert complaints(text) == []
    with imported(text, tmp_path, generation) as module:
        found = module.attention_kernel(*arrays)
    np.testing.assert_allclose(np.asarray(found), attended(*arrays), rtol=1e-5, atol=1e-5)


def test_it_reads_back_and_simulates() -> None:
    assert structural_equal(Tx.from_source(attention.script()), attention)
    rng = np.random.default_rng(5)
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in ((64, 100), (64, 120), (120, 64))]
    out = np.empty((100, 64), np.float32)
    assert tirx.simulate(attention, *arrays, out, target="aws/trn2/trn2.48xlarge").verdict == "clean"
    np.testing.assert_allclose(out, attended(*arrays), rtol=1e-5, atol=1e-5)


def test_inputs_are_inferred_from_tile_operations() -> None:
    text = tirx.compile(attention, "trn").source.text
    assert "def attention_kernel(q, k, v):" in text
    assert "return out" in text


@Tx.prim_func
def guarded(a: Tx.Buffer((1024, 60), "float32"), b: Tx.Buffer((1024, 60), "float32")):
    Tx.device_entry()
    for i in range(8):
        x = Tx.alloc_buffer((128, 60), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(x, a[i * 128 : i * 128 + 128, :])
        if i < 3:
            Tx.tile.mul(x, x, 2.0)
        else:
            Tx.tile.add(x, x, 1.0)
        Tx.tile.copy(b[i * 128 : i * 128 + 128, :], x)


def test_loops_and_guards(tmp_path: Path) -> None:
    a = np.random.default_rng(6).random((1024, 60), dtype=np.float32)
    step = np.arange(1024)[:, None] // 128
    wanted = np.where(step < 3, a * 2, a + 1).astype(np.float32)
    b = np.empty_like(a)
    assert tirx.simulate(guarded, a, b, target="trn").verdict == "clean"
    np.testing.assert_array_equal(b, wanted)
    with imported(tirx.compile(guarded, "trn").source.text, tmp_path) as module:
        np.testing.assert_array_equal(np.asarray(module.guarded_kernel(a)), wanted)


@Tx.prim_func
def accumulated(
    a: Tx.Buffer((1024, 100), "bfloat16"), b: Tx.Buffer((1024, 300), "bfloat16"), c: Tx.Buffer((100, 300), "float32")
):
    Tx.device_entry()
    total = Tx.alloc_buffer((100, 300), "float32", scope="trn.psum", layout="PF")
    result = Tx.alloc_buffer((100, 300), "float32", scope="trn.sbuf", layout="PF")
    for i in range(8):
        left = Tx.alloc_buffer((128, 100), "bfloat16", scope="trn.sbuf", layout="PF")
        right = Tx.alloc_buffer((128, 300), "bfloat16", scope="trn.sbuf", layout="PF")
        Tx.tile.copy_async(left, a[i * 128 : i * 128 + 128, :])
        Tx.tile.copy_async(right, b[i * 128 : i * 128 + 128, :])
        Tx.tile.gemm_async(total, left, right, transA=True, transB=True, accum=i != 0)
    Tx.tile.copy(result, total)
    Tx.tile.copy(c, result)


def test_products_are_summed_over_a_loop(tmp_path: Path) -> None:
    import ml_dtypes

    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((1024, n)).astype(ml_dtypes.bfloat16) for n in (100, 300))
    c = np.empty((100, 300), np.float32)
    assert tirx.simulate(accumulated, a, b, c, target="trn").verdict == "clean"
    np.testing.assert_allclose(c, a.astype(np.float64).T @ b.astype(np.float64), rtol=1e-4, atol=1e-4)
    with imported(tirx.compile(accumulated, "trn").source.text, tmp_path) as module:
        np.testing.assert_allclose(np.asarray(module.accumulated_kernel(a, b)), c, rtol=1e-5, atol=1e-4)


def test_a_decision_says_what_was_measured() -> None:
    text = str(tirx.explain(attention, "trn"))
    assert "unary_reduce" in text
    assert "`default`" in text or "default" in text


@Tx.prim_func
def too_large(a: Tx.Buffer((128, 40_000), "float32"), b: Tx.Buffer((128, 40_000), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 40_000), "float32", scope="trn.sbuf", layout="PF")
    Tx.tile.copy(x, a)
    Tx.tile.fma(x, x, x, x, max_inst_size=0)
    Tx.tile.copy(b, x)


def test_scratch_tiles_count() -> None:
    with pytest.raises(VerifyError, match="brings SBUF to 320,000 bytes per partition") as caught:
        tirx.compile(too_large, "trn")
    assert "Tx.tile.fma(x, x, x, x, max_inst_size=0)" in str(caught.value)


def test_an_error_stands_at_the_call() -> None:
    @Tx.prim_func
    def wrong(a: Tx.Buffer((64, 64), "float32"), b: Tx.Buffer((64, 64), "float32")):
        Tx.device_entry()
        x = Tx.alloc_buffer((64, 64), "float32", scope="trn.sbuf", layout="PF")
        Tx.tile.copy(x, a)
        Tx.tile.add(x, a, 1.0)
        Tx.tile.copy(b, x)

    with pytest.raises(DispatchError) as caught:
        tirx.compile(wrong, "trn")
    (problem,) = caught.value.diagnostics
    assert problem.message.startswith("no variant of Tx.tile.add fits this call on trn")
    assert "Tx.tile.add(x, a, 1.0)" in str(problem)
