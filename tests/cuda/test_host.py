"""The source means what the simulator does: random expressions, compiled by a C++ compiler and run on the host."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.core.sim.random_programs import Program
from tests.cuda.helpers import source_of
from tests.cuda.host import COMPILER, built
from tirx import script as Tx
from tirx.ir import DType, Expr, IRModule
from tirx.sim import simulate_module
from tirx.target import Target
from tirx_cuda.codegen.core_emissions import CORE_EMISSIONS
from tirx_cuda.codegen.dialect import cuda_dialect
from tirx_cuda.codegen.generate import CudaGenerator

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")

INTEGER: tuple[Callable[..., Any], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
    Tx.min, Tx.max, lambda a, b: a // (Tx.abs(b % 7) + 1), lambda a, b: a % (Tx.abs(b % 5) - 6), lambda a, b: a // 8 - b % 16,
    lambda a, b: Tx.truncdiv(a, (b & 7) + 1), lambda a, b: Tx.truncmod(a, (b & 7) + 1),
    lambda a, b: Tx.if_then_else(a < b, a, b - a),
    lambda a, b: Tx.Select(a >= b, b, a), lambda a, b: a << (b & 3), lambda a, b: a >> (b & 3), lambda a, b: -a + ~b,
    lambda a, b: Tx.cast(Tx.cast(a, "int8") + Tx.cast(b, "int8"), a.dtype),
    lambda a, b: Tx.popcount(a) - Tx.cast(Tx.clz(b), a.dtype),
    lambda a, b: Tx.cast(Tx.cast(a, "uint16") * Tx.uint16(3), a.dtype) + b,
    lambda a, b: Tx.cast(Tx.And(a < b, Tx.Or(a > 3, b != 5)), a.dtype),
)  # fmt: skip

FLOAT: tuple[Callable[..., Any], ...] = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / (Tx.fabs(b) + 1.0), Tx.min, Tx.max,
    lambda a, b: -a * b, lambda a, b: Tx.fma(a, b, a), lambda a, b: Tx.sqrt(Tx.fabs(a)) - b, lambda a, b: Tx.floor(a) + Tx.ceil(b),
    lambda a, b: Tx.if_then_else(a <= b, a, b * 0.3), lambda a, b: Tx.trunc(a) - Tx.round(b),
    lambda a, b: Tx.cast(Tx.cast(a, "int32"), a.dtype) * b, lambda a, b: Tx.copysign(a, b),
    lambda a, b: Tx.reinterpret(a.dtype, Tx.reinterpret(f"uint{a.dtype.bits}", a)) + b, lambda a, b: Tx.fmod(a, Tx.fabs(b) + 0.7),
)  # fmt: skip


def grown(rng: random.Random, leaves: list[Any], operations: tuple[Callable[..., Any], ...], depth: int) -> Any:
    """A random expression."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(leaves)
    return rng.choice(operations)(*(grown(rng, leaves, operations, depth - 1) for _ in range(2)))


# What applies to vectors too.
VECTOR_INTEGER = (*INTEGER[:8], lambda a, b: Tx.Select(a >= b, b, a), lambda a, b: -a + ~b, lambda a, b: a // 3 - b % 5)
VECTOR_FLOAT = (*FLOAT[:10], lambda a, b: Tx.Select(a < b, b, a * 0.3))


def kernel_of(seed: int, dtype: str, count: int, lanes: int) -> Any:
    """A kernel that stores `count` random expressions of `lanes` lanes per thread."""
    rng = random.Random(seed)
    integers = DType(dtype).is_integer
    with Tx.prim_func() as frame:
        Tx.func_name("kernel")
        A = Tx.arg("A", Tx.Buffer((64 * lanes,), dtype))
        B = Tx.arg("B", Tx.Buffer((64, count * lanes), dtype))
        Tx.device_entry()
        tx = Tx.thread_id([64])
        leaves: list[Any] = [A.vload([at * lanes], DType(dtype).with_lanes(lanes).name) for at in (tx, 63 - tx)]
        numbers = [Tx.cast(tx, dtype)] if dtype == "uint32" else [Tx.cast(value, dtype) for value in (tx, 3, -7)]
        leaves += [Tx.cast(number, leaves[0].dtype) for number in numbers]
        scalar, vector = (INTEGER, VECTOR_INTEGER) if integers else (FLOAT, VECTOR_FLOAT)
        for index in range(count):
            value: Expr = grown(rng, leaves, scalar if lanes == 1 else vector, 4)
            B.vstore([tx, index * lanes], value)
    return frame.get()


KINDS = {"int32": "int", "int64": "long long", "uint32": "unsigned int", "float32": "float", "float64": "double"}
CASES = [
    *(("int32", 1, seed) for seed in range(3)), *(("float32", 1, seed) for seed in range(3)), ("int32", 4, 3), ("int32", 8, 4),
    ("float32", 4, 3), ("float32", 8, 4), ("int64", 1, 5), ("uint32", 1, 6), ("float64", 1, 7),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "lanes", "seed"), CASES)
def test_expressions_mean_the_same_in_source_and_simulator(dtype: str, lanes: int, seed: int, tmp_path: Path) -> None:
    count = 40 if lanes == 1 else 20
    kernel = kernel_of(seed, dtype, count, lanes)
    a = np.random.default_rng(seed).integers(0 if dtype == "uint32" else -100, 100, 64 * lanes).astype(dtype)
    if dtype.startswith("float"):
        a = a / a.dtype.type(7)
    simulated, compiled = np.zeros((64, count * lanes), dtype), np.zeros((64, count * lanes), dtype)
    report = tirx.simulate(kernel, a, simulated, target="cuda -arch=sm_90a", checks="none")
    assert report.verdict != "error", str(report)
    run = built(source_of(kernel).text, "kernel_kernel", tmp_path, f"{KINDS[dtype]}* A, {KINDS[dtype]}* B")
    run(1, 64, a.ctypes.data_as(ctypes.c_void_p), compiled.ctypes.data_as(ctypes.c_void_p))
    different = ~((simulated == compiled) | (np.isnan(simulated) & np.isnan(compiled)))
    assert not different.any(), f"columns {sorted(set(np.nonzero(different)[1].tolist()))}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_structured_programs_mean_the_same(seed: int, tmp_path: Path) -> None:
    program = Program(seed)
    module = program.module()
    array = np.random.default_rng(seed).integers(-1000, 1000, 64, dtype=np.int32)
    simulated = np.zeros(program.O.shape[0], np.int32)
    report = simulate_module(module, [array.copy(), simulated], Target("generic"), checks="none")
    assert report.verdict == "clean", str(report)
    generator = CudaGenerator(cuda_dialect(), EMISSIONS.get)
    text = generator.module(IRModule([module["k"]]), "cuda", ".cu").text
    compiled = np.zeros_like(simulated)
    run = built(text, "k", tmp_path, "int* A, int* O")
    run(program.ctas, program.threads, array.ctypes.data_as(ctypes.c_void_p), compiled.ctypes.data_as(ctypes.c_void_p))
    np.testing.assert_array_equal(compiled, simulated)


EMISSIONS = {row.intrinsic: row for row in CORE_EMISSIONS}
