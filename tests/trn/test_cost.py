"""The cost estimate: figures of single instructions from the documentation, tables, and how well the example kernels use the machine."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import block, index, kernel, loop, lowered, psum, sbuf
from tests.trn.test_examples import load
from tests.trn.test_kernels import add_kernel
from tirx.ir import Buffer, If, PrimFunc
from tirx.support.errors import TargetError
from tirx.target import Target
from tirx_trn import script as nki
from tirx_trn.cost import Report, cost
from tirx_trn.cycles import CYCLES
from tirx_trn.op import ROWS


def estimate(func: PrimFunc, target: str = "trn", **sizes: int) -> Report:
    return cost(lowered(func, target), Target(target), sizes)


A, B = Buffer("a", (128, 512)), Buffer("b", (128, 512))
T, U, C = sbuf("t", 128, 512), sbuf("u", 128, 512), sbuf("c", 128, 1)
BF, PB = sbuf("bf", 128, 512, dtype="bfloat16"), psum("pb", 128, 512)
I = sbuf("i", 128, 512, dtype="int32")

# What one instruction costs on NeuronCore-v2, v3, v4, in cycles of its engine; by hand from the documented formulas.
COSTS: dict[str, tuple[Any, str, tuple[float, float, float]]] = {
    "512 elements": (lambda: nki.tensortensor(T, T, U, "add"), "vector", (512, 256, 256)),
    "512 elements of 2 bytes": (lambda: nki.tensor_copy(BF, BF), "vector", (512, 128, 128)),
    "the shortest instruction": (lambda: nki.tensor_copy(C, C), "vector", (64, 64, 64)),
    "a reciprocal": (lambda: nki.reciprocal(T, T), "vector", (4096, 2048, 2048)),
    "an activation": (lambda: nki.activation(T, T, "exp"), "scalar", (512, 512, 256)),
    "an activation with a sum": (lambda: nki.activation_reduce(C, T, T, "exp", "add"), "scalar", (576, 576, 320)),
    "a scan": (lambda: nki.tensor_tensor_scan(T, T, U, 0.0, "add", "add"), "vector", (1024, 512, 512)),
    "positions": (lambda: nki.iota(I, [[1, 512]]), "gpsimd", (662, 662, 662)),
    "a product in bfloat16": (lambda: nki.matmul(PB, BF[:, 0:128], BF), "tensor", (512, 512, 512)),
    "a product in float32": (lambda: nki.matmul(PB, T[:, 0:128], T), "tensor", (2048, 2048, 2048)),
    "a product with few columns": (
        lambda: nki.matmul(PB[:, 0:8], BF[:, 0:128], BF[:, 0:8]), "tensor", (64, 64, 64)
    ),
    "a transpose": (lambda: nki.nc_transpose(PB[:, 0:128], T[:, 0:128]), "tensor", (128, 128, 128)),
    "a small transpose": (lambda: nki.nc_transpose(U[0:32, 0:32], T[0:32, 0:32]), "vector", (64, 64, 64)),
    "integers": (lambda: nki.tensortensor(I, I, I, "add"), "gpsimd", (512, 512, 512)),
    "bits": (lambda: nki.tensortensor(I, I, I, "bitwise_or"), "vector", (512, 256, 256)),
    "a chosen engine": (lambda: nki.memset(T, 0.0, engine="gpsimd"), "gpsimd", (512, 512, 512)),
    "a power": (lambda: nki.tensorscalar(T, T, 2.0, "power"), "gpsimd", (512, 512, 512)),
}  # fmt: skip


@pytest.mark.parametrize("name", COSTS)
def test_an_instruction_costs_what_the_documentation_says(name: str) -> None:
    make, engine, cycles = COSTS[name]
    func = kernel("one", [A, B], T, U, C, BF, PB, I, nki.load(T, A), make(), nki.store(B, T))
    for generation, wanted in zip(("v2", "v3", "v4"), cycles, strict=True):
        line = estimate(func, f"trn -generation={generation}").lines[1]
        assert (line.engine, line.cycles, line.count) == (engine, wanted, 1)
        clock = {"v2": (2.8, 1.12, 1.4, 1.4), "v3": (2.4, 0.96, 1.2, 1.2), "v4": (2.4, 1.2, 1.2, 1.2)}[generation]
        hertz = dict(zip(("tensor", "vector", "scalar", "gpsimd"), clock, strict=True))[engine]
        assert line.nanoseconds == pytest.approx(wanted / hertz)


def test_every_engine_instruction_has_a_cost() -> None:
    queues = {
        "load",
        "store",
        "dma_copy",
        "dma_transpose",
        "matmul",
        "affine_select",
    }  # the last becomes a select_pattern
    assert set(ROWS) - queues == set(CYCLES)


def test_a_copy_takes_its_bytes_and_short_rows_take_longer() -> None:
    whole = estimate(kernel("copy", [A, B], T, nki.load(T, A), nki.store(B, T)))
    assert (whole.bytes, whole.bound) == (2 * 128 * 512 * 4, "dma")
    assert whole.microseconds == pytest.approx(2 * 128 * 512 * 4 / 368 / 1000)
    column = estimate(kernel("copy", [A, B], C, nki.load(C, A[:, 0:1]), nki.store(B[:, 0:1], C)))
    assert column.bytes == 2 * 128 * 4
    assert column.microseconds == pytest.approx(2 * 128 * 256 / 368 / 1000)


def test_device_memory_may_be_slower_than_the_queues() -> None:
    func = kernel("copy", [A, B], T, nki.load(T, A), nki.store(B, T))
    ratio = estimate(func, "aws/trn2/trn2.48xlarge").microseconds / estimate(func).microseconds
    assert ratio == pytest.approx(368 / 362)


def test_loops_and_branches_are_followed() -> None:
    i, j, k = index("i"), index("j"), index("k")
    work = nki.tensorscalar(T, T, 1.0, "add")
    turns = loop(i, 6, loop(j, i + 1, work))
    odd = loop(index("n"), 4, nki.memset(U, 0.0))
    chosen = loop(k, 5, If(k % 2 == 0, block(nki.reciprocal(T, T)), block(nki.tensor_copy(T, T))))
    report = estimate(kernel("loops", [A, B], T, U, nki.load(T, A), turns, odd, chosen, nki.store(B, T)))
    assert [(line.instruction, line.count) for line in report.lines[1:-1]] == [
        ("tensorscalar", 21), ("memset", 4), ("reciprocal", 3), ("tensor_copy", 2)
    ]  # fmt: skip


def test_sizes_that_only_a_call_knows_are_given() -> None:
    func = load("nki_add").KERNEL
    compiled = tirx.compile(func, "trn")
    assert cost(compiled.lowered, compiled.target, {"n": 512}).bytes == 3 * 512 * 1024 * 4
    with pytest.raises(TargetError, match="the cost depends on n") as caught:
        cost(compiled.lowered, compiled.target)
    assert caught.value.hint == "give a number for each: sizes={'n': 4096}"


REPORT = """\
add_kernel on trn: bound by dma, at least 0.5 us (estimated)
  instruction   line  engine  count  cycles   bytes   us
  load                dma         1          65,536  0.2
  load                dma         1          65,536  0.2
  tensortensor        vector      1      64          0.1
  store               dma         1          65,536  0.2
busy:
  dma            0.5 us  100 %
  vector         0.1 us   12 %
bounds, of which 100 % are reached:
  dma            0.5 us for every parameter once"""


def test_the_report_is_a_table() -> None:
    assert str(estimate(add_kernel(128, 128))) == REPORT


def test_the_report_is_plain_data_too() -> None:
    report = estimate(add_kernel(128, 128))
    plain = json.loads(json.dumps(report.plain()))
    assert (plain["bound"], plain["bytes"], plain["flops"]) == ("dma", 3 * 65_536, 0)
    assert [row["instruction"] for row in plain["instructions"]] == ["load", "load", "tensortensor", "store"]
    assert plain["engines"]["vector"]["cycles"] == 64


# ---- how well the kernels use the machine ------------------------------------------------------------------------------


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_the_tiled_product_keeps_the_tensor_engine_busy(dtype: str, generation: str) -> None:
    """At least 80 % of the bound that the tensor engine sets: 2 M N K operations at its dense rate."""
    m = n = k = 2048
    func = load("nki_tiled_matmul").nki_tiled_matmul.specialize(M=m, N=n, K=k, dtype=dtype)
    report = estimate(func, f"trn -generation={generation}")
    assert report.flops == 2 * m * n * k
    dense = 2 * 128 * 128 * {"v2": 2.8, "v3": 2.4, "v4": 2.4}[generation]  # operations in a nanosecond
    ideal = report.flops / dense / 1000 * (4 if dtype == "float32" else 1)
    assert report.least["tensor"] == pytest.approx(ideal)
    assert ideal / report.microseconds >= 0.8
    assert report.reached >= 0.8


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
@pytest.mark.parametrize("name", ["nki_long_softmax", "nki_rmsnorm", "nki_softmax"])
def test_row_kernels_reach_the_bound_of_the_queues(name: str, generation: str) -> None:
    """At least 80 % of the time that reading every input and writing every result once takes."""
    func, target = load(name).KERNEL, f"trn -generation={generation}"
    report = estimate(func, target, n=1024)
    sizes = [[1024 if not isinstance(extent, int) else extent for extent in buffer.shape] for buffer in func.buffers()]
    ideal = sum(int(np.prod(shape)) * 4 for shape in sizes) / {"v2": 272, "v3": 368, "v4": 528}[generation] / 1000
    assert report.least["dma"] == pytest.approx(ideal)
    assert report.reached >= 0.8
