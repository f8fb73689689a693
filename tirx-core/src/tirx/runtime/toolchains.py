"""From source to binaries: which toolchain, and its result through the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..backend import registry
from ..codegen.row import Source
from ..support.errors import ToolchainError
from ..support.late import load_object
from ..target import Target
from .cache import BinaryCache
from .row import Binary, Resources, Toolchain

__all__ = ["build", "installed_toolchains"]


def installed_toolchains(kind: str) -> list[tuple[Toolchain, str | None]]:
    """The toolchains of a kind, best first, with the version that is installed (None: not installed)."""
    rows = [row for row in registry().rows("toolchains").values() if row.kind == kind]
    return [(row, load_object(row.find)()) for row in sorted(rows, key=lambda row: (-row.priority, row.name))]


def build(source: Source, target: Target, options: Sequence[str] = ()) -> Binary:
    """`source` compiled for `target`; `ToolchainError` says what to install, or what the compiler refused and where."""
    row, version = _choose(target)
    cache = BinaryCache.from_environment()
    key = BinaryCache.key([source.text, str(target), repr(sorted(target.attrs.items())), row.name, version, *options])
    found = cache.get(key)
    if found is not None:
        return _from_entry(*found)
    compile_source: Callable[[Source, Target, Sequence[str]], Binary] = load_object(row.compile)
    binary = compile_source(source, target, options)
    cache.put(key, _header(binary), binary.data)
    return binary


def _choose(target: Target) -> tuple[Toolchain, str]:
    kind = target.kind.name
    rows = installed_toolchains(kind)
    if not rows:
        raise ToolchainError(
            f"nothing compiles for targets of kind `{kind}`",
            hint="simulate the kernel, or choose a target with a toolchain",
        )
    for row, version in rows:
        if version is not None:
            return row, version
    listed = "; ".join(f"{row.name}: {row.install}" for row, _ in rows)
    raise ToolchainError(f"no compiler for `{kind}` is installed; the source is available all the same", hint=listed)


def _header(binary: Binary) -> dict[str, Any]:
    return {
        "format": binary.format,
        "toolchain": binary.toolchain,
        "log": binary.log,
        "resources": {
            name: [r.registers, r.spill_bytes, r.stack_bytes, r.shared_bytes] for name, r in binary.resources.items()
        },
    }


def _from_entry(header: Any, data: bytes) -> Binary:
    resources = {name: Resources(*figures) for name, figures in header["resources"].items()}
    return Binary(data, header["format"], resources, header["toolchain"], header["log"])
