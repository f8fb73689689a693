"""What a tile call reads and writes."""

from __future__ import annotations

from ..ir import BufferRegion, Expr, FloatImm, IntImm, TileCall
from .row import TileOp, TileOperand

__all__ = ["constant_of", "is_read", "reads", "tile_op", "tiles", "writes"]


def tile_op(call: TileCall) -> TileOp:
    """The row of the operation."""
    assert isinstance(call.op, TileOp)
    return call.op


def tiles(call: TileCall) -> dict[str, BufferRegion]:
    """Operands that are tiles, by name."""
    return {name: arg for name, arg in zip(call.names, call.args, strict=True) if isinstance(arg, BufferRegion)}


def constant_of(call: TileCall, name: str, default: bool | int | float) -> bool | int | float | Expr:
    """A scalar operand as a Python number where it is known, its expression where not; `default` where it is left out."""
    found = call.operand(name)
    if found is None:
        return default
    return found.value if isinstance(found, IntImm | FloatImm) else found


def is_read(call: TileCall, operand: TileOperand) -> bool:
    """Whether the call looks at what the operand held before."""
    if "r" in operand.rw or operand.read_if is None:
        return "r" in operand.rw
    if operand.read_if in dict(call.attrs):
        return bool(call.attr(operand.read_if))
    return constant_of(call, operand.read_if, False) is not False and constant_of(call, operand.read_if, 0) != 0


def reads(call: TileCall) -> list[BufferRegion]:
    """Regions whose elements the call reads, in the order of its operands."""
    found = tiles(call)
    return [found[item.name] for item in tile_op(call).operands if item.name in found and is_read(call, item)]


def writes(call: TileCall) -> list[BufferRegion]:
    """Regions that the call writes, scratch space included."""
    found = tiles(call)
    own = [found[item.name] for item in tile_op(call).operands if item.name in found and "w" in item.rw]
    return own + [item for item in call.workspace if isinstance(item, BufferRegion)]
