"""What the cache of binaries saves: the same kernel compiled, and found, by the best installed compiler of its target."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tirx
from tirx.backend import load
from tirx.runtime.toolchains import build, installed_toolchains

from .compile_one import ARCHS, FOLDERS, IMPORTS, functions
from .rows import Row, beside

RUNS = 5
HIT = 0.1  # a hit takes at most that much of a miss
KERNELS = (("loops", "k1_scale"), ("loops", "k6_attention"), ("tiles", "t1_gemm"))


def bench_caching() -> list[Row]:
    """Rows of a hit beside a miss; none where no compiler is installed."""
    load("cuda")
    if not any(version for _, version in installed_toolchains("cuda")):
        return []
    old = os.environ.get("TIRX_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TIRX_CACHE"] = os.path.join(folder, "cache")
        try:
            return [row for kind, stem in KERNELS for row in _measured(kind, stem, Path(folder))]
        finally:
            os.environ.pop("TIRX_CACHE")
            if old is not None:
                os.environ["TIRX_CACHE"] = old


def _measured(kind: str, stem: str, folder: Path) -> list[Row]:
    copy = folder / f"{stem}.py"
    copy.write_text(f"{IMPORTS[kind]['ours']}\n\n{(FOLDERS[kind] / copy.name).read_text()}")
    func, arch = functions(copy)[stem.partition("_")[2]], ARCHS.get(stem, ARCHS[kind])
    executable = tirx.compile(func, f"cuda -arch={arch}")
    source, target = executable.source, executable.target
    miss = _milliseconds(lambda: build(source, target), 1)
    hit = _milliseconds(lambda: build(source, target))
    whole = _milliseconds(lambda: tirx.compile(func, target).binary)
    return [
        beside(f"{stem}: source to binary", hit, miss, HIT),
        beside(f"{stem}: function to binary", whole, whole - hit + miss),
    ]


def _milliseconds(action: Callable[[], object], runs: int = RUNS) -> float:
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best
