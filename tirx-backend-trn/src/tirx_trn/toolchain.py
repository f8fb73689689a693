"""AWS's `nki` package as a toolchain: it compiles a kernel when it runs it, so the binary is the source."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

from tirx.codegen.row import Source
from tirx.runtime.row import Binary
from tirx.target import Target

__all__ = ["INSTALL", "compile_with_nki", "find_nki", "import_nki"]

INSTALL = (
    "install AWS's nki, 0.3 or newer, from AWS's own package index (the package of that name on PyPI is a placeholder); "
    "tirx.simulate(kernel, ...) and tirx.compile(kernel, ...).source need nothing"
)


def import_nki() -> ModuleType:
    """The real `nki`; `ImportError` where it is absent, too old, or the placeholder."""
    found = importlib.import_module("nki")
    if not hasattr(found, "simulate"):
        raise ImportError("the installed nki has no simulate(): it is older than 0.3")
    return found


def find_nki() -> str | None:
    """Its version, where it is installed."""
    try:
        return str(getattr(import_nki(), "__version__", "unknown"))
    except ImportError:
        return None


def compile_with_nki(source: Source, target: Target, options: Sequence[str]) -> Binary:
    """The source as it is: NKI compiles it for the machine that it runs on."""
    return Binary(source.text.encode(), "nki", {}, f"nki {find_nki()}")
