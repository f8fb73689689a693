"""Rows of what turns source into binaries and runs them."""

from __future__ import annotations

from typing import Any

__all__ = [
    "ArgumentKind", "ArrayAdapter", "Binary", "CostModel", "DeviceRow", "Resources", "Toolchain", "check_adapter",
    "check_argument_kind", "check_cost_model", "check_device", "check_toolchain",
]  # fmt: skip


class Resources:
    """What one kernel of a binary uses: per thread `registers`, `spill_bytes`, `stack_bytes`; per cta `shared_bytes`."""

    __slots__ = ("registers", "shared_bytes", "spill_bytes", "stack_bytes")

    def __init__(self, registers: int, spill_bytes: int, stack_bytes: int, shared_bytes: int) -> None:
        self.registers = registers
        self.spill_bytes = spill_bytes
        self.stack_bytes = stack_bytes
        self.shared_bytes = shared_bytes

    def __repr__(self) -> str:
        return f"<Resources {', '.join(f'{name}={getattr(self, name)}' for name in self.__slots__)}>"


class Binary:
    """A compiled module: bytes, their `format` (`elf`), resource figures per kernel, the toolchain and its messages."""

    __slots__ = ("data", "format", "log", "resources", "toolchain")

    def __init__(
        self, data: bytes, format: str, resources: dict[str, Resources], toolchain: str, log: str = ""
    ) -> None:
        self.data = data
        self.format = format
        self.resources = dict(resources)
        self.toolchain = toolchain
        self.log = log


class Toolchain:
    """A row of hook `tirx_toolchains`, tried in order of falling `priority`.

    * `find`: `"module:function"` `() -> str | None`: version text where it is installed, else None
    * `compile`: `"module:function"` `(source, target, options) -> Binary`; raises `ToolchainError`
    * `install`: what to install, in one line
    * `against`: `"module:function"` `(source) -> str`: what else that is installed the binary of a source depends on, such as the version
      of a library that it is linked with; binaries in the cache are told apart by it
    """

    __slots__ = ("against", "compile", "find", "install", "kind", "name", "priority")

    def __init__(
        self,
        name: str,
        kind: str,
        *,
        find: str,
        compile: str,
        install: str,
        priority: int = 0,
        against: str = "",
    ) -> None:
        self.name = name
        self.kind = kind
        self.against = against
        self.find = find
        self.compile = compile
        self.install = install
        self.priority = priority


class DeviceRow:
    """A row of hook `tirx_devices`: `open` is `"module:function"` `() -> DeviceApi` for target `kind` (imported when used).

    `install` says what to install when that import fails.
    """

    __slots__ = ("install", "kind", "open")

    def __init__(self, kind: str, open: str, install: str) -> None:
        self.kind = kind
        self.open = open
        self.install = install


class ArgumentKind:
    """A row of hook `tirx_argument_kinds`: records of type `dtype` (`tensormap`), which the host encodes and a kernel takes by value.

    All are `"module:function"`: `encode` `(value, target) -> bytes` for the device; `simulate` `(value, address_of) -> bytes` for
    the simulator, where `address_of(array)` places an array of the caller's; `accept` `(value) -> value`, what a call's argument
    stands for (None: it is refused, in the words of `expected`).
    """

    __slots__ = ("accept", "dtype", "encode", "expected", "name", "simulate")

    def __init__(self, name: str, dtype: str, encode: str, *, simulate: str, accept: str, expected: str) -> None:
        self.name = name
        self.dtype = dtype
        self.encode = encode
        self.simulate = simulate
        self.accept = accept
        self.expected = expected


class ArrayAdapter:
    """A row of hook `tirx_array_adapters`: foreign arrays.

    `recognise` (`"module:function"`) answers None for objects that are not its own, else an `ArrayView`.
    """

    __slots__ = ("name", "recognise")

    def __init__(self, name: str, recognise: str) -> None:
        self.name = name
        self.recognise = recognise


class CostModel:
    """A row of hook `tirx_cost_models`: what the kernels of a target kind cost, from documented figures.

    `estimate` (`"module:function"`) is called with a lowered module, its target and sizes by name; what it answers prints as
    a table and has `plain()` for machines.
    """

    __slots__ = ("doc", "estimate", "kind")

    def __init__(self, kind: str, estimate: str, *, doc: str = "") -> None:
        self.kind = kind
        self.estimate = estimate
        self.doc = doc


def check_cost_model(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, CostModel):
        raise ValueError(f"expected a CostModel, got {type(row).__name__}")
    if ":" not in row.estimate:
        raise ValueError(f"cost model of {row.kind}: {row.estimate!r} is not 'module:function'")


def check_argument_kind(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, ArgumentKind):
        raise ValueError(f"expected an ArgumentKind, got {type(row).__name__}")
    for what in ("encode", "simulate", "accept"):
        if ":" not in getattr(row, what):
            raise ValueError(f"argument kind {row.name}: {what} {getattr(row, what)!r} is not 'module:function'")


def check_adapter(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, ArrayAdapter):
        raise ValueError(f"expected an ArrayAdapter, got {type(row).__name__}")


def check_toolchain(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Toolchain):
        raise ValueError(f"expected a Toolchain, got {type(row).__name__}")


def check_device(row: Any) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, DeviceRow):
        raise ValueError(f"expected a DeviceRow, got {type(row).__name__}")
