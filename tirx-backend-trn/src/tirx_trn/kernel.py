"""Reading a kernel: its instructions, its device part, and which parameters it writes."""

from __future__ import annotations

from collections.abc import Iterator

from tirx.intrinsic import Intrinsic, Operand
from tirx.ir import Attr, BufferRegion, Call, Expr, PrimFunc, Stmt, TileCall, mask_of, walk
from tirx.tile import reads, writes

__all__ = [
    "CHOICE",
    "ENTRY",
    "Access",
    "accesses",
    "device_part",
    "instructions",
    "is_instruction",
    "last_uses",
    "operands_of",
]

ENTRY = "tirx.device_entry"
CHOICE = "if_then_else"  # between numbers, while NKI unrolls the loops


class Access:
    """What a kernel does with one parameter: the first instruction or tile operation that reads it, the first that writes it."""

    __slots__ = ("read", "written")

    def __init__(self) -> None:
        self.read: Call | TileCall | None = None
        self.written: Call | TileCall | None = None


def device_part(func: PrimFunc) -> Stmt | None:
    """The body of `device_entry()`, or the whole body of a device function; None where there is neither."""
    if func.attrs.get("role") == "device":
        return func.body
    for node in walk(func.body):
        if isinstance(node, Attr) and node.key == ENTRY:
            return node.body
    return None


def is_instruction(node: object) -> bool:
    """Whether a node is a call of `Tx.nki`."""
    return isinstance(node, Call) and node.op.name.startswith("nki.")


def instructions(stmt: Stmt) -> Iterator[Call]:
    """All calls of `Tx.nki` in source order."""
    for node in walk(stmt, Call.BIT):
        if isinstance(node, Call) and is_instruction(node):
            yield node


def operands_of(call: Call) -> Iterator[tuple[Operand, Expr]]:
    """The operand records of a call with their arguments."""
    assert isinstance(call.op, Intrinsic)
    listed = list(call.op.operands)
    listed += [listed[-1]] * (len(call.args) - len(listed))
    yield from zip(listed, call.args, strict=False)


def accesses(stmt: Stmt) -> dict[int, Access]:
    """What instructions and tile operations do with each storage, by `id` of its pointer variable."""
    found: dict[int, Access] = {}
    for call in instructions(stmt):
        for operand, value in operands_of(call):
            if not isinstance(value, BufferRegion):
                continue
            access = found.setdefault(id(value.buffer.data), Access())
            if "r" in operand.rw and access.read is None:
                access.read = call
            if "w" in operand.rw and access.written is None:
                access.written = call
    for tile in walk(stmt, mask_of(TileCall)):
        if isinstance(tile, TileCall):
            _tile_accesses(found, tile)
    return found


def last_uses(stmt: Stmt) -> dict[int, int]:
    """Which instruction, counted from 1 in source order, is the last on each storage, by `id` of its pointer variable."""
    found: dict[int, int] = {}
    for number, call in enumerate(instructions(stmt), 1):
        for value in call.args:
            if isinstance(value, BufferRegion):
                found[id(value.buffer.data)] = number
    return found


def _tile_accesses(found: dict[int, Access], call: TileCall) -> None:
    for region in reads(call):
        access = found.setdefault(id(region.buffer.data), Access())
        access.read = call if access.read is None else access.read
    for region in writes(call):
        access = found.setdefault(id(region.buffer.data), Access())
        access.written = call if access.written is None else access.written
