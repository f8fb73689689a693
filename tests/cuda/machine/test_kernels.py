"""Kernels that people wrote, run from their CUDA C++: the same numbers as the simulator, and as NumPy where there is an answer."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import kernels
from tests.cuda.machine.build import COMPILER, MISSING, Machine, MachineError, cannot_run
from tests.cuda.machine.compare import distance, largest_difference, where
from tests.programs.examples import NEUTRAL, copies, load
from tests.programs.test_examples import FILES, GPU, small
from tirx import script as Tx
from tirx.ir import Buffer, PrimFunc
from tirx.ir.numpy_types import numpy_dtype
from tirx.runtime import pack_elements
from tirx.runtime.executable import Executable

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

TARGET = "cuda -arch=sm_90a"
BENCH = Path(__file__).parents[3] / "bench/kernels"
GOLDEN = kernels()
PTX = {"clusters", "votes", "waiting", "warpgroups"}  # these need instructions that only PTX names
RACES = {"branches", "conversions", "loops", "mathematics", "precedence", "pointers", "floor_division", "helpers"}
FOREIGN = {"foreign", "hidden_helpers"}  # the simulator does not know source that an author brings
APPROXIMATE = {"vector_scale"}  # calls expf
HALVES = {"rmsnorm": 1, "silu_mul": 1}
SAME = 2e-6  # sums in another order, expf of another library


def compiled(kernel: PrimFunc) -> Executable:
    """The kernel for the target of these tests."""
    return tirx.compile(kernel, TARGET)


def made_up(kernel: PrimFunc, seed: int = 1) -> tuple[Any, ...]:
    """Arguments of any kernel."""
    rng = np.random.default_rng(seed)
    made: list[Any] = []
    for param in kernel.params:
        if not isinstance(param, Buffer):
            made.append({"scale": 1000}.get(kernel.name, 64) if param.dtype.is_integer else 1.5)
            continue
        shape = tuple(extent if isinstance(extent, int) else 1000 for extent in param.shape)
        dtype = numpy_dtype(param.dtype)
        values = rng.integers(0, 60, shape) if dtype.kind in "iub" else rng.random(shape) * 4 - 1
        made.append(pack_elements(values.astype(dtype)) if param.dtype.is_packed else values.astype(dtype))
    return tuple(made)


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The kernels of `tests/cuda/golden`."""
    return Machine.of(
        tmp_path_factory.mktemp("golden"), {name: compiled(GOLDEN[name]) for name in GOLDEN if name not in PTX}
    )


def test_what_cannot_run_is_listed() -> None:
    assert {name for name in GOLDEN if cannot_run(compiled(GOLDEN[name]).source.text)} == PTX


@pytest.mark.parametrize("name", sorted(set(GOLDEN) - PTX - RACES - FOREIGN))
def test_a_golden_kernel_computes_what_the_simulator_computes(name: str, golden: Machine) -> None:
    arguments = made_up(GOLDEN[name])
    real, backwards, simulated = copies(arguments), copies(arguments), copies(arguments)
    golden.run(name, *real)
    golden.run(name, *backwards, backwards=True)
    report = tirx.simulate(GOLDEN[name], *simulated, target=TARGET, checks="none")
    assert report.verdict == "clean", str(report)
    for one, two, three in zip(real, backwards, simulated, strict=True):
        if isinstance(one, np.ndarray):
            near = name in APPROXIMATE and largest_difference(one, three) <= SAME
            assert near or distance(one, three) == 0, where(one, three)
            assert distance(one, two) == 0 or name == "atomics", "the order of threads matters"


@pytest.mark.parametrize("name", sorted(RACES))
def test_a_golden_kernel_with_races_ends(name: str, golden: Machine) -> None:
    golden.run(name, *made_up(GOLDEN[name]))


def test_source_that_an_author_brings(golden: Machine) -> None:
    (array,) = made_up(GOLDEN["hidden_helpers"])
    total = array.astype(np.float64).sum()
    golden.run("hidden_helpers", array)
    np.testing.assert_allclose(array, np.full(32, total * 2), rtol=1e-5)


def test_an_assertion_stops_the_kernel(golden: Machine) -> None:
    with pytest.raises(MachineError, match=r"trap\nRuntimeError: too many threads at basics\.py"):
        golden.run("assertion", np.zeros(64, np.int32), 40)


def test_printing(golden: Machine) -> None:
    array = np.arange(32).astype(np.float16) / 4
    assert golden.run("printing", array) == "".join(f"lane {lane}: {lane / 4:g}\n" for lane in range(32))


# ---- examples ---------------------------------------------------------------------------------------------------------

# Those of the examples that need instructions which only PTX names: asynchronous copies, matrices.
INSTRUCTIONS = {"blackwell_gemm", "hopper_gemm", "tile_attention", "tile_batched_gemm", "tile_gemm"}
HOSTED = [name for name in GPU if name not in INSTRUCTIONS]
NEUTRAL_FILES = {f"neutral_{path.stem}": path for path in sorted(NEUTRAL.glob("*.py"))}


def example(name: str) -> tuple[ModuleType, PrimFunc, tuple[Any, ...]]:
    """An example of the documentation or a neutral one: its module, kernel, arguments."""
    if name in NEUTRAL_FILES:
        module = load(NEUTRAL_FILES[name])
        return module, module.kernel(32), module.arguments(np.random.default_rng(5))
    module = load(FILES[name])
    return module, *small(name, module)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """All examples in one shared object."""
    names = [*HOSTED, *NEUTRAL_FILES]
    return Machine.of(tmp_path_factory.mktemp("examples"), {name: compiled(example(name)[1]) for name in names})


def test_examples_that_cannot_run_are_listed() -> None:
    for name in GPU:
        module, kernel, _ = example(name)
        source = tirx.compile(kernel, module.TARGET if name in INSTRUCTIONS else TARGET).source.text
        assert bool(cannot_run(source)) == (name in INSTRUCTIONS), name


@pytest.mark.parametrize("name", [*HOSTED, *NEUTRAL_FILES])
def test_an_example_computes_what_numpy_and_the_simulator_compute(name: str, examples: Machine) -> None:
    module, kernel, arguments = example(name)
    real, simulated = copies(arguments), copies(arguments)
    examples.run(name, *real)
    report = tirx.simulate(kernel, *simulated, target=TARGET, checks="none")
    assert report.verdict == "clean", str(report)
    for which, wanted in module.expected(*arguments).items():
        got, other = real[kernel.names.index(which)], simulated[kernel.names.index(which)]
        assert largest_difference(got, wanted) <= module.TOLERANCE
        if np.asarray(got).dtype.itemsize == 2:
            assert distance(got, other) <= HALVES.get(name, 0), where(got, other)
        else:
            assert largest_difference(got, other) <= (0 if got.dtype.kind in "iub" else SAME), where(got, other)


# ---- the kernels of the benchmark -------------------------------------------------------------------------------------

BENCH_FILES = {path.stem: path for path in sorted(BENCH.glob("*.py"))}


def benchmark(name: str) -> PrimFunc:
    """One kernel of `bench/kernels`."""
    return Tx.from_source(BENCH_FILES[name].read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """The kernels of `bench/kernels`."""
    return Machine.of(tmp_path_factory.mktemp("bench"), {name: compiled(benchmark(name)) for name in BENCH_FILES})


def big_arguments(kernel: PrimFunc) -> tuple[Any, ...]:
    """Arguments of a kernel at its size."""
    rng = np.random.default_rng(7)
    made: list[Any] = []
    for param in kernel.params:
        if isinstance(param, Buffer):
            dtype = numpy_dtype(param.dtype)
            made.append(rng.standard_normal(param.shape, dtype=np.float32).astype(dtype))
        else:
            made.append({"scale": 0.125, "cap": 30.0, "epsilon": 1e-5, "a": 2.5}[param.name])
    return tuple(made)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BENCH_FILES))
def test_a_kernel_of_the_benchmark(name: str, benchmarks: Machine) -> None:
    kernel = benchmark(name)
    arguments = big_arguments(kernel)
    real, simulated = copies(arguments), copies(arguments)
    benchmarks.run(name, *real)
    report = tirx.simulate(kernel, *simulated, target=TARGET, checks="none")
    assert report.verdict == "clean", str(report)
    for one, other, before in zip(real, simulated, arguments, strict=True):
        if not isinstance(one, np.ndarray):
            continue
        if one.dtype.itemsize == 1:  # rounded to int8 with a scale: the next number is as good where the float differs
            assert np.abs(one.astype(np.int32) - other.astype(np.int32)).max() <= 1
        elif one.dtype.itemsize == 2:
            assert distance(one, other) <= 1, where(one, other, 1)
        else:
            assert largest_difference(one, other) <= 1e-5
        assert one.shape == before.shape
