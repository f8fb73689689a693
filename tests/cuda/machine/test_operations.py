"""Every operation of every dtype at the edges: CUDA C++, simulator and a reference of our own give the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.machine.build import COMPILER, MISSING, Machine
from tests.cuda.machine.compare import distance, where
from tests.cuda.machine.operations import COUNT, FLOATS, INTEGERS, edge_values, kernel_of, operations, wanted
from tirx.ir import DType
from tirx.ir.numpy_types import numpy_dtype

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

TARGET = "cuda -arch=sm_90a"
WIDE = {"int8", "uint16", "float16", "float32"}  # 8 lanes of these
CASES = [(dtype, lanes) for dtype in INTEGERS + FLOATS for lanes in (1, 4, 8) if lanes < 8 or dtype in WIDE]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A kernel for each dtype and number of lanes."""
    made = {f"{dtype}_{lanes}": tirx.compile(kernel_of(dtype, lanes), TARGET) for dtype, lanes in CASES}
    return Machine.of(tmp_path_factory.mktemp("operations"), made, "-O0")


def results(dtype: str) -> list[Any]:
    """Room for the result of each operation."""
    return [np.zeros(COUNT, numpy_dtype(DType(item.result or dtype))) for item in operations(dtype)]


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "lanes"), CASES)
def test_operations(dtype: str, lanes: int, machine: Machine) -> None:
    a, b = edge_values(dtype)
    real, simulated = results(dtype), results(dtype)
    machine.run(f"{dtype}_{lanes}", a, b, *real)
    report = tirx.simulate(kernel_of(dtype, lanes), a, b, *simulated, target=TARGET, checks="none")
    assert report.verdict == "clean", str(report)
    wrong = []
    for item, one, other in zip(operations(dtype), real, simulated, strict=True):
        answer = wanted(item, dtype, a, b)
        wrong += [f"{item.name} in C++: {where(one, answer)}"] * (distance(one, answer) > 0)
        wrong += [f"{item.name} simulated: {where(other, answer)}"] * (distance(other, answer) > 0)
    assert not wrong, "\n".join(wrong)


def test_a_wrong_source_is_noticed(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = tirx.compile(kernel_of("int8"), TARGET)
    monkeypatch.setattr(
        executable.source,
        "text",
        executable.source.text.replace("(signed char)(A[tx] + B[tx]) >> 1", "A[tx] + B[tx] >> 1"),
    )
    machine = Machine.of(tmp_path, {"changed": executable}, "-O0")
    a, b = edge_values("int8")
    real = results("int8")
    machine.run("changed", a, b, *real)
    wrong = {
        item.name
        for item, one in zip(operations("int8"), real, strict=True)
        if distance(one, wanted(item, "int8", a, b))
    }
    assert wrong == {"sum_shr"}
