"""What the simulator is told an instruction does, against vectors worked out by hand and against the executed file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.trn.build import kernel, lowered, psum, run, sbuf
from tests.trn.interpret import interpret
from tests.trn.test_kernels import add_kernel, floats, matmul_kernel, softmax_kernel
from tests.trn.test_ops import CASES, tile_kernel
from tirx.ir import Buffer, PrimFunc
from tirx_trn import script as nki


@pytest.mark.parametrize("name", CASES)
def test_instruction(name: str) -> None:
    build, inputs, expected = CASES[name]
    results = [np.zeros(np.shape(item), np.float32) for item in expected]
    func = tile_kernel(build, inputs, *((item.shape, "float32") for item in results))
    context = interpret(lowered(func), *(x.copy() for x in inputs), *results)
    assert context.findings == []
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, np.array(wanted, np.float32))


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
    assert interpret(lowered(func), *inputs, out).findings == []
    np.testing.assert_array_equal(out, run(func, tmp_path, *inputs))


def test_a_function_outside_its_domain_is_a_finding() -> None:
    func = tile_kernel(
        lambda x, r: [nki.activation(r, x, "sqrt", 0.0, -1.0)], [np.ones((2, 2), np.float32)], ((2, 2), "float32")
    )
    ((kind, message),) = interpret(lowered(func), np.ones((2, 2), np.float32), np.zeros((2, 2), np.float32)).findings
    assert kind == "domain"
    assert message.startswith("sqrt is computed outside")


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
    assert interpret(lowered(func), x, result).findings == []
    np.testing.assert_array_equal(result, np.repeat((x.T @ x).sum(axis=1, keepdims=True), 2, axis=1))
