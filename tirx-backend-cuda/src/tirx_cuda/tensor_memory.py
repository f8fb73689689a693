"""Buffers in tensor memory: names for lanes and columns, whose addresses instructions take.

`allocated_addr` is the column where a buffer begins (or the address that `tcgen05.alloc` gave, and what is added to it). Its layout says
which lane (`TLane`) and which element along the columns (`TCol`) an element is. PTX ISA, "Tensor Memory Addressing".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tirx.arith import Analyzer, simplify
from tirx.ir import (
    Alloc,
    Buffer,
    BufferLoad,
    BufferRegion,
    Call,
    Decl,
    Expr,
    IntImm,
    IRModule,
    as_expr,
    cast,
    const,
    current_span,
    walk,
)
from tirx.layout import TileLayout
from tirx.support.errors import Diagnostic, ScriptError

from .arch import parse_arch
from .scopes import LANES

__all__ = ["address_of_place", "check", "placed"]

_SCOPE = "tmem"
_COLUMN_BITS = 32
_LANE_SHIFT = 16
_LAYOUT = "give its layout: TileLayout(S[(128, n):(1@TLane, 1@TCol)]), or allocate with Tx.TMEMPool"


def placed(view: Buffer) -> Buffer:
    """A view with the columns of its offset in its address, where they are whole."""
    layout = view.layout
    moved = layout.offset.get("TCol", 0) if isinstance(layout, TileLayout) else 0
    if not view.allocated_addr or (isinstance(moved, int) and not moved):
        return view
    assert isinstance(layout, TileLayout)
    columns = _columns(view, moved)
    rest = {axis: value for axis, value in layout.offset.items() if axis != "TCol"}
    first = _sum(view.allocated_addr[0], columns)
    kept = TileLayout.from_iters(layout.shard, layout.replica, rest)
    return view.replaced(layout=kept, allocated_addr=(first, *view.allocated_addr[1:]))


def address_of_place(value: Any) -> Expr | None:
    """The address of a buffer in tensor memory, of its part or its element; None for what is none of these."""
    if isinstance(value, Call) and value.op.name == "address_of":
        value = value.args[0]
        if isinstance(value, BufferLoad) and value.buffer.scope_name == _SCOPE:
            return _address(value.buffer, value.indices)
        return None
    if isinstance(value, BufferRegion) and value.buffer.scope_name == _SCOPE:
        return _address(value.buffer, value.starts)
    if isinstance(value, Buffer) and value.scope_name == _SCOPE:
        return _address(value, [const(0)] * value.ndim)
    return None


def _address(buffer: Buffer, indices: Sequence[Expr]) -> Expr:
    if not buffer.allocated_addr:
        raise _refused(
            f"`{buffer.name}` has no place in tensor memory", "give allocated_addr=(column,), or use Tx.TMEMPool"
        )
    layout = buffer.layout
    place = layout.physical(tuple(indices), buffer.shape) if layout is not None else {"m": 0}
    others = [axis for axis in place if axis not in ("TLane", "TCol")]
    if others:
        raise _refused(
            f"the layout of `{buffer.name}` does not say which lanes and columns of tensor memory it is in", _LAYOUT
        )
    lane, columns = place.get("TLane", 0), _columns(buffer, place.get("TCol", 0))
    total = _sum(buffer.allocated_addr[0], columns)
    if not (isinstance(lane, int) and lane == 0):
        shifted = lane << _LANE_SHIFT if isinstance(lane, int) else cast(lane, "uint32") << _LANE_SHIFT
        total = _sum(total, shifted)
    return cast(as_expr(total, "uint32"), "uint32")


def _refused(message: str, hint: str) -> ScriptError:
    return ScriptError(message, span=current_span(), hint=hint)


def _columns(buffer: Buffer, elements: Any) -> Any:
    """So many elements along the columns as columns of 32 bits."""
    bits = buffer.dtype.total_bits
    if bits >= _COLUMN_BITS:
        return elements * (bits // _COLUMN_BITS)
    each = _COLUMN_BITS // bits
    if not Analyzer().divides(each, elements):
        shown = elements if isinstance(elements, int) else elements.script()
        raise _refused(
            f"element {shown} of `{buffer.name}` ({buffer.dtype}) does not provably begin a column of tensor memory",
            f"a column holds {each} elements: begin at a multiple of {each}",
        )
    return elements // each if isinstance(elements, int) else _plain(as_expr(elements) // each)


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    left, right = (cast(as_expr(item, "uint32"), "uint32") for item in (a, b))
    return _plain(left + right)


def _plain(value: Expr) -> Any:
    found = simplify(value)
    return found.value if isinstance(found, IntImm) else found


def check(module: IRModule, target: Any) -> Iterable[Diagnostic]:
    """Buffers in tensor memory lie inside it, on architectures that have it."""
    most = parse_arch(target["arch"]).tmem_columns
    for func in module:
        for node in walk(func.body):
            if isinstance(node, Alloc | Decl) and node.buffer.scope_name == _SCOPE:
                yield from _problems(node, most, target)


def _problems(node: Alloc | Decl, most: int, target: Any) -> Iterable[Diagnostic]:
    buffer = node.buffer
    if not most:
        yield Diagnostic(
            f"`{buffer.name}` is in tensor memory, which target `{target}` does not have",
            node.span,
            "sm_100a and its like have it",
        )
        return
    if not buffer.allocated_addr:
        yield Diagnostic(
            f"`{buffer.name}` has no place in tensor memory",
            node.span,
            "give allocated_addr=(column,), or use Tx.TMEMPool",
        )
        return
    layout, first = buffer.layout, buffer.allocated_addr[0]
    if not isinstance(layout, TileLayout) or layout.span("m") != 1:
        yield Diagnostic(
            f"`{buffer.name}` is in tensor memory, and its layout does not say in which lanes and columns",
            node.span,
            _LAYOUT,
        )
        return
    lanes, width = layout.span("TLane"), layout.span("TCol")
    if isinstance(lanes, int) and lanes > LANES:
        yield Diagnostic(
            f"`{buffer.name}` reaches lane {lanes - 1} of tensor memory, which has {LANES}",
            node.span,
            "fold rows into columns",
        )
    if isinstance(width, int) and isinstance(first, int) and first < 1 << _LANE_SHIFT:
        end = first + -(-width * buffer.dtype.total_bits // _COLUMN_BITS)
        if end > most:
            yield Diagnostic(
                f"`{buffer.name}` ends at column {end} of tensor memory, which has {most}",
                node.span,
                "begin further left, or reuse columns",
            )
