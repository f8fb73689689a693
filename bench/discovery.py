"""Finding and loading plugins, against importlib.metadata, side by side in fresh processes.

Four hundred made-up distributions of realistic size lie in one folder, ten of them ours. Every figure is the best of
several runs in processor time, ours and the peer's taken in turn. Loading has no peer that does as much: the import of pluggy, which
everybody pays who uses it, is the measure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from .rows import Row, beside, within

DISTRIBUTIONS = 400
RUNS = 7

PLUGIN = """
from tirx.backend import hookimpl
from tirx.script.row import Namespace

@hookimpl
def tirx_namespaces():
    return [Namespace("bench0", "bench0_plugin:answer", doc="a number")]
"""

FRESH = """
import time, tirx.backend; start = time.process_time()
from tirx.backend.host import Host
host = Host(()); host.candidates()
print(1e3 * (time.process_time() - start))
"""

WARM = """
import time
from tirx.backend.host import Host
host = Host(()); host.candidates()
best = 1e9
for _ in range(300):
    start = time.process_time(); host.candidates(); best = min(best, time.process_time() - start)
print(1e3 * best)
"""

PEER_FRESH = """
import time, tirx.backend; start = time.process_time()
from importlib.metadata import entry_points
entry_points(group="tirx.api.v1")
print(1e3 * (time.process_time() - start))
"""

PEER_WARM = """
import time
from importlib.metadata import entry_points
best = 1e9
for _ in range(20):
    start = time.process_time(); entry_points(group="tirx.api.v1"); best = min(best, time.process_time() - start)
print(1e3 * best)
"""

LOAD = """
import importlib, time, pluggy
from tirx import backend
backend.registry(); backend.available()
for name in ("bench0_plugin", "tirx.backend.loader", "tirx.backend.signatures"):
    importlib.import_module(name)
middle = time.process_time()
backend.load("bench0"); first = time.process_time() - middle
best = 1e9
for _ in range(20):
    backend.unload("bench0")
    start = time.process_time(); backend.load("bench0"); best = min(best, time.process_time() - start)
print(1e3 * {})
"""

LOAD_CUDA = """
import importlib, time, pluggy
from tirx import backend
backend.registry(); backend.available()
importlib.import_module("tirx_cuda.plugin")
start = time.process_time(); backend.load("cuda"); print(1e3 * (time.process_time() - start))
"""

IMPORT = "import time; start = time.process_time(); import pluggy; print(1e3 * (time.process_time() - start))"


def bench_discovery() -> list[Row]:
    """Discovery and loading, each with its budget."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        _populate(site)
        environ = {**os.environ, "PYTHONPATH": str(site), "TIRX_PLUGIN_CACHE": str(Path(folder, "cache"))}
        uncached = {**environ, "TIRX_PLUGIN_CACHE": "0"}
        _best(FRESH, environ)  # fills the cache
        return [
            _compare("discovery, 400 distributions, fresh process, cached", 10, FRESH, PEER_FRESH, environ),
            _compare("discovery, 400 distributions, fresh process, not cached", None, FRESH, PEER_FRESH, uncached),
            _compare("discovery, 400 distributions, asked again", 0.1, WARM, PEER_WARM, environ),
            _compare(
                "a small backend, first load of a process, beyond its import",
                None,
                LOAD.format("first"),
                IMPORT,
                environ,
            ),
            _compare("a small backend, load beyond its import", 1, LOAD.format("best"), IMPORT, environ),
            _compare("backend cuda, load beyond its import", None, LOAD_CUDA, IMPORT, environ),
        ]


def _populate(site: Path) -> None:
    for number in range(DISTRIBUTIONS):
        metadata = site / f"bench{number}-1.{number}.dist-info"
        metadata.mkdir(parents=True)
        head = f"Metadata-Version: 2.1\nName: bench{number}\nVersion: 1.{number}\n\n"
        (metadata / "METADATA").write_text(head + "a line of description, as real ones have\n" * 240)
        (metadata / "RECORD").write_text(
            "".join(f"bench{number}/m{line}.py,sha256=abc,{line}\n" for line in range(200))
        )
        points = f"[console_scripts]\nbench{number} = bench{number}:main\n" if number % 3 == 0 else ""
        if number % 40 == 0:
            points += f"[tirx.api.v1]\nbench{number} = bench{number}_plugin\n"
        if points:
            (metadata / "entry_points.txt").write_text(points)
    (site / "bench0_plugin.py").write_text(PLUGIN)
    long_ago = time.time() - 3600
    os.utime(site, (long_ago, long_ago))  # what changed just now is not cached


def _compare(name: str, budget: float | None, ours: str, peer: str, environ: dict[str, str]) -> Row:
    mine, theirs = [], []
    for _ in range(RUNS):
        mine.append(_once(ours, environ))
        theirs.append(_once(peer, environ))
    found, other = min(mine), min(theirs)
    return beside(name, found, other) if budget is None else within(name, found, budget, other)


def _best(code: str, environ: dict[str, str]) -> float:
    return min(_once(code, environ) for _ in range(5))


def _once(code: str, environ: dict[str, str]) -> float:
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


if __name__ == "__main__":
    for row in bench_discovery():
        print(f"{row.ours:8.3f} ms  {row.peer:8.3f} ms  {row.ratio:6.3f}  {row.what}")
