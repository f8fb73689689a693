"""The simulator against numba-cuda's, side by side: a vector add of 65,536 threads and a 64^3 matmul through shared memory.
And the documentation's product of 256^3 halves on matrix instructions, which no other simulator runs, against what it may take.

    python -m bench.simulator [python with numba-cuda]

Ours is the best of many runs after a warm-up, the peer's the best of two (it takes seconds). The checked runs are compared
with our own unchecked ones, taken in turn in the same minute.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import tirx
from tirx import script as Tx

from .rows import Row, beside, within

N = 65536
RUNS = 30
GEMM = Path(__file__).parents[1] / "docs/examples/kernels/tile_gemm.py"
GEMM_RUNS, GEMM_BUDGET = 3, 2000.0  # milliseconds, without checks

THOUSANDTH, CHECKS = 0.001, 10.0  # of the peer's time; of our own without checks


@Tx.prim_func
def vector_add(A: Tx.Buffer((N,), "float32"), B: Tx.Buffer((N,), "float32"), C: Tx.Buffer((N,), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([N // 256])
    tx = Tx.thread_id([256])
    i = bx * 256 + tx
    C[i] = A[i] + B[i]


@Tx.prim_func
def matmul(A: Tx.Buffer((64, 64), "float32"), B: Tx.Buffer((64, 64), "float32"), C: Tx.Buffer((64, 64), "float32")):
    Tx.device_entry()
    bx, by = Tx.cta_id([4, 4])
    tx, ty = Tx.thread_id([16, 16])
    sA = Tx.alloc_shared((16, 16), "float32")
    sB = Tx.alloc_shared((16, 16), "float32")
    acc: Tx.float32 = 0.0
    for k in range(4):
        sA[ty, tx] = A[by * 16 + ty, k * 16 + tx]
        sB[ty, tx] = B[k * 16 + ty, bx * 16 + tx]
        Tx.tvm_storage_sync("shared")
        for j in range(16):
            acc = acc + sA[ty, j] * sB[j, tx]
        Tx.tvm_storage_sync("shared")
    C[by * 16 + ty, bx * 16 + tx] = acc


PEER = """
import json, time
import numpy as np
from numba import cuda, float32

@cuda.jit
def add(A, B, C):
    i = cuda.grid(1)
    C[i] = A[i] + B[i]

@cuda.jit
def mm(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    t = float32(0.)
    for i in range(4):
        sA[ty, tx] = A[y, tx + i * 16]
        sB[ty, tx] = B[ty + i * 16, x]
        cuda.syncthreads()
        for j in range(16):
            t += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    C[y, x] = t

def best(kernel, grid, block, args, runs=2):
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        kernel[grid, block](*args)
        found.append(1e3 * (time.perf_counter() - start))
    return min(found)

a, b, c = (np.random.rand(65536).astype("f4") for _ in range(3))
x, y, z = (np.random.rand(64, 64).astype("f4") for _ in range(3))
vadd = best(add, 256, 256, (a, b, c))
assert np.array_equal(c, a + b)
mm64 = best(mm, (4, 4), (16, 16), (x, y, z))
assert np.allclose(z, x @ y, rtol=1e-4)
print(json.dumps([vadd, mm64]))
"""


def timed(kernel: tirx.PrimFunc, args: Any, checks: str, target: str = "generic") -> float:
    start = time.perf_counter()
    report = tirx.simulate(kernel, *args, target=target, checks=checks)
    taken = 1e3 * (time.perf_counter() - start)
    assert report.verdict == "clean", str(report)
    return taken


def ours() -> dict[str, tuple[float, float]]:
    """Per kernel, milliseconds unchecked and with all checks."""
    random = np.random.default_rng(0)
    cases = {
        "vector add of 65,536": (vector_add, [random.random(N, "f4") for _ in range(3)]),
        "matmul 64x64x64": (matmul, [random.random((64, 64), "f4") for _ in range(3)]),
    }
    found = {}
    for name, (kernel, args) in cases.items():
        times = [(timed(kernel, args, "none"), timed(kernel, args, "all")) for _ in range(RUNS)]
        found[name] = (min(t[0] for t in times), min(t[1] for t in times))
    return found


def tile_gemm() -> tuple[float, float]:
    """Milliseconds of the product of 256 x 256 x 256 halves out of tile operations, unchecked and with all checks."""
    spec = importlib.util.spec_from_file_location("tile_gemm", GEMM)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    kernel = example.tile_gemm.specialize(M=256, N=256, K=256)
    args = example.arguments(np.random.default_rng(0), 256, 256, 256)
    plain = min(timed(kernel, args, "none", example.TARGET) for _ in range(GEMM_RUNS))
    wanted = example.expected(*args)["C"]
    assert np.abs(args[2] - wanted).max() <= example.TOLERANCE * np.abs(wanted).max()
    return plain, timed(kernel, args, "all", example.TARGET)


def peer(python: str) -> list[float] | None:
    """Milliseconds of the peer; None where it is not installed."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([python, "-c", PEER], env=environment, capture_output=True, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def bench_simulator(python: str = sys.executable) -> list[Row]:
    """Rows against the peer; that of the checked runs is our unchecked one."""
    rows: list[Row] = []
    theirs = peer(python)
    found = ours()
    for position, (name, (plain, _)) in enumerate(found.items()):
        if theirs is not None:
            rows.append(beside(f"simulated {name} against numba-cuda's simulator", plain, theirs[position], THOUSANDTH))
    plain, checked = tile_gemm()
    rows.append(within("simulated tile GEMM 256x256x256, no checks", plain, GEMM_BUDGET))
    found["tile GEMM 256x256x256"] = plain, checked
    rows += [
        beside(f"simulated {name} with all checks against without", c, p, CHECKS) for name, (p, c) in found.items()
    ]
    return rows


if __name__ == "__main__":
    for row in bench_simulator(*sys.argv[1:]):
        print(f"{row.what:<70} {row.ours:>10.2f} ms {row.peer:>10.2f} ms {row.ratio:>10.5f}")
