"""Random structured kernels: their CUDA C++, compiled and run, gives the simulator's bits."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tirx
from tests.core.sim.random_programs import Program
from tests.cuda.machine.build import COMPILER, MISSING, Machine
from tests.cuda.machine.compare import distance, where
from tests.cuda.machine.randoms import TARGET, executable_of
from tests.cuda.machine.typed_programs import CTAS, THREADS, TypedProgram
from tests.programs.examples import copies
from tirx import script as Tx
from tirx.ir import Node, walk
from tirx.sim import simulate_module

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

SEEDS = range(40)
TYPED = (*range(100, 124), 261, 388)  # the last two: registers that only dead statements read
LOOPS = (638, 864, 961, 1043)  # whose loops end where a register said before the first turn


@pytest.fixture(scope="module")
def structured(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Kernels of 32-bit integers: all control flow."""
    made = {f"p{seed}": executable_of(Program(seed)) for seed in (*SEEDS, *LOOPS)}
    return Machine.of(tmp_path_factory.mktemp("structured"), made, "-O0")


@pytest.fixture(scope="module")
def typed() -> dict[int, TypedProgram]:
    """Kernels of all dtypes."""
    return {seed: TypedProgram(seed) for seed in TYPED}


@pytest.fixture(scope="module")
def machine(typed: dict[int, TypedProgram], tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Those, compiled."""
    made = {f"p{seed}": tirx.compile(program.kernel, TARGET) for seed, program in typed.items()}
    return Machine.of(tmp_path_factory.mktemp("typed"), made, "-O0")


@pytest.mark.slow
def test_control_flow(structured: Machine) -> None:
    for seed in (*SEEDS, *LOOPS):
        program = Program(seed)
        given = np.random.default_rng(seed).integers(-1000, 1000, 64, dtype="i4")
        real, simulated = np.zeros(program.O.shape[0], "i4"), np.zeros(program.O.shape[0], "i4")
        structured.run(f"p{seed}", given, real, backwards=bool(seed % 2))
        simulate_module(program.module(), [given, simulated], TARGET, checks="none")
        assert distance(real, simulated) == 0, f"seed {seed}: {where(real, simulated)}"


@pytest.mark.slow
def test_all_dtypes(typed: dict[int, TypedProgram], machine: Machine) -> None:
    for seed, program in typed.items():
        arguments = program.arguments(seed)
        real, simulated = copies(arguments), copies(arguments)
        machine.run(f"p{seed}", *real, backwards=bool(seed % 2))
        report = tirx.simulate(program.kernel, *simulated, target=TARGET, checks="none")
        assert report.verdict == "clean", f"seed {seed}: {report}"
        for name, one, other in zip(program.kernel.names, real, simulated, strict=True):
            assert distance(one, other) == 0, f"seed {seed}, {name}: {where(one, other)}"


@pytest.mark.slow
def test_the_programs_are_rich(typed: dict[int, TypedProgram]) -> None:
    found: Counter[str] = Counter()
    for program in typed.values():
        for node in walk(program.kernel.body):
            found[_what(node)] += 1
    for wanted in (
        "While", "For", "If", "Break", "Continue", "Select", "FloorDiv", "FloorMod", "Cast", "LShift", "atomic_add", "atomic_max",
        "cuda.cta_sync", "cuda.warp_reduce", "cuda.__shfl_xor_sync", "cuda.__shfl_up_sync", "cuda.__shfl_down_sync", "cuda.__shfl_sync",
    ):  # fmt: skip
        assert found[wanted], wanted


def _what(node: Node) -> str:
    op: Any = getattr(node, "op", None)
    return op.name if op is not None else type(node).__name__


@Tx.prim_func
def moving_end(O: Tx.Buffer((CTAS * THREADS,), "int32"), n: Tx.int32):
    Tx.device_entry()
    bx = Tx.cta_id([CTAS])
    tx = Tx.thread_id([THREADS])
    end: Tx.int32 = n
    turns: Tx.int32 = 0
    for i in range(end):
        end += 1
        turns += i
    O[bx * THREADS + tx] = turns * 100 + end


def test_where_a_loop_ends_is_decided_before_it_begins(tmp_path: Any) -> None:
    executable = tirx.compile(moving_end, TARGET)
    assert "int i_end = end;" in executable.source.text
    out = np.zeros(CTAS * THREADS, "i4")
    Machine.of(tmp_path, {"moving_end": executable}, "-O0").run("moving_end", out, 5)
    assert set(out) == {(0 + 1 + 2 + 3 + 4) * 100 + 10}
