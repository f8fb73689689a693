"""What threads do together, for each dtype: atomics on global and shared memory, shuffles, reductions of warps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.machine.build import COMPILER, MISSING, Machine
from tests.cuda.machine.compare import distance, where
from tests.programs.examples import copies
from tirx import script as Tx
from tirx.ir import DType, PrimFunc
from tirx.ir.numpy_types import numpy_dtype

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

TARGET = "cuda -arch=sm_90a"
THREADS, FULL = 64, 0xFFFFFFFF
WORDS = ("int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64")
CASES = [("atomics", dtype) for dtype in WORDS] + [("shuffles", dtype) for dtype in (*WORDS, "int8", "uint8")]


def atomics(dtype: str) -> PrimFunc:
    """Sums, maxima and minima; exchanges of elements that nobody else touches."""
    with Tx.prim_func() as frame:
        Tx.func_name("atomics")
        A = Tx.arg("A", Tx.Buffer((THREADS,), dtype))
        total = Tx.arg("total", Tx.Buffer((3,), dtype))
        local = Tx.arg("local", Tx.Buffer((3,), dtype))
        own = Tx.arg("own", Tx.Buffer((THREADS,), dtype))
        seen = Tx.arg("seen", Tx.Buffer((2, THREADS), dtype))
        Tx.device_entry()
        tx = Tx.thread_id([THREADS])
        shared = Tx.alloc_shared((3,), dtype)
        with Tx.If(tx < 3), Tx.Then():
            Tx.buffer_store(shared, Tx.cast(1, dtype), [tx])
        Tx.evaluate(Tx.cuda.cta_sync())
        for at, operation in enumerate((Tx.atomic_add, Tx.atomic_max, Tx.atomic_min)):
            Tx.evaluate(operation(total[at], A[tx]))
            Tx.evaluate(operation(shared[at], A[tx]))
        Tx.buffer_store(seen, Tx.atomic_exch(own[tx], A[63 - tx]), [0, tx])
        Tx.buffer_store(seen, Tx.atomic_cas(own[tx], Tx.cast(2, dtype), A[tx]), [1, tx])
        Tx.evaluate(Tx.cuda.cta_sync())
        with Tx.If(tx < 3), Tx.Then():
            Tx.buffer_store(local, shared[tx], [tx])
    return frame.get()


def shuffles(dtype: str) -> PrimFunc:
    """Every shuffle, with widths; two reductions."""
    with Tx.prim_func() as frame:
        Tx.func_name("shuffles")
        A = Tx.arg("A", Tx.Buffer((THREADS,), dtype))
        O = Tx.arg("O", Tx.Buffer((7, THREADS), dtype))
        Tx.device_entry()
        tx = Tx.thread_id([THREADS])
        value = Tx.Bind(A[tx])
        made = [
            getattr(Tx.cuda, f"__shfl{name}_sync")(FULL, value, lane, width)
            for name, lane, width in (
                ("", tx * 7, 32),
                ("", tx // 3, 8),
                ("_xor", 5, 16),
                ("_up", 3, 8),
                ("_down", 3, 8),
            )
        ]
        made += [Tx.cuda.warp_max(value, 16), Tx.cuda.warp_min(value, 4)]
        for at, result in enumerate(made):
            Tx.buffer_store(O, result, [at, tx])
    return frame.get()


def kernel_of(topic: str, dtype: str) -> PrimFunc:
    """One of the two for a dtype."""
    return atomics(dtype) if topic == "atomics" else shuffles(dtype)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """All of them in one shared object."""
    made = {f"{topic}_{dtype}": tirx.compile(kernel_of(topic, dtype), TARGET) for topic, dtype in CASES}
    return Machine.of(tmp_path_factory.mktemp("together"), made, "-O0")


def arguments(kernel: PrimFunc) -> tuple[Any, ...]:
    """Numbers so small that every dtype adds them exactly."""
    rng, made = np.random.default_rng(4), []
    for param in kernel.params:
        dtype = numpy_dtype(DType(param.dtype))
        made.append(rng.integers(0 if dtype.kind == "u" else -3, 4, param.shape).astype(dtype))
    return tuple(made)


@pytest.mark.parametrize(("topic", "dtype"), CASES)
def test_together(topic: str, dtype: str, machine: Machine) -> None:
    kernel = kernel_of(topic, dtype)
    given = arguments(kernel)
    real, backwards, simulated = copies(given), copies(given), copies(given)
    machine.run(f"{topic}_{dtype}", *real)
    machine.run(f"{topic}_{dtype}", *backwards, backwards=True)
    report = tirx.simulate(kernel, *simulated, target=TARGET, checks="none")
    assert report.verdict == "clean", str(report)
    for name, one, two, three in zip(kernel.names, real, backwards, simulated, strict=True):
        assert distance(one, three) == 0, f"{name}: {where(one, three)}"
        assert distance(one, two) == 0, f"{name}: the order of threads matters"


@pytest.mark.parametrize("dtype", WORDS)
def test_atomics_count_right(dtype: str, machine: Machine) -> None:
    A, total, local, own, seen = real = arguments(atomics(dtype))
    first = [array.astype(np.int64) for array in real]
    machine.run(f"atomics_{dtype}", *real)
    wide = A.astype(np.int64)
    wrap = np.dtype(np.int64) if np.dtype(A.dtype).kind not in "iu" else A.dtype
    np.testing.assert_array_equal(
        total.astype(np.int64),
        np.array([first[1][0] + wide.sum(), max(first[1][1], wide.max()), min(first[1][2], wide.min())]).astype(wrap),
    )
    np.testing.assert_array_equal(local.astype(np.int64), [1 + wide.sum(), max(1, wide.max()), min(1, wide.min())])
    np.testing.assert_array_equal(seen.astype(np.int64), [first[3], wide[::-1]])
    np.testing.assert_array_equal(own.astype(np.int64), np.where(wide[::-1] == 2, wide, wide[::-1]))
