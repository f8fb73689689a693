"""Products of matrices that are parts of larger tiles: stages of a ring of buffers."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tirx import script as Tx


@pytest.mark.parametrize("turned", [False, True])
def test_a_stage_is_a_matrix(turned: bool) -> None:
    @Tx.prim_func
    def product(
        A: Tx.Buffer((2, 8, 4), "float32"), B: Tx.Buffer((2, 4, 16), "float32"), C: Tx.Buffer((3, 8, 16), "float32")
    ):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        if turned:
            Tx.cta.gemm_async(C[2, :, :], A[1, :, :], B[1, :, :], transB=True)
        else:
            Tx.cta.gemm(C[2, :, :], A[1, :, :], B[1, :, :], C[2, :, :], beta=2.0)

    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((2, 8, 4), (2, 4, 16), (3, 8, 16)))
    before = c.copy()
    report = tirx.simulate(product, a, b, c, target="generic")
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(c[2], a[1] @ b[1] + (0 if turned else 2 * before[2]))
    np.testing.assert_array_equal(c[:2], before[:2])


def test_a_product_of_one_row() -> None:
    """Dimensions of one that belong to the matrix stay."""

    @Tx.prim_func
    def product(A: Tx.Buffer((1, 4), "float32"), B: Tx.Buffer((2, 4, 1), "float32"), C: Tx.Buffer((1, 1), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        Tx.cta.gemm(C, A, B[1, :, :], C)

    a, b, c = np.ones((1, 4), np.float32), np.arange(8, dtype=np.float32).reshape(2, 4, 1), np.zeros((1, 1), np.float32)
    assert tirx.simulate(product, a, b, c, target="generic").verdict == "clean"
    assert c[0, 0] == 22
