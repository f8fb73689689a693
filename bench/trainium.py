"""From a Python function to NKI source, against the published implementation, on kernels that both can compile (`bench/kernels/trn`).

Each side runs in a process of its own: `python -m bench.trainium ours|peer RUNS FOLDER` measures one and prints JSON. The kernels have no
import line; each implementation gives them its own names. The target is the one that both know, an instance of Trainium.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .rows import Row, beside

ROOT = Path(__file__).parents[1]
KERNELS = Path(__file__).with_name("kernels") / "trn"
IMPORTS = {"ours": "from tirx import script as Tx", "peer": "from tvm.script import tirx as Tx"}
TARGET = "aws/trn1/trn1.2xlarge"
ROUNDS, RUNS = 2, 5

HALF = 0.5  # of the peer's time, or less


def bench_trainium(peer_python: str = sys.executable) -> list[Row]:
    """A row for each kernel: the best of all rounds, taken in turn."""
    best: dict[str, dict[str, float]] = {"ours": {}, "peer": {}}
    for _ in range(ROUNDS):
        for which, python in (("ours", sys.executable), ("peer", peer_python)):
            for name, taken in _one(python, which).items():
                best[which][name] = min(best[which].get(name, taken), taken)
    missing = float("nan")
    theirs = {name: best["peer"].get(name, missing) for name in best["ours"]}
    return [beside(name, 1e3 * taken, 1e3 * theirs[name], HALF) for name, taken in best["ours"].items()]


def _one(python: str, which: str) -> dict[str, float]:
    """Seconds of processor time by kernel; nothing where the peer is missing."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-m", "bench.trainium", which, str(RUNS), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        if which == "ours":
            raise RuntimeError(done.stderr)
        return {}
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


# ---- in the measured process ------------------------------------------------------------------------------------------


def _ours() -> Callable[[Any], str]:
    import tirx
    from tirx.target import Target

    target = Target(TARGET)
    return lambda func: str(tirx.compile(func, target).source)


def _peer() -> Callable[[Any], str]:
    import tvm
    from tvm.target import Target

    target = Target(TARGET)

    def source(func: Any) -> str:
        built = tvm.compile(tvm.IRModule({"main": func}), target=target, tir_pipeline="trn")
        return str(built.mod.imports[0].inspect_source())

    return source


def _measure(to_source: Callable[[Any], str], kernel: Path, copy: Path, which: str) -> float:
    """Seconds from the text of a kernel to its source; a file of its own, so that nothing is remembered."""
    copy.write_text(f"{IMPORTS[which]}\n\n{kernel.read_text()}")
    start = time.process_time()  # what other programs do beside is not counted
    space: dict[str, Any] = {"__name__": kernel.stem, "__file__": str(copy)}
    exec(compile(copy.read_text(), str(copy), "exec"), space)
    if not to_source(space[kernel.stem.partition("_")[2]]):
        raise RuntimeError(f"{kernel.name} has no source")
    return time.process_time() - start


def main() -> None:
    """Measure one implementation; the first run of each kernel warms up."""
    which, runs, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    to_source = {"ours": _ours, "peer": _peer}[which]()
    best: dict[str, float] = {}
    for run in range(runs + 1):
        for kernel in sorted(KERNELS.glob("*.py")):
            taken = _measure(to_source, kernel, folder / f"{run}_{kernel.name}", which)
            if run:
                best[kernel.stem] = min(best.get(kernel.stem, taken), taken)
    print(json.dumps(best))


if __name__ == "__main__":
    main()
