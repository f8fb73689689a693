"""Measures one implementation in a process of its own: function to CUDA source, for each benchmark kernel, printed as JSON.

    python compile_one.py ours|peer loops|tiles RUNS FOLDER

The kernels have no import line: each implementation gives them its own names.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KERNELS = Path(__file__).with_name("kernels")
FOLDERS = {"loops": KERNELS, "tiles": KERNELS / "tiles"}

LOOPS = {"ours": "from tirx import script as Tx", "peer": "from tvm.script import tirx as Tx"}
TILES = {
    "ours": "from tirx.layout import ComposeLayout, R, S, TileLayout, laneid",
    "peer": "from tvm.tirx.layout import Axis, ComposeLayout, R, S, TileLayout\nlaneid = Axis.laneid",
}
IMPORTS = {"loops": LOOPS, "tiles": {which: f"{LOOPS[which]}\n{TILES[which]}" for which in LOOPS}}

ARCHS = {"loops": "sm_90a", "tiles": "sm_80", "t3_rmsnorm_fp8": "sm_90a"}  # fp8 is converted since sm_89


def ours(arch: str) -> Callable[[Any], str]:
    import tirx
    from tirx.target import Target

    target = Target({"kind": "cuda", "arch": arch})
    return lambda func: str(tirx.compile(func, target).source)


def peer(arch: str) -> Callable[[Any], str]:
    import tvm
    from tvm.target import Target

    target = Target({"kind": "cuda", "arch": arch})

    def source(func: Any) -> str:
        built = tvm.compile(tvm.IRModule({"main": func}), target=target, tir_pipeline="tirx")
        return str(built.mod.imports[0].inspect_source())

    return source


def functions(path: Path) -> dict[str, Any]:
    """What a kernel file defines: parsing happens here."""
    space: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space


def main() -> None:
    which, kind, runs, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])
    kernels = sorted(FOLDERS[kind].glob("*.py"))
    archs = {kernel.stem: ARCHS.get(kernel.stem, ARCHS[kind]) for kernel in kernels}
    to_source = {arch: {"ours": ours, "peer": peer}[which](arch) for arch in set(archs.values())}
    copies = []
    for run in range(
        runs + 1
    ):  # a fresh copy of each file per run, so that nothing is remembered; the first run warms up
        (folder / str(run)).mkdir(parents=True, exist_ok=True)
        for kernel in kernels:
            copy = folder / str(run) / kernel.name
            copy.write_text(f"{IMPORTS[kind][which]}\n\n{kernel.read_text()}")
            copies.append((run, kernel.stem, copy))
    best: dict[str, float] = {}
    sources: dict[str, str] = {}
    for run, name, copy in copies:
        start = time.process_time()  # what other programs do beside is not counted
        found = functions(copy)
        text = to_source[archs[name]](found[name.partition("_")[2]])
        taken = time.process_time() - start
        if run:
            best[name] = min(best.get(name, 1e9), taken)
        sources[name] = text
    print(json.dumps({"seconds": best, "sources": sources, "archs": archs}))


if __name__ == "__main__":
    main()
