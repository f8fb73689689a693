"""How backends, distributions and promises are spelled."""

from __future__ import annotations

__all__ = [
    "API_VERSION",
    "API_VERSIONS",
    "MODULES",
    "RESERVED",
    "normalise",
    "split_promise",
    "split_value",
    "valid_name",
]

API_VERSION = 1
"""The plugin API that this core was written for."""

API_VERSIONS: tuple[int, ...] = (1,)
"""All plugin APIs that this core accepts."""

MODULES = frozenset({
    "cache", "candidates", "default", "discovery", "faults", "guard", "hooks", "host", "importing", "loader", "lock",
    "metadata", "missing", "patches", "probe", "record", "report", "rows", "settings", "signatures", "snapshot", "spelling",
    "unavailable",
})  # fmt: skip
"""The modules of `tirx.backend`: `tirx.backend.<name>` means them, never a backend."""

RESERVED = MODULES | {
    "available", "core", "find", "hookimpl", "info", "is_loaded", "load", "names", "provides", "refresh",
    "register", "registry", "unload", "why", "wire",
}  # fmt: skip
"""Names that a backend cannot have, because `tirx.backend.<name>` or a message means something else by them."""


def valid_name(name: str) -> bool:
    """Whether `name` is `[a-z][a-z0-9_]*` (spelled out, since importing `re` costs more than a whole discovery)."""
    return name.isascii() and name.isidentifier() and name == name.lower() and name[0] != "_"


def normalise(distribution: str) -> str:
    """The one spelling of a distribution's name, as package indexes compare them."""
    return "-".join(part for part in distribution.lower().replace("_", "-").replace(".", "-").split("-") if part)


def split_promise(promise: str) -> tuple[str, str]:
    """`kind.acme` -> (`kind`, `acme`)."""
    prefix, _, name = promise.partition(".")
    return prefix, name


def split_value(value: str) -> tuple[str, str]:
    """`package.plugin:object` -> (`package.plugin`, `object`); the object may be missing."""
    module, _, attribute = value.partition("[")[0].partition(":")
    return module.strip(), attribute.strip()
