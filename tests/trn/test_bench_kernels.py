"""The kernels that `python -m bench --only trn` compiles compute what their names say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tirx.script import from_source

KERNELS = Path(__file__).parents[2] / "bench/kernels/trn"
NAMES = sorted(path.stem for path in KERNELS.glob("*.py"))
Arrays = tuple[np.ndarray, ...]


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def fused(x: np.ndarray) -> Arrays:
    y = np.exp(2 * x + x)
    return y, y.sum(axis=1, keepdims=True)


# Shapes of the inputs, and the results.
WANTED: dict[str, tuple[list[tuple[int, int]], Callable[..., Any]]] = {
    "n1_elementwise": ([(1024, 512)] * 2, lambda x, y: (np.exp(x) + y) * y * 0.5),
    "n2_softmax": ([(1024, 1024)], softmax),
    "n3_matmul": ([(512, 512)] * 2, lambda a, b: a.T @ b),
    "n4_turn": ([(512, 512)], lambda a: a),
    "n5_rmsnorm": ([(1024, 512)], lambda x: x / np.sqrt((x * x).mean(axis=1, keepdims=True))),
    "n6_fused": ([(512, 512)], fused),
}


def test_every_kernel_is_known() -> None:
    assert sorted(WANTED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_of_the_benchmark_computes_it(name: str) -> None:
    func = from_source(f"from tirx import script as Tx\n\n{(KERNELS / f'{name}.py').read_text()}")
    shapes, formula = WANTED[name]
    rng = np.random.default_rng(0)
    inputs = [0.5 * rng.standard_normal(shape, dtype=np.float32) for shape in shapes]
    wanted = formula(*(array.astype(np.float64) for array in inputs))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    results = [np.empty(item.shape, np.float32) for item in wanted]
    assert tirx.simulate(func, *inputs, *results, target="aws/trn1/trn1.2xlarge").verdict == "clean"
    for result, item in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result, item, rtol=2e-5, atol=2e-5)
