"""From source to binaries: which toolchain, and its result through the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..backend import registry
from ..codegen.row import Source
from ..support.errors import ToolchainError
from ..support.late import load_object
from ..support.version import VERSION
from ..target import Target
from .cache import BinaryCache
from .row import Binary, Resources, Toolchain

__all__ = ["build", "installed_toolchains"]


def installed_toolchains(kind: str) -> list[tuple[Toolchain, str | None]]:
    """The toolchains of a kind, best first, with the version that is installed (None: not installed)."""
    rows = [row for row in registry().rows("toolchains").values() if row.kind == kind]
    return [(row, load_object(row.find)()) for row in sorted(rows, key=lambda row: (-row.priority, row.name))]


def build(
    source: Source,
    target: Target,
    options: Sequence[str] = (),
    *,
    used: Sequence[tuple[str, str]] = (),
    extensions: Iterable[str] = (),
) -> Binary:
    """`source` compiled for `target`; `ToolchainError` says what to install, or what the compiler refused and where.

    `used` are the distributions (with versions) whose rows made the source, `extensions` those that acted: both belong to
    what a binary in the cache was made of.
    """
    row, version = _choose(target)
    cache = BinaryCache.from_environment()
    key = BinaryCache.key({**_identity(source, target, row), "version": version, "options": list(options),
                           "used": sorted(used), "extensions": sorted(extensions)})  # fmt: skip
    found = cache.get(key)
    known = None if found is None else _from_entry(*found)
    if known is not None:
        return known
    compile_source: Callable[[Source, Target, Sequence[str]], Binary] = load_object(row.compile)
    binary = compile_source(source, target, options)
    cache.put(key, _header(binary), binary.data)
    return binary


def _identity(source: Source, target: Target, row: Toolchain) -> dict[str, Any]:
    """What is compiled, for what, and by whose code."""
    owner = registry().owner("toolchains", (row.kind, row.name))
    module = load_object(row.compile.partition(":")[0])
    return {
        "core": VERSION,
        "source": source.text,
        "language": source.language,
        "entries": source.entries,
        "target": str(target),
        "attributes": sorted(target.attrs.items()),
        "toolchain": row.name,
        "against": load_object(row.against)(source) if row.against else "",
        "from": (owner.distribution, owner.version),
        "code": _digest(
            getattr(module, "__file__", None)
        ),  # options are written there: an edited checkout is another one
    }


def _digest(file: str | None) -> str:
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:  # in a zip file
        return ""


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


def _from_entry(header: Mapping[str, Any], data: bytes) -> Binary | None:
    try:
        resources = {name: Resources(*figures) for name, figures in header["resources"].items()}
        return Binary(data, header["format"], resources, header["toolchain"], header["log"])
    except (AttributeError, KeyError, TypeError):  # a header that another version wrote
        return None
