"""Products, matrices, vectors and permutations of random types, shapes, layouts and scopes: the simulated result is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tirx
from tests.cuda.tile.test_gemm import SHAPES, fragments
from tests.cuda.tile.test_matrix_copy import A16, B16
from tirx import script as Tx
from tirx.ir import DType
from tirx.layout import ComposeLayout, S, TileLayout
from tirx.testing.operations import Place, check_tile_operation

SWEEP = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
SMALL = st.integers(1, 3)


def memory(kind: str, rows: int, columns: int) -> Any:
    """A layout of shared memory whose rows of 16 bytes stay together, along rows or along columns."""
    if kind == "columns":
        return TileLayout(S[(rows, columns) : (1, rows)])
    if kind == "padded":
        return TileLayout(S[(rows, columns) : (columns + 8, 1)])
    plain = TileLayout(S[(rows, columns) : (columns, 1)])
    return {"rows": plain, "swizzled": ComposeLayout(3, 2, 3, plain)}[kind]


@SWEEP
@given(
    st.sampled_from(SHAPES), st.tuples(SMALL, SMALL, SMALL), st.tuples(st.booleans(), st.booleans()), st.integers(0, 1),
)  # fmt: skip
def test_products(shape, counts, transposed, beta):
    dtype, result, m, k, arch = shape
    name, (rows, columns, depth) = f"m{m}n8k{k}", counts
    tiles = {
        "D": fragments("D", name, result, (m, 8), (rows * m, columns * 8)),
        "A": fragments("A", name, dtype, (m, k), (rows * m, depth * k), transposed[0]),
        "B": fragments("B", name, dtype, (k, 8), (depth * k, columns * 8), transposed[1]),
        "C": fragments("C", name, result, (m, 8), (rows * m, columns * 8)),
    }
    check_tile_operation("gemm", {**tiles, "beta": beta}, scope="warp", target=f"cuda -arch={arch}", tolerance=2e-3,
                         dispatch="mma.m16n8k*", transpose_A=transposed[0], transpose_B=transposed[1])  # fmt: skip


@SWEEP
@given(
    st.sampled_from([(A16, 16, 16), (B16, 16, 8)]), SMALL, SMALL, st.sampled_from(["rows", "columns", "padded", "swizzled"]),
    st.sampled_from(["float16", "bfloat16", "int16"]), st.booleans(),
)  # fmt: skip
def test_matrices(atom, down, across, kind, dtype, loads):
    layout, m, n = atom
    rows, columns = down * m, across * n * (4 if kind == "swizzled" else 1)
    held = Place("local", (rows, columns), dtype, layout.tile_to([rows, columns], [m, n]))
    stored = Place("shared", (rows, columns), dtype, memory(kind, rows, columns))
    target, source = (held, stored) if loads else (stored, held)
    check_tile_operation(
        "copy", {"dst": target, "src": source}, scope="warp", target="cuda -arch=sm_90a", dispatch="ldstmatrix"
    )


@SWEEP
@given(
    st.sampled_from(["rows", "columns", "padded"]), st.sampled_from(["rows", "columns", "padded"]),
    st.sampled_from([(8, 32), (32, 32), (16, 16), (64, 8)]), st.sampled_from(["float16", "float32", "float64", "uint8"]),
    st.sampled_from([("warp", 32), ("cta", 64)]),
)  # fmt: skip
def test_permutations(before, after, shape, dtype, group):
    places = {
        "dst": Place("shared", shape, dtype, memory(after, *shape)),
        "src": Place("shared", shape, dtype, memory(before, *shape)),
    }
    check_tile_operation("permute_layout", places, scope=group[0], threads=group[1], target="cuda -arch=sm_80")


@SWEEP
@given(
    st.sampled_from([16, 32, 64, 128]), st.sampled_from(["float16", "float32", "uint8", "float64", "bfloat16", "int32"]),
    st.sampled_from([("local", "global"), ("shared", "global"), ("global", "local"), ("shared", "local"), ("local", "shared")]),
)  # fmt: skip
def test_single_vectors(width, dtype, sides):
    count = width // DType(dtype).bits
    if count:
        places = {"dst": Place(sides[0], (count,), dtype), "src": Place(sides[1], (count,), dtype)}
        check_tile_operation(
            "copy", places, scope="thread", threads=1, target="cuda -arch=sm_80", dispatch=f"vec_{width}b"
        )


@SWEEP
@given(
    st.integers(1, 40), st.sampled_from([4, 8, 12, 32, 64]), st.sampled_from(["float16", "float32", "float64"]),
    st.sampled_from([("thread", 1), ("warp", 32), ("cta", 96), ("cta", 128)]),
)  # fmt: skip
def test_asynchronous_copies(rows, columns, dtype, group):
    scope, threads = group

    @Tx.prim_func
    def kernel(A: Tx.Buffer((rows, columns), dtype), B: Tx.Buffer((rows, columns), dtype)):
        Tx.device_entry()
        Tx.thread_id([threads])
        tile = Tx.alloc_shared((rows, columns), dtype)
        getattr(Tx.tile, scope).copy_async(tile, A) if scope != "thread" else Tx.tile.copy_async(tile, A)
        Tx.ptx.cp.async_.wait_all()
        Tx.tvm_storage_sync("shared")
        Tx.cta.copy(B, tile)

    a = np.random.default_rng(rows).random((rows, columns)).astype(dtype)
    b = np.zeros_like(a)
    report = tirx.simulate(kernel, a, b, target="cuda -arch=sm_80")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(a, b)
