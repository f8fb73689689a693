"""Products of matrices: any size, either placement of each matrix, sums in PSUM, scaling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trn.tile.operations import PSUM, SBUF, Place, check, crossed, refused
from tirx import script as Tx
from tirx.support.errors import ScriptError

SIZES = [(1, 1, 1), (20, 30, 40), (128, 512, 128), (200, 700, 300), (130, 513, 129), (300, 40, 513)]


def matrix(rows: int, columns: int, layout: str = "PF", dtype: str = "float32", scope: str = SBUF) -> Place:
    """A matrix in a buffer of whole groups of partitions."""
    size = [rows, columns]
    lane = layout.index("P")
    size[lane] = -(-size[lane] // 128) * 128 if size[lane] > 128 else size[lane]
    return Place((rows, columns), dtype, layout, scope, of=(size[0], size[1]))


def product(m: int, n: int, k: int, *, out: Any = {}, a: Any = {}, b: Any = {}) -> dict[str, Place]:  # noqa: B006 - not changed
    """D, A, B and C; A and B with K on their partitions."""
    left = {"layout": "FP", **a}
    return {
        "D": matrix(m, n, **out),
        "A": matrix(m, k, **left),
        "B": matrix(k, n, **b),
        "C": matrix(m, n, **{**out, "scope": SBUF}),
    }


@pytest.mark.parametrize(("dtype", "size"), crossed(["float32", "bfloat16"], SIZES, keep=2))
def test_any_size(size: tuple[int, int, int], dtype: str, tmp_path: Path) -> None:
    check("gemm", folder=tmp_path, tolerance=1e-5, **product(*size, a={"dtype": dtype}, b={"dtype": dtype}))


@pytest.mark.parametrize(
    ("a", "b", "out", "transposed"),
    crossed(["PF", "FP"], ["PF", "FP"], ["PF", "FP"], [(False, False), (True, True)], keep=3),
)
def test_any_placement(a: str, b: str, out: str, transposed: tuple[bool, bool], tmp_path: Path) -> None:
    m, n, k = 130, 70, 140
    turned_a, turned_b = transposed
    tiles = {
        "D": matrix(m, n, out),
        "A": matrix(k, m, a) if turned_a else matrix(m, k, a),
        "B": matrix(n, k, b) if turned_b else matrix(k, n, b),
        "C": matrix(m, n, out),
    }
    words = {"transpose_A": turned_a, "transpose_B": turned_b}
    check("gemm", folder=tmp_path, keywords=words, tolerance=1e-5, **tiles)


@pytest.mark.parametrize("size", [(1, 90, 200), (90, 1, 200), (90, 80, 1), (1, 1, 70), (1, 70, 1), (70, 1, 1)])
@pytest.mark.parametrize("layouts", [("PF", "PF", "PF"), ("FP", "FP", "FP"), ("PF", "FP", "PF")])
def test_vectors(size: tuple[int, int, int], layouts: tuple[str, str, str]) -> None:
    m, n, k = size
    a, b, out = layouts
    tiles = {"D": matrix(m, n, out), "A": matrix(m, k, a), "B": matrix(k, n, b), "C": matrix(m, n, out)}
    check("gemm", tolerance=1e-5, **tiles)


@pytest.mark.parametrize(("alpha", "beta", "scope"), crossed([1.0, 0.5], [0.0, 1.0, 2.0], [SBUF, PSUM], keep=2))
def test_scaled(alpha: float, beta: float, scope: str, tmp_path: Path) -> None:
    words = {"alpha": alpha, "beta": beta}
    tiles = product(100, 200, 150, out={"scope": scope})
    check("gemm", folder=tmp_path, keywords=words, tolerance=1e-5, **tiles)


def test_straight_into_banks_of_psum(tmp_path: Path) -> None:
    text = check("gemm", folder=tmp_path, tolerance=1e-5, **product(128, 1024, 256, out={"scope": PSUM}))
    assert "acc" not in text.replace("accumulate", "")


def test_a_given_bank(tmp_path: Path) -> None:
    space = {"acc_psum": Place((8, 128, 512), scope=PSUM, layout="none")}
    text = check("gemm", folder=tmp_path, scratch=space, tolerance=1e-5, **product(100, 600, 150))
    assert "acc =" not in text


def test_short_results_are_rounded_once(tmp_path: Path) -> None:
    tiles = product(100, 60, 150, out={"dtype": "bfloat16"}, a={"dtype": "bfloat16"}, b={"dtype": "bfloat16"})
    check("gemm", folder=tmp_path, tolerance=2**-8, **tiles)


@pytest.mark.parametrize("accum", [False, True])
@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
def test_asynchronous(accum: bool, transposed: tuple[bool, bool], tmp_path: Path) -> None:
    m, n, k = 130, 520, 140
    turned_a, turned_b = transposed
    tiles = {
        "C": matrix(m, n),
        "A": matrix(k, m) if turned_a else matrix(m, k, "FP"),
        "B": matrix(k, n) if turned_b else matrix(n, k, "FP"),
    }
    words = {"transA": turned_a, "transB": turned_b, "accum": accum}
    check("gemm_async", folder=tmp_path, keywords=words, tolerance=1e-5, **tiles)


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
def test_generations(generation: str, tmp_path: Path) -> None:
    check("gemm", target=f"trn -generation={generation}", folder=tmp_path, tolerance=1e-5, **product(130, 600, 140))


def test_against_a_product_of_arrays() -> None:
    rng = np.random.default_rng(3)
    given = {
        "A": rng.standard_normal((40, 300)).astype(np.float32),
        "B": rng.standard_normal((300, 50)).astype(np.float32),
    }
    check("gemm", given=given, tolerance=1e-4, **product(40, 50, 300))


def test_integers_are_not_multiplied() -> None:
    tiles = {name: Place((64, 64), "int32") for name in "DABC"}
    assert "matrices: the tensor engine multiplies floats (nisa.nc_matmul); cast first" in refused("gemm", **tiles)


def test_scale_factors_are_not_offered() -> None:
    factors = {name: Place((64, 2), "float8_e5m2") for name in ("SFA", "SFB")}
    tiles = {"C": Place((64, 64)), "A": Place((64, 64), "float8_e5m2"), "B": Place((64, 64), "float8_e5m2")}
    assert "products of blocks with scale factors are not offered" in refused("gemm_async", **tiles, **factors)


def test_a_product_onto_its_own_factor() -> None:
    with pytest.raises(ScriptError, match=r"`D` and `A` of Tx\.tile\.gemm overlap"):

        @Tx.prim_func
        def squared(a: Tx.Buffer((64, 64), "float32"), b: Tx.Buffer((64, 64), "float32")):
            Tx.device_entry()
            x = Tx.alloc_buffer((64, 64), "float32", scope="trn.sbuf", layout="PF")
            Tx.tile.copy(x, a)
            Tx.tile.gemm(x, x, x, x)
            Tx.tile.copy(b, x)
