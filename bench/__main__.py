"""`python -m bench`: all figures as ratios against the peer measured in the same run.

    python -m bench [--only PART] [--peer PYTHON]

Peers are apache-tvm 0.27 and numba-cuda, in this environment or in that of another interpreter (`--peer`). Absolute times depend on
the machine and what else it does; ratios are what to read.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterable

from .caching import bench_caching
from .compiling import bench_compiling
from .discovery import bench_discovery
from .instructions import bench_instructions
from .rows import Row
from .simulator import bench_simulator
from .startup import bench_startup
from .trainium import bench_trainium

VERDICTS = {None: "", True: ": met", False: ": MISSED"}
PARTS = ("startup", "discovery", "ptx", "compiling", "tiles", "trn", "caching", "simulator")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Speed against peers, as ratios.")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part (repeatable)")
    parser.add_argument("--peer", default=sys.executable, metavar="PYTHON", help="interpreter that has the peers")
    options = parser.parse_args()
    wanted = options.only or PARTS
    os.environ.pop(
        "PYTHONDONTWRITEBYTECODE", None
    )  # users' processes read compiled modules, so ours and the peers' do too
    print(
        f"Python {platform.python_version()} on {platform.machine()}, tirx-core {importlib.metadata.version('tirx-core')}"
    )
    if "startup" in wanted:
        show("start-up, processor time above bare Python", bench_startup(options.peer))
    if "discovery" in wanted:
        show("plugins", bench_discovery())
    if "ptx" in wanted:
        show("a PTX call, built and validated, processor time", bench_instructions(options.peer))
    if "compiling" in wanted:
        rows, quality = bench_compiling(options.peer)
        show("Python function to CUDA source, processor time", rows)
        show_quality(quality)
    if "tiles" in wanted:
        rows, quality = bench_compiling(options.peer, "tiles")
        show("The same of kernels of tile operations", rows)
        show_quality(quality)
    if "trn" in wanted:
        show("Python function to NKI source, processor time", bench_trainium(options.peer))
    if "caching" in wanted:
        show("compile cache: found beside compiled", bench_caching())
    if "simulator" in wanted:
        show("simulator", bench_simulator(options.peer))


def show(title: str, rows: Iterable[Row]) -> None:
    """One table: what, ours, the peer's, ratio, and the goal where there is one."""
    print(f"\n{title:<66} {'ours':>10} {'peer':>13} {'ours / peer':>12}   goal")
    for row in rows:
        beside = f"{row.peer:>10.3f} ms {row.ratio:>12.4f}" if row.peer == row.peer else f"{'-':>13} {'-':>12}"
        print(f"  {row.what:<64} {row.ours:>7.3f} ms {beside}   {row.goal}{VERDICTS[row.met]}".rstrip())


def show_quality(rows: Iterable[tuple[str, ...]]) -> None:
    """The table of code quality."""
    header = ("kernel", "arch", "registers", "spilled", "instructions", "source lines", "ours against peer")
    widths = (16, 7, 10, 8, 13, 13, 20)
    print("\nGenerated code: the same NVRTC for both, --std=c++17, ours/peer")
    for row in (header, *rows):
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


main()
