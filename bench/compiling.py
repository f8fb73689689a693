"""From a Python function to CUDA source, and what NVRTC makes of the source, against the published implementation.

Each side runs in a process of its own on the same kernels (`bench/kernels`, those with tile operations in `tiles`; they have no import
line: each side gives its own). Where the published implementation cannot compile an example of the documentation, or compiles it wrongly,
a text says what it has instead. Sources of both go through the same NVRTC with the same flags; launch bounds are in the source.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tirx.codegen import Source
from tirx.target import Target
from tirx_cuda.cubin import instruction_counts
from tirx_cuda.toolchain import compile_with_nvrtc, find_nvrtc

from .rows import Row, beside

ONE = Path(__file__).with_name("compile_one.py")
ROUNDS, RUNS = 2, 3
COMPARED = ("registers", "spills", "instructions")

HALF = 0.5  # of the peer's time, or less


def bench_compiling(peer_python: str = sys.executable, kind: str = "loops") -> tuple[list[Row], list[tuple[str, ...]]]:
    """A row for each kernel, and a table of code quality; empty where the peer is missing."""
    ours, peer = _both(peer_python, kind)
    theirs = {} if peer is None else peer["seconds"]
    rows = [
        beside(name, 1e3 * taken, 1e3 * theirs.get(name, float("nan")), HALF) for name, taken in ours["seconds"].items()
    ]
    return rows, [] if peer is None else _quality(ours, peer)


def _both(peer_python: str, kind: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Results of both, taken in turn; the best of all rounds."""
    ours: dict[str, Any] = {}
    peer: dict[str, Any] | None = {}
    for _ in range(ROUNDS):
        ours = _better(ours, _one(sys.executable, "ours", kind))
        if peer is not None:
            peer = _better(peer, _one(peer_python, "peer", kind))
    return ours, peer


def _one(python: str, which: str, kind: str) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        command = [python, str(ONE), which, kind, str(RUNS), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        if which == "ours":
            raise RuntimeError(done.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _better(old: dict[str, Any], new: dict[str, Any] | None) -> Any:
    if new is None or not old:
        return new
    seconds = {name: min(taken, new["seconds"][name]) for name, taken in old["seconds"].items()}
    return {**new, "seconds": seconds}


def _quality(ours: dict[str, Any], peer: dict[str, Any]) -> list[tuple[str, ...]]:
    """Per kernel: architecture, registers, bytes spilled, instructions, lines of source, each as ours/peer."""
    if find_nvrtc() is None:
        return []
    rows = []
    for name, arch in ours["archs"].items():
        mine, theirs = (_figures(side["sources"][name], arch) for side in (ours, peer))
        pairs = [f"{a}/{b}" for a, b in zip(mine, theirs, strict=True)]
        worse = [what for what, a, b in zip(COMPARED, _handed_out(mine), _handed_out(theirs), strict=True) if a > b]
        rows.append((name, arch, *pairs, "more " + ", ".join(worse) if worse else "not more"))
    return rows


def _handed_out(figures: tuple[int, int, int, int]) -> tuple[int, int, int]:
    """Registers as a thread is given them, in eights; spills; instructions."""
    return -(-figures[0] // 8), figures[1], figures[2]


def _figures(text: str, arch: str) -> tuple[int, int, int, int]:
    binary = compile_with_nvrtc(Source(text, "cuda", ".cu", ()), Target({"kind": "cuda", "arch": arch}), ())
    (used,) = binary.resources.values()
    return used.registers, used.spill_bytes, sum(instruction_counts(binary.data).values()), len(text.splitlines())
