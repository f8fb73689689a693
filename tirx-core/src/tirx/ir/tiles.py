"""What tile calls are called, read and write. The operation's row (`tirx.tile.TileOp`) says it of each operand."""

from __future__ import annotations

from .expr import BufferRegion, Expr, FloatImm, IntImm
from .stmt import TileCall

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    class TileAccess(Protocol):
        """The part of an operand's record that tells how it is used."""

        name: str
        rw: str
        read_if: str | None


__all__ = ["call_name", "constant_of", "is_read", "namespace", "reads", "tiles", "writes"]


def tiles(call: TileCall) -> dict[str, BufferRegion]:
    """Operands that are tiles, by name."""
    return {name: arg for name, arg in zip(call.names, call.args, strict=True) if isinstance(arg, BufferRegion)}


def constant_of(call: TileCall, name: str, default: bool | int | float) -> bool | int | float | Expr:
    """A scalar operand as a Python number where it is known, its expression where not; `default` where it is left out."""
    found = call.operand(name)
    if found is None:
        return default
    return found.value if isinstance(found, IntImm | FloatImm) else found


def reads(call: TileCall) -> list[BufferRegion]:
    """Regions whose elements the call reads, in the order of its operands."""
    return [tile for access, tile in _accesses(call) if is_read(call, access)]


def writes(call: TileCall) -> list[BufferRegion]:
    """Regions that the call writes, scratch space included."""
    own = [tile for access, tile in _accesses(call) if "w" in access.rw]
    return own + [item for item in call.workspace if isinstance(item, BufferRegion)]


def _accesses(call: TileCall) -> Iterator[tuple[TileAccess, BufferRegion]]:
    found = tiles(call)
    operands: tuple[TileAccess, ...] = call.op.operands  # type: ignore[attr-defined]  # the row of a tile operation
    return ((item, found[item.name]) for item in operands if item.name in found)


def is_read(call: TileCall, access: TileAccess) -> bool:
    """Whether the call looks at what the operand held before."""
    if "r" in access.rw or access.read_if is None:
        return "r" in access.rw
    if access.read_if in dict(call.attrs):
        return bool(call.attr(access.read_if))
    known = constant_of(call, access.read_if, False)
    return isinstance(known, Expr) or bool(known)


def namespace(scope: str | None) -> str:
    """Where the language has the functions of a scope: `tile` for each thread by itself."""
    return "tile" if scope in (None, "thread") else str(scope)


def call_name(call: TileCall) -> str:
    """The function of the language that a call is a call of: `Tx.warp.copy`."""
    return f"Tx.{namespace(call.scope)}.{call.op.name}"
