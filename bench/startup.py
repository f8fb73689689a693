"""Starting up: imports against bare Python and against the published implementation, in fresh processes taken in turn.

Processor time of the processes, not the clock: what other programs do beside is not counted.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile

from .rows import Row, beside, within

RUNS = 9
IMPORT, FIRST_KERNEL, WITH_CUDA, OF_PEER = 30, 120, 150, 0.1  # milliseconds above bare Python; share of the peer's time

KERNEL = """
from tirx import script as Tx

@Tx.prim_func
def scale(x: Tx.Buffer((1024,), "float32"), y: Tx.Buffer((1024,), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([4])
    tx = Tx.thread_id([256])
    y[bx * 256 + tx] = a * x[bx * 256 + tx]
"""


def bench_startup(peer_python: str = sys.executable) -> list[Row]:
    """What a process pays beyond starting Python."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(KERNEL)
        file.flush()
        best = _best(
            {
                "bare": [sys.executable, "-c", "pass"],
                "tirx": [sys.executable, "-c", "import tirx"],
                "kernel": [sys.executable, file.name],
                "cuda": [sys.executable, "-c", "import tirx_cuda.plugin"],
                "peer bare": [peer_python, "-c", "pass"],
                "peer": [peer_python, "-c", "import tvm"],
            }
        )
    ours, kernel, cuda = (best[name] - best["bare"] for name in ("tirx", "kernel", "cuda"))
    rows = [
        within("import tirx", ours, IMPORT),
        within("script import and a first kernel", kernel, FIRST_KERNEL),
        within("import tirx_cuda with all of its rows", cuda, WITH_CUDA),
    ]
    if "peer" in best:
        rows.insert(0, beside("import tirx / import tvm", ours, best["peer"] - best["peer bare"], OF_PEER))
    return rows


def _best(commands: dict[str, list[str]]) -> dict[str, float]:
    """The least milliseconds of each command that works."""
    best: dict[str, float] = {}
    for _ in range(RUNS):
        for name, command in commands.items():
            taken = _milliseconds(command)
            if taken is not None:
                best[name] = min(best.get(name, taken), taken)
    return best


def _milliseconds(command: list[str]) -> float | None:
    """Processor time that a command takes; None where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return 1e3 * taken if done.returncode == 0 else None
