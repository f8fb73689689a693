"""NVRTC through ctypes: found where its wheels or a CUDA toolkit put it, together with the headers that sources include."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

__all__ = ["Nvrtc", "include_paths", "nvshmem_root", "open_nvrtc", "roots"]

_PATTERNS = (
    "lib/libnvrtc.so.*",
    "lib64/libnvrtc.so.*",
    "lib/x64/nvrtc64_*.dll",
    "bin/nvrtc64_*.dll",
    "bin/x64/nvrtc64_*.dll",
)
_HEADERS = ("cuda_fp16.h", "nv", "cuda", "crt")
_COMPILE_ERROR = 6


def roots() -> Iterator[Path]:
    """Folders that hold `lib` and `include`: the wheels first, then a toolkit that the environment names or the usual one."""
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations or () if spec is not None else ():
        yield from sorted(Path(place).glob("cu[0-9]*"), reverse=True)
        yield Path(place, "cuda_nvrtc")  # wheels of CUDA 12
        yield Path(place, "cuda_runtime")
        yield Path(place, "cuda_cccl")
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    yield Path("/usr/local/cuda")


def _library() -> str | None:
    for root in roots():
        for pattern in _PATTERNS:
            found = [
                path for path in sorted(root.glob(pattern)) if "builtins" not in path.name and ".alt." not in path.name
            ]
            if found:
                return str(found[-1])
    return ctypes.util.find_library("nvrtc")


def include_paths() -> tuple[str, ...]:
    """Folders with CUDA's headers, for `#include <cuda_fp16.h>`."""
    places = (path for root in roots() for path in (root / "include", root / "include" / "cccl"))
    return tuple(dict.fromkeys(str(path) for path in places if any((path / name).exists() for name in _HEADERS)))


def nvshmem_root() -> Path | None:
    """The folder with `include/nvshmem.h`: what the environment names, its wheel, or a toolkit's."""
    spec = importlib.util.find_spec("nvidia")
    wheels = spec.submodule_search_locations or () if spec is not None else ()
    named = [Path(os.environ[name]) for name in ("NVSHMEM_HOME", "NVSHMEM_PREFIX") if os.environ.get(name)]
    places = [*named, *(Path(place, "nvshmem") for place in wheels), Path("/usr/local/nvshmem")]
    return next((place for place in places if (place / "include" / "nvshmem.h").exists()), None)


class Nvrtc:
    """The library: its version, the architectures it knows, and compilation."""

    def __init__(self, path: str) -> None:
        self._lib = ctypes.CDLL(path)
        self.path = path
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def architectures(self) -> tuple[int, ...]:
        """Compute capabilities it compiles for, such as 90, in rising order."""
        count = ctypes.c_int()
        self._lib.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        found = (ctypes.c_int * count.value)()
        self._lib.nvrtcGetSupportedArchs(found)
        return tuple(sorted(found))

    def compile(self, text: str, name: str, options: Sequence[str]) -> tuple[bytes | None, str]:
        """The binary (None when the source is refused) and the compiler's messages."""
        program = ctypes.c_void_p()
        self._check(self._lib.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None))
        try:
            listed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
            status = self._lib.nvrtcCompileProgram(program, len(options), listed)
            log = self._bytes("ProgramLog", program).decode(errors="replace").replace("\0", "\n").strip()
            if status == _COMPILE_ERROR:
                return None, log
            self._check(status, log)
            return self._bytes("CUBIN", program), log
        finally:
            self._lib.nvrtcDestroyProgram(ctypes.byref(program))

    def _bytes(self, what: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self._check(getattr(self._lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(size.value)
        self._check(getattr(self._lib, f"nvrtcGet{what}")(program, buffer))
        return buffer.raw

    def _check(self, status: int, log: str = "") -> None:
        if status != 0:
            self._lib.nvrtcGetErrorString.restype = ctypes.c_char_p
            text = self._lib.nvrtcGetErrorString(status).decode()
            raise RuntimeError(f"{text}\n{log}".rstrip())


@cache
def open_nvrtc() -> Nvrtc | None:
    """The library, or None where it is not installed or does not load."""
    path = _library()
    try:
        return Nvrtc(path) if path is not None else None
    except (OSError, AttributeError):
        return None
