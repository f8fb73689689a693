"""CUDA C++ on the host: the unchanged source of many kernels in one shared object, and a device that launches them.

`Machine.of(folder, {name: executable})` compiles; `machine.run(name, *arguments)` runs the host function of that executable as the
runtime would, with its launches on fibres (`machine.hpp`). Each source lies in a namespace of its own.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tirx.ir import Launch
from tirx.runtime import bind_arguments
from tirx.runtime.arrays import ArrayView
from tirx.runtime.executable import Executable
from tirx.sim.host import run_host
from tirx_cuda.launch import launch_shape, packed

HERE = Path(__file__).parent
COMPILER = shutil.which("g++") or shutil.which("clang++")
MISSING = "no C++ compiler: neither g++ nor clang++ is found"
OPTIONS = (
    "-std=c++20", "-O1", "-shared", "-fPIC", "-w", "-U_FORTIFY_SOURCE", "-fno-strict-aliasing", "-fno-math-errno",
    "-ffp-contract=off", "-fwrapv", "-D__CUDA_ARCH__=900", f"-I{HERE}", f"-I{HERE}/headers",
)  # fmt: skip

# Functions that a source may overload for its vectors, and which its namespace would hide.
OVERLOADED = [
    "abs",
    "min",
    "max",
    "printf",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log1p",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "erf",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "hypot",
    "pow",
    "fmod",
    "fma",
    "copysign",
    "nextafter",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "round",
    "nearbyint",
    "ldexp",
    "isnan",
    "isinf",
    "isfinite",
]
INLINE_PTX = re.compile(r"\basm\b|__clusterIdx|__clusterRelativeBlockIdx|cooperative_groups|__activemask")
DYNAMIC = re.compile(r"extern __shared__ (?:__align__\(\d+\) )?(.+?) (\w+)\[\];")
DYNAMIC_BYTES = 228 * 1024


class MachineError(RuntimeError):
    """A kernel that did not end as it should."""


class Machine:
    """Kernels in one shared object."""

    def __init__(self, executables: Mapping[str, Executable], library: Any) -> None:
        self.executables = executables
        self.library = library

    @classmethod
    def of(cls, folder: Path, executables: Mapping[str, Executable], *options: str) -> Machine:
        """Compile the sources of all of them."""
        assert COMPILER is not None, MISSING
        source, library = folder / "kernels.cc", folder / "kernels.so"
        parts = [_namespace(folder, name, executable) for name, executable in executables.items()]
        source.write_text("\n".join(['#include "types.hpp"', *parts, _OUTPUT]), encoding="utf-8")
        command = [COMPILER, *OPTIONS, *options, "-o", str(library), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MachineError(done.stderr[:4000])
        return cls(executables, ctypes.CDLL(str(library)))

    def run(self, name: str, *args: Any, backwards: bool = False) -> str:
        """Run one; what it printed. Arrays are changed in place."""
        executable = self.executables[name]
        host = executable.host()
        environment = bind_arguments(executable.module[host.name], args).environment()
        for key, value in environment.items():
            if isinstance(value, ArrayView):
                environment[key] = value.pointer
        printed: list[str] = []

        def launch(node: Launch, args: Sequence[Any], extents: Sequence[int], resources: Mapping[str, int]) -> None:
            geometry = dict(zip(node.axes, extents, strict=True))
            shape = launch_shape(geometry, resources, node.flags)
            typed = [(value, arg.dtype) for value, arg in zip(args, node.args, strict=True)]
            figures = (*shape.grid, *shape.block, shape.dynamic_bytes, int(backwards))
            printed.append(self._launch(f"{name}__{node.kernel}", figures, packed(typed)))

        run_host(host, environment, launch)
        return "".join(printed)

    def _launch(self, entry: str, figures: Sequence[int], values: Sequence[bytes]) -> str:
        kept = [ctypes.create_string_buffer(value, len(value)) for value in values]
        pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(value) for value in kept))
        status = self.library[entry]((ctypes.c_uint * 8)(*figures), pointers)
        if status:
            reason = ctypes.c_char_p.in_dll(self.library, "machine_failure").value or b"?"
            raise MachineError(f"{entry}: {reason.decode()}\n{self._printed()}")
        return self._printed()

    def _printed(self) -> str:
        text = ctypes.create_string_buffer(1 << 16)
        self.library.machine_output(text, len(text))
        return text.value.decode()


def cannot_run(text: str) -> str:
    """What a source uses that is not on the host; empty where nothing is."""
    found = INLINE_PTX.search(text)
    return "" if found is None else found.group()


_OUTPUT = """
extern "C" {
const char* machine_failure;
void machine_output(char* text, std::size_t size) {
  const std::size_t count = std::min(machine::m.output.size(), size - 1);
  std::memcpy(text, machine::m.output.data(), count);
  text[count] = 0;
}
}
"""


def _namespace(folder: Path, name: str, executable: Executable) -> str:
    text = executable.source.text
    (folder / f"{name}.cu").write_text(text, encoding="utf-8")
    kernels = re.findall(r'extern "C" __global__ void (?:__\w+\([^)]*\) )?(\w+)\(', text)
    using = "".join(f"using ::{function}; " for function in OVERLOADED if function != "printf")
    renamed = "".join(f"#define {kernel} {name}__{kernel}__body\n" for kernel in kernels)
    restored = "".join(f"#undef {kernel}\n" for kernel in kernels)
    shared = {(kind, array) for kind, array in DYNAMIC.findall(text)}
    assert len(shared) < 2, "one dynamic array is all that this machine has"
    memory = "".join(f"#define {array} {name}__{array}\n" for _, array in shared)
    forgotten = "".join(f"#undef {array}\n" for _, array in shared)
    made = "".join(
        f'extern "C" {{ thread_local __align__(1024) {kind} {name}__{array}[{DYNAMIC_BYTES} / sizeof({kind})]; }}\n'
        for kind, array in shared
    )
    dynamic = "".join(f", {name}__{array}, {DYNAMIC_BYTES}" for _, array in shared)
    entries = "".join(
        f'extern "C" int {name}__{kernel}(const machine::Shape& shape, void* const* values) {{\n'
        f"  const int status = machine::launch({name}__{kernel}__body, shape, values{dynamic});\n"
        f"  extern const char* machine_failure;\n  machine_failure = machine::m.failure;\n  return status;\n}}\n"
        for kernel in kernels
    )
    return (
        f'{memory}{renamed}namespace {name} {{ {using}\n#include "{folder / name}.cu"\n}}\n{restored}{forgotten}'
        f"{made}namespace {name} {{\n{entries}}}\n"
    )
