"""Passes on the way to source do not change what random kernels compute, as a naive interpreter sees them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.sim.oracle import run_kernel
from tests.core.sim.random_programs import Program
from tirx.ir import Stmt
from tirx.target import Target
from tirx.transform import SIMT_PREPARE, PassContext, run_passes
from tirx.transform.instruments import VerifyEach

TARGET = Target("generic")


def outcome(body: Stmt, program: Program, given_array: np.ndarray) -> np.ndarray:
    out = np.zeros(program.O.shape[0], "i4")
    storage = {id(program.A.data): given_array, id(program.O.data): out}
    run_kernel(body, storage, [program.shared], program.ctas, program.threads)
    return out


@given(seed=st.integers(0, 2**32))
@settings(max_examples=60)
def test_meaning_is_kept(seed: int) -> None:
    program = Program(seed)
    array = np.random.default_rng(seed).integers(-1000, 1000, 64, dtype="i4")
    module = program.module()
    name = next(func.name for func in module if func.attrs["role"] == "device")
    prepared = run_passes(SIMT_PREPARE, module, PassContext(TARGET, instruments=[VerifyEach()]))
    with np.errstate(over="ignore"):
        before, after = outcome(module[name].body, program, array), outcome(prepared[name].body, program, array)
    np.testing.assert_array_equal(after, before)
