"""Random kernels give the same results as the naive interpreter, with and without checks, in one chunk and in several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.sim.oracle import run_kernel
from tests.core.sim.random_programs import Program
from tirx.sim import simulate_module
from tirx.target import Target


def expected(program: Program, given_array: np.ndarray) -> np.ndarray:
    out = np.zeros(program.O.shape[0], "i4")
    run_kernel(
        program.body,
        {id(program.A.data): given_array, id(program.O.data): out},
        [program.shared],
        program.ctas,
        program.threads,
    )
    return out


def check(seed: int, checks: str, **options: int) -> None:
    program = Program(seed)
    array = np.random.default_rng(seed).integers(-1000, 1000, 64, dtype="i4")
    with np.errstate(over="ignore"):
        wanted = expected(program, array)
    out = np.zeros_like(wanted)
    report = simulate_module(program.module(), [array, out], Target("generic"), checks=checks, **options)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("checks", ["all", "none"])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_random_programs(checks, seed):
    check(seed, checks)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_one_cta_at_a_time(seed):
    check(seed, "all", budget=1)


def test_the_programs_are_rich():
    texts = " ".join(str(type(node).__name__) for seed in range(40) for node in _nodes(Program(seed).body))
    for wanted in ("If", "For", "While", "Break", "Continue", "Return", "Evaluate", "Select", "FloorDiv", "Cast"):
        assert wanted in texts


def _nodes(body):
    from tirx.ir import walk

    return walk(body)
