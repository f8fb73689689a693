"""What the simulator is told an instruction does, against vectors worked out by hand and against the executed file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trn.build import block, index, kernel, loop, lowered, psum, run, sbuf
from tests.trn.test_kernels import add_kernel, floats, matmul_kernel, softmax_kernel
from tests.trn.test_ops import ALL, case_kernel, tile_kernel, wanted_array
from tests.trn.vectors import FUNCTIONS
from tirx.ir import Buffer, If, PrimFunc
from tirx.sim.executor import simulate_module
from tirx.sim.report import Report
from tirx.target import Target
from tirx_trn import script as nki
from tirx_trn.opcodes import ACTIVATIONS, OPCODES


def simulate(func: PrimFunc, *arrays: np.ndarray, target: str = "trn") -> Report:
    """The report of the lowered kernel, run on arrays in place."""
    return simulate_module(lowered(func, target), arrays, Target(target))


@pytest.mark.parametrize("name", ALL)
def test_instruction(name: str) -> None:
    _, inputs, expected = ALL[name]
    results = [np.zeros_like(wanted_array(item), order="C") for item in expected]
    assert simulate(case_kernel(ALL[name]), *(x.copy() for x in inputs), *results).verdict == "clean"
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted_array(wanted))


@pytest.mark.parametrize("opcode", ACTIVATIONS)
def test_function(opcode: str) -> None:
    argument, value = FUNCTIONS[opcode]
    result = np.zeros((1, 1), np.float32)
    func = tile_kernel(lambda x, r: [nki.activation(r, x, opcode)], [result], ((1, 1), "float32"))
    assert simulate(func, np.float32([[argument]]), result).verdict == "clean"
    np.testing.assert_allclose(result, [[value]], rtol=2e-7, atol=0)


@pytest.mark.parametrize("opcode", [name for name, row in OPCODES.items() if row.domain])
def test_functions_end_where_their_domain_ends(opcode: str) -> None:
    domain = OPCODES[opcode].domain
    assert domain is not None
    beyond = np.float32([[min(domain[1] * 1.001, 3e38)]])
    func = tile_kernel(lambda x, r: [nki.activation(r, x, opcode)], [beyond], ((1, 1), "float32"))
    assert [found.kind for found in simulate(func, beyond, np.zeros((1, 1), np.float32)).findings] == ["domain"]


KERNELS: list[tuple[Any, tuple[tuple[int, ...], ...], tuple[int, ...]]] = [
    (add_kernel, ((512, 1024), (512, 1024)), (512, 1024)),
    (matmul_kernel, ((512, 256), (512, 1024)), (256, 1024)),
    (softmax_kernel, ((256, 1000),), (256, 1000)),
]


@pytest.mark.parametrize(("make", "shapes", "result"), KERNELS)
def test_meanings_agree_with_the_executed_file(make: Any, shapes: Any, result: tuple[int, ...], tmp_path: Path) -> None:
    func: PrimFunc = make()
    rng = np.random.default_rng(3)
    inputs = [floats(rng, *shape) for shape in shapes]
    out = np.zeros(result, np.float32)
    assert simulate(func, *inputs, out).verdict == "clean"
    np.testing.assert_array_equal(out, run(func, tmp_path, *inputs))


def test_a_function_outside_its_domain_is_a_finding() -> None:
    func = tile_kernel(
        lambda x, r: [nki.activation(r, x, "sqrt", 0.0, -1.0)], [np.ones((2, 2), np.float32)], ((2, 2), "float32")
    )
    report = simulate(func, np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32))
    assert report.verdict == "error"
    (found,) = report.findings
    assert found.kind == "domain"
    assert found.message.startswith("sqrt is computed outside")


def test_a_transpose_of_infinities_is_a_finding_on_v2() -> None:
    func = tile_kernel(*ALL["transposed by the tensor engine"][:2], ((4, 2), "float32"))
    values, result = np.full((2, 4), np.inf, np.float32), np.zeros((4, 2), np.float32)
    assert simulate(func, values, result).verdict == "clean"
    assert [found.kind for found in simulate(func, values, result, target="trn -generation=v2").findings] == [
        "transpose"
    ]


def test_memory_that_nobody_wrote_is_a_finding() -> None:
    a, b, tile, other = Buffer("a", (8, 4)), Buffer("b", (8, 4)), sbuf("tile", 8, 4), sbuf("other", 8, 4)
    func = kernel(
        "half", [a, b], tile, other, nki.load(other, a), nki.load(tile[:, 0:2], a[:, 0:2]), nki.store(b, tile)
    )
    report = simulate(func, np.ones((8, 4), np.float32), np.zeros((8, 4), np.float32))
    assert [(item.kind, item.buffer) for item in report.findings] == [("uninitialised", "tile")]


def test_a_slice_beyond_the_tensor_is_a_finding_where_no_check_sees_it() -> None:
    a, b, tile, i = Buffer("a", (300, 4)), Buffer("b", (300, 4)), sbuf("tile", 128, 4), index("i")
    part = slice(i * 128, i * 128 + 128)
    guarded = If(i < 3, block(nki.load(tile, a[part, :]), nki.store(b[part, :], tile)))
    func = kernel("tail", [a, b], loop(i, 3, tile, guarded))
    report = simulate(func, np.ones((300, 4), np.float32), np.zeros((300, 4), np.float32))
    assert {item.buffer for item in report.findings if item.kind == "out_of_bounds"} == {"a", "b"}


def test_an_allocation_in_a_loop_is_new_every_time() -> None:
    a, b = Buffer("a", (8, 4)), Buffer("b", (4, 4))
    x, acc, out, i = sbuf("x", 8, 4), psum("acc", 4, 4), sbuf("out", 4, 4), index("i")
    func = kernel(
        "fresh",
        [a, b],
        x,
        out,
        nki.load(x, a),
        loop(i, 3, acc, nki.matmul(acc, x, x), nki.tensor_copy(out, acc)),
        nki.store(b, out),
    )
    values, result = np.ones((8, 4), np.float32), np.zeros((4, 4), np.float32)
    assert simulate(func, values, result).verdict == "clean"
    np.testing.assert_array_equal(result, values.T @ values)


def test_banks_are_part_of_the_free_dimension() -> None:
    a, b = Buffer("a", (4, 4)), Buffer("b", (4, 2))
    left, acc, total = sbuf("left", 4, 4), psum("acc", 2, 4, 4), sbuf("total", 4, 2)
    steps = [nki.matmul(acc[bank, :, :], left, left, False) for bank in range(2)]
    func = kernel(
        "banks",
        [a, b],
        left,
        acc,
        total,
        nki.load(left, a),
        *steps,
        nki.tensorreduce(total, acc, "add", False, 2),
        nki.store(b, total),
    )
    x, result = np.arange(16, dtype=np.float32).reshape(4, 4), np.zeros((4, 2), np.float32)
    assert simulate(func, x, result).verdict == "clean"
    np.testing.assert_array_equal(result, np.repeat((x.T @ x).sum(axis=1, keepdims=True), 2, axis=1))
