"""One PTX call built and validated, after the first: its words looked up, its operands checked, its node made, in an open kernel.

    python -m bench.instructions ours|peer

measures one implementation and prints JSON. Processor time, the best of many kernels.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .rows import Row, within

ROOT = Path(__file__).parents[1]
CALLS, ROUNDS = 200, 40
BUDGET = 0.020  # milliseconds


def bench_instructions(peer_python: str = sys.executable) -> list[Row]:
    """A row for each way to write a call; the peer's where it is installed."""
    ours, theirs = _one(sys.executable, "ours"), _one(peer_python, "peer")
    return [within(name, taken, BUDGET, theirs.get(name, float("nan"))) for name, taken in ours.items()]


def _one(python: str, which: str) -> dict[str, float]:
    """Milliseconds by way; nothing where the peer is missing."""
    command = [python, "-m", "bench.instructions", which]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        if which == "ours":
            raise RuntimeError(done.stderr)
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


# ---- in the measured process ------------------------------------------------------------------------------------------


def _looked_up(Tx: Any, d: Any, a: Any, pointer: Any) -> None:
    for _ in range(CALLS):
        Tx.ptx.add.f32(d, a, 1.0)


def _held(Tx: Any, d: Any, a: Any, pointer: Any) -> None:
    add = Tx.ptx.add.f32
    for _ in range(CALLS):
        add(d, a, 1.0)


def _loading(Tx: Any, d: Any, a: Any, pointer: Any) -> None:
    for _ in range(CALLS):
        Tx.ptx.ld.global_.f32(d, pointer)


def _exact(Tx: Any, d: Any, a: Any, pointer: Any) -> None:
    for _ in range(CALLS):
        Tx.ptx["fma.rn.f32"](d, a, a, 1.0)


WAYS: dict[str, Callable[[Any, Any, Any, Any], None]] = {
    "Tx.ptx.add.f32(d, a, 1.0)": _looked_up,
    "the same, the chain held in a variable": _held,
    "Tx.ptx.ld.global_.f32(d, pointer)": _loading,
    'Tx.ptx["fma.rn.f32"](d, a, a, 1.0)': _exact,
}


def _measured(Tx: Any, way: Callable[[Any, Any, Any, Any], None]) -> float:
    """Milliseconds of one call, in a kernel of its own."""
    found = []

    def timed(*operands: Any) -> None:
        start = time.process_time()
        way(Tx, *operands)
        found.append(time.process_time() - start)

    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        Tx.cta_id([1])
        Tx.thread_id([32])
        d: Tx.float32 = 0.0
        a: Tx.float32 = 0.0
        timed(d, a, A.ptr_to([3]))

    return 1e3 * found[0] / CALLS


def main() -> None:
    """Measure one implementation."""
    if sys.argv[1] == "ours":
        from tirx import script as Tx
    else:
        from tvm.script import tirx as Tx
    print(json.dumps({name: min(_measured(Tx, way) for _ in range(ROUNDS)) for name, way in WAYS.items()}))


if __name__ == "__main__":
    main()
