"""The two sides: ours in this process, the published implementation in a child that is started again if it dies."""

from __future__ import annotations

import contextlib
import json
import linecache
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

import tirx
from tests.parity.cells import Cell
from tirx.ir import Buffer, IRModule, PrimFunc
from tirx.support.errors import TirxError

ARCH = "sm_90a"
TARGET = {"kind": "cuda", "arch": ARCH}


class Peer:
    """The child process."""

    def __init__(self, python: str = sys.executable) -> None:
        self.python = python
        self.child: subprocess.Popen[str] | None = None

    def examine(self, path: Path) -> dict[str, Any]:
        """What the published implementation says about one file."""
        if self.child is None or self.child.poll() is not None:
            command = [self.python, "-W", "ignore", str(Path(__file__).with_name("peer.py"))]
            self.child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        stdin, stdout = self.child.stdin, self.child.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"path": str(path), "arch": ARCH}) + "\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            code = self.child.wait()
            self.close()
            return {"accepted": False, "stage": "crash", "error": f"it died with {code}"}
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End the child."""
        if self.child is not None:
            stdin, stdout = self.child.stdin, self.child.stdout
            assert stdin is not None
            assert stdout is not None
            with contextlib.suppress(BrokenPipeError):
                stdin.close()
            self.child.wait(timeout=60)
            stdout.close()
            self.child = None


def kernel_of(path: Path) -> Any:
    """What a kernel file defines: `KERNEL`, or the last function."""
    text = path.read_text(encoding="utf-8")
    module = ModuleType("kernel")
    space = vars(module)
    space["__file__"] = str(path)
    sys.modules["kernel"] = module  # where `inspect` looks for the source of a class
    linecache.checkcache(str(path))
    exec(compile(text, str(path), "exec"), space)
    functions = [value for value in space.values() if isinstance(value, PrimFunc | IRModule)]
    return space.get("KERNEL", functions[-1] if functions else None)


def ours(path: Path) -> dict[str, Any]:
    """What we say about one file."""
    try:
        kernel = kernel_of(path)
        built = tirx.compile(kernel, TARGET)
        text = built.source.text
    except TirxError as error:
        return {"accepted": False, "error": f"{type(error).__name__}: {error}"}
    return {"accepted": True, "error": "", "kernel": kernel, "source": text, "launch": launch(built.lowered)}


def launch(lowered: IRModule) -> dict[str, str]:
    """Launch axes and constant extents, spelled as the published implementation does."""
    names = {"cta": "blockIdx", "thread": "threadIdx", "cta_in_cluster": "clusterCtaIdx",
             "preferred_cta_in_cluster": "preferredClusterCtaIdx"}  # fmt: skip
    record = next(f.attrs["launch"] for f in lowered.functions.values() if "launch" in f.attrs)
    found = {}
    for axis, extent in zip(record.axes, record.extents, strict=True):
        level, _, letter = axis.partition(".")
        if extent != 1:
            found[f"{names[level]}.{letter}"] = "?" if extent is None else str(extent)
    return found


DTYPES = {"bool": np.bool_, "bfloat16": ml_dtypes.bfloat16}


def numpy_dtype(dtype: Any) -> Any:
    """NumPy's name for an element type."""
    name = str(dtype)
    return DTYPES.get(name) or getattr(ml_dtypes, name, None) or np.dtype(name)


def arguments(kernel: PrimFunc, given: dict[str, float]) -> dict[str, Any]:
    """Random arrays of the kernel's shapes; scalars as given."""
    rng = np.random.default_rng(3)
    made: dict[str, Any] = {}
    for name, param in zip(kernel.names, kernel.params, strict=True):
        if not isinstance(param, Buffer):
            made[name] = given[name]
            continue
        name = param.name
        shape = [size if isinstance(size, int) else int(given[size.name]) for size in param.shape]
        dtype = np.dtype(numpy_dtype(param.dtype))
        values = rng.integers(0, 2, shape) if dtype == np.bool_ else rng.integers(1, 50, shape)
        made[name] = (values if dtype.kind in "iub" else rng.standard_normal(shape)).astype(dtype)
    return made


def simulated(kernel: PrimFunc, cell: Cell) -> list[str]:
    """Faults of a simulated run: verdict, differences from NumPy."""
    kernel = next(iter(kernel)) if isinstance(kernel, IRModule) else kernel
    before = arguments(kernel, cell.given)
    after = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in before.items()}
    report = tirx.simulate(kernel, *after.values(), target=TARGET)
    space = {"np": np, **cell.given, **{n: v.copy() if isinstance(v, np.ndarray) else v for n, v in before.items()}}
    with np.errstate(all="ignore"):
        exec("\n".join(cell.numpy), space)
    faults = [] if report.verdict == "clean" else [str(report)]
    for name, got in after.items():
        if isinstance(got, np.ndarray):
            wanted = np.broadcast_to(np.asarray(space[name]).astype(got.dtype), got.shape)
            faults += [f"{name}: {d}" for d in different(got, wanted)]
    return faults


def different(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> list[str]:
    """Whether two arrays differ by more than rounding."""
    if got.dtype.kind in "iub":
        wrong = got != wanted
    else:
        coarse = 1e-5 if got.dtype in (np.float32, np.float64) else 2e-2
        a, b = got.astype(np.float64), wanted.astype(np.float64)
        wrong = ~np.isclose(a, b, rtol=coarse, atol=coarse, equal_nan=True)
    if not wrong.any():
        return []
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    return [f"{int(wrong.sum())} of {got.size} differ, first at {place}: {got[place]}, expected {wanted[place]}"]
