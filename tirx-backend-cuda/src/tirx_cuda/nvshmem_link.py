"""Kernels that call NVSHMEM: its headers for the compiler, its device library for the linker, from the wheel or the toolkit.

The linked module still wants its host: a program that launches it calls `nvshmemx_cumodule_init` on the loaded module.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tirx.support.errors import Diagnostic, ToolchainError

from .cubin import linked
from .nvjitlink import open_nvjitlink
from .nvrtc import nvshmem_root

if TYPE_CHECKING:
    from tirx.codegen import Source
    from tirx.runtime.row import Resources

__all__ = ["include_folder", "link", "uses_nvshmem", "version_for"]

_INSTALL = 'pip install "tirx-backend-cuda[nvshmem]"'
_LIBRARY = "libnvshmem_device.a"

# `uint64_t` is `unsigned long long` for NVRTC and `unsigned long` for the compiler that made the library on Linux: one letter of
# the names of functions that take one, which are called alike.
_NAMES = re.compile(rb"(nvshmemi_transfer_put_signal\w*?EEvPvS1_mS1_)y(14nvshmemi_amo_t)")
_VERSION = re.compile(
    r'NVSHMEM_VENDOR_PACKAGE_VERSION_STRING "(.*)"|NVSHMEM_VENDOR_(?:MAJOR|MINOR|PATCH)_VERSION (\d+)'
)


def uses_nvshmem(source: Source) -> bool:
    """Whether the source calls NVSHMEM's functions."""
    return "#include <nvshmem.h>" in source.text


def version_for(source: Source) -> str:
    """The NVSHMEM that a source is compiled against and linked with; nothing where it calls none."""
    root = nvshmem_root() if uses_nvshmem(source) else None
    if root is None:
        return ""
    headers = [root / "include" / "non_abi" / "nvshmem_version.h", root / "include" / "nvshmem_version.h"]
    text = next((path.read_text(encoding="utf-8") for path in headers if path.exists()), "")
    found = [whole or part for whole, part in _VERSION.findall(text)]
    return f"{root} {' '.join(found)}"


def include_folder() -> str:
    """Where the headers are."""
    root = nvshmem_root()
    if root is None:
        raise ToolchainError(
            "the kernel uses NVSHMEM, whose headers are not installed",
            hint=f"{_INSTALL}, or set NVSHMEM_HOME to where it is",
        )
    return str(root / "include")


def link(
    source: Source, cubin: bytes, target: Any, figures: dict[str, Resources]
) -> tuple[bytes, dict[str, Resources]]:
    """A cubin with the functions of NVSHMEM that its kernels call, and the kernels' figures with those functions."""
    library, linker = _device_library(), open_nvjitlink()
    if linker is None:
        raise ToolchainError("the kernel uses NVSHMEM, and nvJitLink, which links it, is not installed", hint=_INSTALL)
    made, log = linker.link(_NAMES.sub(rb"\1m\2", cubin), library, [f"-arch={target['arch']}", "-verbose"])
    if made is None:
        place = next(iter(source.places.values()), None)
        raise ToolchainError(diagnostics=[Diagnostic(f"nvJitLink: {log}", place, f"the library is {library}")])
    return made, linked(log, figures)


def _device_library() -> Path:
    root = nvshmem_root()
    found = [root / folder / _LIBRARY for folder in ("lib", "lib64")] if root is not None else []
    library = next((path for path in found if path.exists()), None)
    if library is None:
        raise ToolchainError(
            f"the kernel uses NVSHMEM, whose device library {_LIBRARY} is not beside its headers",
            hint=f"{_INSTALL}, or set NVSHMEM_HOME to a whole installation",
        )
    return library
