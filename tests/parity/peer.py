"""The published implementation in a process of its own: one kernel per line of input, what it says about it per line of output.

    python peer.py   < {"path": ..., "arch": ...}   > {"accepted": ..., "source": ..., "launch": ..., "error": ...}

A crash ends this process; who started it starts another.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from types import ModuleType
from typing import Any

import tvm
from tvm.target import Target

SPLIT = "tirx.SplitHostDevice"
FLAGS = ("tirx.use_programtic_dependent_launch", "tirx.use_cooperative_launch")  # launch parameters without a value


@tvm.instrument.pass_instrument
class Launches:
    """Keeps the text of the module after host and device part ways: the launch stands there."""

    text = ""

    def run_after_pass(self, mod: Any, info: Any) -> None:
        """Called by the pass manager."""
        if info.name == SPLIT:
            Launches.text = mod.script()


def kernel_of(space: dict[str, Any]) -> Any:
    """What a kernel file defines: `KERNEL`, or the last function."""
    functions = [value for value in space.values() if isinstance(value, tvm.tirx.PrimFunc | tvm.IRModule)]
    return space.get("KERNEL", functions[-1] if functions else None)


def launch(text: str) -> dict[str, str]:
    """Launch axes and their extents as written: `{"blockIdx.x": "4"}`."""
    found = re.search(r"T\.call_ffi_kernel\((.*), launch_params=\[(.*?)\]", text)
    if found is None:
        return {}
    axes = [axis.strip(' "') for axis in found[2].split(",")]
    axes = [axis for axis in axes if axis not in FLAGS]
    pairs = zip(axes, top_level(found[1])[-len(axes) :], strict=True)
    return {axis: extent if extent.isdecimal() else "?" for axis, extent in pairs if extent != "1" and "Idx" in axis}


def top_level(text: str) -> list[str]:
    """The parts between commas that stand in no bracket."""
    parts, depth, part = [], 0, ""
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [*parts, part.strip()]


def examine(path: str, arch: str) -> dict[str, Any]:
    """Define, compile, report."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    module = ModuleType("kernel")
    space = vars(module)
    space["__file__"] = path
    sys.modules["kernel"] = module  # where `inspect` looks for the source of a class
    stage = "parse"
    Launches.text = ""
    try:
        exec(compile(text, path, "exec"), space)
        kernel = kernel_of(space)
        stage = "compile"
        module = kernel if isinstance(kernel, tvm.IRModule) else tvm.IRModule({"main": kernel})
        with tvm.transform.PassContext(instruments=[Launches()]):
            built = tvm.compile(module, target=Target({"kind": "cuda", "arch": arch}), tir_pipeline="tirx")
        source = built.mod.imports[0].inspect_source() if built.mod.imports else ""
    except BaseException as error:  # noqa: BLE001  # whatever it raises is its answer
        return {"accepted": False, "stage": stage, "error": f"{type(error).__name__}: {error}"}
    return {"accepted": True, "source": source, "launch": launch(Launches.text)}


def main() -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what it prints does not mix with the answers
    for line in sys.stdin:
        noise = io.StringIO()
        with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
            answer = examine(**json.loads(line))
        answer.setdefault("error", "")
        answer["noise"] = noise.getvalue()[-2000:]
        print(json.dumps(answer), file=out, flush=True)


main()
