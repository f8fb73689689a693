"""nvJitLink through ctypes: device code that calls a library's functions becomes a module that can be loaded."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .nvrtc import roots

__all__ = ["NvJitLink", "open_nvjitlink"]

_PATTERNS = ("lib/libnvJitLink.so.*", "lib64/libnvJitLink.so.*", "bin/nvJitLink_*.dll", "bin/x64/nvJitLink_*.dll")
_CUBIN, _LIBRARY = 1, 6  # NVJITLINK_INPUT_*


class NvJitLink:
    """The library."""

    def __init__(self, path: str) -> None:
        self._lib = ctypes.CDLL(path)
        self._lib.nvJitLinkCreate  # noqa: B018  # raises AttributeError where it is another library
        self.path = path

    def link(self, cubin: bytes, library: Path, options: Sequence[str]) -> tuple[bytes | None, str]:
        """A relocatable cubin with what it needs of a library (None when something is missing), and the messages."""
        handle = ctypes.c_void_p()
        listed = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if self._lib.nvJitLinkCreate(ctypes.byref(handle), len(options), listed):
            return None, f"nvJitLink refuses {' '.join(options)}"
        try:
            status = (
                self._lib.nvJitLinkAddData(handle, _CUBIN, cubin, ctypes.c_size_t(len(cubin)), b"kernel.cubin")
                or self._lib.nvJitLinkAddFile(handle, _LIBRARY, str(library).encode())
                or self._lib.nvJitLinkComplete(handle)
            )
            if status:
                return None, self._text("ErrorLog", handle)
            return self._bytes("LinkedCubin", handle), self._text("InfoLog", handle)
        finally:
            self._lib.nvJitLinkDestroy(ctypes.byref(handle))

    def _bytes(self, what: str, handle: Any) -> bytes:
        size = ctypes.c_size_t()
        getattr(self._lib, f"nvJitLinkGet{what}Size")(handle, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        getattr(self._lib, f"nvJitLinkGet{what}")(handle, buffer)
        return buffer.raw[: size.value]

    def _text(self, what: str, handle: Any) -> str:
        return self._bytes(what, handle).decode(errors="replace").strip("\0\n ")


@cache
def open_nvjitlink() -> NvJitLink | None:
    """The library, or None where it is not installed or does not load."""
    found = [str(path) for root in roots() for pattern in _PATTERNS for path in sorted(root.glob(pattern))]
    path = found[0] if found else ctypes.util.find_library("nvJitLink")
    try:
        return NvJitLink(path) if path is not None else None
    except (OSError, AttributeError):
        return None
