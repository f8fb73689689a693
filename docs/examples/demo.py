"""The demo: every example kernel at a real size, simulated with all checks, held against NumPy, compiled for real GPUs.

Kernels without a word of a vendor also run natively on this machine's CPU, where the OpenCL backend of docs/examples and PoCL are there.

    python docs/examples/demo.py [KERNEL ...] [--json]

Prints one table; the exit code is 1 when a kernel is wrong, a check finds a fault, or a compiler refuses.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import tirx
from tirx.support.errors import TargetError, TirxError, ToolchainError

KERNELS = Path(__file__).parent / "kernels"
ARCHITECTURES = ("sm_80", "sm_90a", "sm_100a")
HEADER = (
    "kernel",
    "size",
    "largest error",
    "checks",
    "compiled: registers / shared bytes",
    "natively on the CPU",
    "seconds",
)


def load(name: str) -> ModuleType:
    """The module of one example."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", KERNELS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def photograph() -> np.ndarray[Any, Any] | None:
    """A real photograph, 512 x 512, that a small wheel ships."""
    try:
        import pywt.data
    except ImportError:
        return None
    return np.asarray(pywt.data.camera(), np.float32)


def inputs(name: str, module: ModuleType) -> tuple[Any, ...]:
    """The arguments of one example at its real size."""
    rng = np.random.default_rng(2026)
    made: tuple[Any, ...] = module.arguments(rng, photograph()) if name == "convolution" else module.arguments(rng)
    return made


def largest_error(module: ModuleType, names: tuple[str, ...], before: tuple[Any, ...], after: tuple[Any, ...]) -> float:
    """The largest difference from NumPy, relative to the size of the values."""
    found = 0.0
    for name, wanted in module.expected(*before).items():
        got = np.asarray(after[names.index(name)], np.float64)
        wanted = np.asarray(wanted, np.float64)
        found = max(found, float(np.max(np.abs(got - wanted)) / max(1.0, float(np.max(np.abs(wanted))))))
    return found


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as they are before the kernel runs."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def examine(name: str) -> dict[str, Any]:
    """One row of the table."""
    start = time.perf_counter()
    row: dict[str, Any] = {
        "kernel": name,
        "size": "",
        "error": None,
        "checks": "",
        "compiled": [],
        "native": None,
        "fault": "",
    }
    try:
        module = load(name)
        arguments = inputs(name, module)
        row["size"] = " ".join("x".join(map(str, a.shape)) for a in arguments[:1])
        before = copies(arguments)
        simulated = time.perf_counter()
        report = tirx.simulate(module.KERNEL, *arguments, target=module.TARGET)
        simulated = time.perf_counter() - simulated
        row["checks"] = report.verdict
        row["error"] = largest_error(module, module.KERNEL.names, before, arguments)
        if report.verdict != "clean":
            row["fault"] = str(report)
        elif not row["error"] <= module.TOLERANCE:
            row["fault"] = f"differs from NumPy by {row['error']:.3g}; allowed are {module.TOLERANCE:.3g}"
        row["compiled"] = compiled(module)
        row["native"] = native(module, before, simulated)
    except TirxError as error:
        row["fault"] = str(error)
    row["seconds"] = time.perf_counter() - start
    return row


def compiled(module: ModuleType) -> list[str]:
    """What each architecture's compiler made of the kernel; the source where there is no compiler."""
    if not module.TARGET.startswith("cuda"):
        source = tirx.compile(module.KERNEL, module.TARGET).source
        return [f"{source.language} source, {len(source.text.splitlines())} lines"]
    found = []
    for arch in getattr(module, "ARCHITECTURES", ARCHITECTURES):
        try:
            used = next(iter(tirx.compile(module.KERNEL, {"kind": "cuda", "arch": arch}).resources.values()))
        except ToolchainError as error:
            if "is installed" not in error.message:
                raise
            return [f"source only ({error.hint})"]
        spilled = f" ({used.spill_bytes} spilled)" if used.spill_bytes else ""
        found.append(f"{arch} {used.registers}/{used.shared_bytes}{spilled}")
    return found


# What makes an example one machine's own; those of machines without threads begin with nki_.
VENDORS = ("Tx.cuda", "Tx.ptx", "Tx.nvshmem", "mma_fragment_layout")


def is_neutral(module: ModuleType) -> bool:
    """Whether an example has no word of any vendor."""
    path = Path(str(module.__file__))
    return not path.stem.startswith("nki_") and not any(word in path.read_text(encoding="utf-8") for word in VENDORS)


def native(module: ModuleType, arguments: tuple[Any, ...], simulated: float) -> dict[str, float] | None:
    """Seconds of a native run on the CPU and how many times faster that is than the simulator; None where nothing runs it.

    The first run brings the driver's compiler; the best of three further ones counts. Each copies the arrays there and back.
    """
    if not is_neutral(module) or "opencl" not in tirx.backend.available():
        return None
    try:
        run = tirx.compile(module.KERNEL, "opencl")
        timed(run, copies(arguments))
        given = copies(arguments)
        seconds = min(timed(run, given), *(timed(run, copies(arguments)) for _ in range(2)))
    except (TargetError, ToolchainError) as error:
        if "is installed" in error.message or "no device" in error.message:
            return None
        raise
    off = largest_error(module, module.KERNEL.names, arguments, given)
    if not off <= module.TOLERANCE:
        raise TirxError(f"the native run differs from NumPy by {off:.3g}; allowed are {module.TOLERANCE:.3g}")
    return {"seconds": seconds, "faster": simulated / seconds}


def timed(run: Any, arguments: tuple[Any, ...]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    run(*arguments)
    return time.perf_counter() - start


def line(row: dict[str, Any]) -> list[str]:
    """A row as text."""
    error = "-" if row["error"] is None else f"{row['error']:.1e}"
    return [
        row["kernel"],
        row["size"],
        error,
        row["checks"] or "-",
        "  ".join(row["compiled"]) or "-",
        f"{row['native']['seconds']:.4f} s, {row['native']['faster']:.0f}x the simulator" if row["native"] else "-",
        f"{row['seconds']:.1f}",
    ]


def show(rows: list[dict[str, Any]]) -> None:
    """The table, then what is wrong."""
    body = [line(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(HEADER, *body, strict=True)]
    for cells in (HEADER, ["-" * width for width in widths], *body):
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    for row in rows:
        if row["fault"]:
            print(f"\n{row['kernel']}: {row['fault']}")


def main() -> int:
    """Run the demo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="names of examples (default: all)")
    parser.add_argument("--json", action="store_true", help="write JSON instead of a table")
    options = parser.parse_args()
    names = options.kernels or sorted(path.stem for path in KERNELS.glob("*.py"))
    unknown = [name for name in names if not (KERNELS / f"{name}.py").is_file()]
    if unknown:
        parser.error(f"there is no example {', '.join(unknown)}")
    start = time.perf_counter()
    rows = []
    with ProcessPoolExecutor(max_workers=2) as pool:
        for row in pool.map(examine, names):
            rows.append(row)
            print(f"{row['kernel']}: {row['seconds']:.1f} s", file=sys.stderr)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)
        faults = sum(bool(row["fault"]) for row in rows)
        print(f"\n{len(rows)} kernels, {faults} with faults, {time.perf_counter() - start:.0f} seconds")
    return int(any(row["fault"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
