"""Starting up: `import tirx` against bare Python and against the published implementation, in fresh processes taken in turn."""

from __future__ import annotations

import subprocess
import sys
import time

RUNS = 9

Row = tuple[str, float, float, float]

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
    """Milliseconds above bare Python: (what, ours, the peer's or the budget, ratio)."""
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(KERNEL)
        file.flush()
        commands = {
            "bare": [sys.executable, "-c", "pass"],
            "tirx": [sys.executable, "-c", "import tirx"],
            "kernel": [sys.executable, file.name],
            "peer bare": [peer_python, "-c", "pass"],
            "peer": [peer_python, "-c", "import tvm"],
        }
        best = {name: float("inf") for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                best[name] = min(best[name], _seconds(command))
    ours, kernel = best["tirx"] - best["bare"], best["kernel"] - best["bare"]
    rows = [
        ("import tirx (budget 30 ms)", 1e3 * ours, 30.0, 1e3 * ours / 30.0),
        ("script import and a first kernel (budget 120 ms)", 1e3 * kernel, 120.0, 1e3 * kernel / 120.0),
    ]
    if best["peer"] != float("inf"):
        peer = best["peer"] - best["peer bare"]
        rows.insert(0, ("import tirx / import tvm", 1e3 * ours, 1e3 * peer, ours / peer))
    return rows


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    return time.perf_counter() - start if done.returncode == 0 else float("inf")
