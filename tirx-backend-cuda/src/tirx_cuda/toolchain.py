"""CUDA C++ to cubin: NVRTC from its wheels, or nvcc from the PATH."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tirx.runtime.row import Binary
from tirx.support.errors import Diagnostic, ToolchainError
from tirx.support.span import Span

from .cubin import messages, resources
from .nvrtc import include_paths, open_nvrtc
from .nvshmem_link import include_folder, link, uses_nvshmem

if TYPE_CHECKING:
    from tirx.codegen import Source

__all__ = ["compile_with_nvcc", "compile_with_nvrtc", "find_nvcc", "find_nvrtc"]

_NAME = "kernel.cu"
_OPTIONS = ("--std=c++17",)
_PLACE = re.compile(
    r'^"?(?P<path>[^"(]+)"?\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning)[^:]*: (?P<text>.*)'
)
_LINK = re.compile(r"^ptxas (?:error|fatal)\s*: (?P<text>.*)")

# ---- NVRTC --------------------------------------------------------------------------------------------------------


def find_nvrtc() -> str | None:
    """Its version, where the library is found and its headers are."""
    library = open_nvrtc()
    return library.version if library is not None and include_paths() else None


def compile_with_nvrtc(source: Source, target: Any, options: Sequence[str] = ()) -> Binary:
    """The cubin of `source`; `ToolchainError` at the author's line when it is refused."""
    library = open_nvrtc()
    if library is None:
        raise ToolchainError("NVRTC is not installed", hint='pip install "tirx-backend-cuda[nvrtc]"')
    arch = target["arch"]
    _check_arch(arch, library.architectures(), f"NVRTC {library.version}")
    flags = [f"--gpu-architecture={arch}", *_OPTIONS, "--ptxas-options=-v"]
    flags += [f"--include-path={path}" for path in include_paths()]
    if uses_nvshmem(source):
        flags += [f"--include-path={include_folder()}", "--relocatable-device-code=true"]
    try:
        data, log = library.compile(source.text, _NAME, [*flags, *options])
    except RuntimeError as error:
        raise _refusal(source, str(error), f"NVRTC {library.version}") from None
    if data is None:
        raise _refusal(source, log, f"NVRTC {library.version}")
    return _finished(source, target, data, log, f"nvrtc {library.version}")


# ---- nvcc ---------------------------------------------------------------------------------------------------------


@cache
def _nvcc_version(path: str) -> str | None:
    try:
        text = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.search(r"release (\d+\.\d+)", text)
    return found[1] if found else None


def find_nvcc() -> str | None:
    """The version of the nvcc on the PATH."""
    path = shutil.which("nvcc")
    return _nvcc_version(path) if path is not None else None


@cache
def _nvcc_architectures(path: str) -> tuple[int, ...]:
    text = subprocess.run([path, "--list-gpu-arch"], capture_output=True, text=True, timeout=60, check=False).stdout
    return tuple(sorted({int(number) for number in re.findall(r"compute_(\d+)", text)}))


def compile_with_nvcc(source: Source, target: Any, options: Sequence[str] = ()) -> Binary:
    """The cubin of `source`, by way of a temporary folder."""
    path = shutil.which("nvcc")
    version = _nvcc_version(path) if path is not None else None
    if path is None or version is None:
        raise ToolchainError("nvcc is not on the PATH", hint="install the CUDA toolkit and put its nvcc on the PATH")
    arch = target["arch"]
    _check_arch(arch, _nvcc_architectures(path), f"nvcc {version}")
    with tempfile.TemporaryDirectory(prefix="tirx-") as folder:
        text, out = Path(folder, _NAME), Path(folder, "kernel.cubin")
        text.write_text(source.text, encoding="utf-8")
        extra = ["-rdc=true", f"-I{include_folder()}"] if uses_nvshmem(source) else []
        command = [
            path,
            "-cubin",
            f"-arch={arch}",
            *_OPTIONS,
            *extra,
            "-Xptxas",
            "-v",
            *options,
            "-o",
            str(out),
            str(text),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        log = f"{done.stdout}{done.stderr}".replace(f"{folder}/", "")
        if done.returncode != 0 or not out.exists():
            raise _refusal(source, log, f"nvcc {version}")
        return _finished(source, target, out.read_bytes(), log, f"nvcc {version}")


# ---- what both share ----------------------------------------------------------------------------------------------


def _finished(source: Source, target: Any, data: bytes, log: str, name: str) -> Binary:
    """The binary, linked where it calls a library's functions."""
    figures = resources(log)
    if uses_nvshmem(source):
        data, figures = link(source, data, target, figures)
    return Binary(data, "cubin", figures, name, messages(log))


def _check_arch(arch: str, known: Sequence[int], name: str) -> None:
    """Refuse an architecture that this compiler does not know, with what would help."""
    number = int(re.sub(r"\D", "", arch))
    if not known or number in known:
        return
    if number < known[0]:
        hint = f"the source is available all the same; for {arch} install an older CUDA (12.x compiles for sm_50 and newer)"
        raise ToolchainError(f"{name} compiles for sm_{known[0]} and newer, the target is {arch}", hint=hint)
    listed = ", ".join(f"sm_{item}" for item in known)
    raise ToolchainError(f"{name} does not know {arch}", hint=f"install a newer CUDA; this one knows {listed}")


def _refusal(source: Source, log: str, name: str) -> ToolchainError:
    """What the compiler said, at the author's lines."""
    found = list(_diagnostics(source, messages(log), name))
    return ToolchainError(diagnostics=found or [Diagnostic(f"{name} failed: {log.strip()}")])


def _diagnostics(source: Source, log: str, name: str) -> Iterator[Diagnostic]:
    lines = source.text.splitlines()
    for line in log.splitlines():
        if link := _LINK.match(line):
            yield Diagnostic(f"{name}: {link['text']}", next(iter(source.places.values()), None))
        place = _PLACE.match(line)
        if place is None or place["kind"] != "error":
            continue
        number = int(place["line"])
        if place["path"] != _NAME:
            yield Diagnostic(f"{name}: {place['text']}", Span(place["path"], number))
            continue
        excerpt = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        yield Diagnostic(
            f"{name}: {place['text']}", source.places.get(number), notes=[f"generated line {number}: {excerpt}"]
        )
