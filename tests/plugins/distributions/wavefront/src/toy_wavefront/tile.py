"""Tile operations on waves: a way to copy, and an operation of this machine's own."""

from __future__ import annotations

from typing import Any

from tirx import script as Tx
from tirx.ir import BufferRegion, TileCall, as_expr
from tirx.tile import Predicate, TileOp, TileOperand, Variant, Verdict
from tirx.tile.context import DispatchContext

__all__ = ["OPERATIONS", "VARIANTS", "meaning_of_rotate"]


def meaning_of_rotate(dst: Any, src: Any) -> Any:
    """Each element is its right neighbour; the last one is the first."""
    return src[[*range(1, len(src)), 0]]


ROTATE = TileOp(
    "rotate",
    [TileOperand("dst", "w", doc="what is written"), TileOperand("src", doc="what is read")],
    meaning="toy_wavefront.tile:meaning_of_rotate",
    doc="move each element one place to the left, the first one to the end",
)


def _row(region: Any) -> BufferRegion:
    assert isinstance(region, BufferRegion)
    return region


def _one_dimension(call: TileCall, context: DispatchContext) -> Verdict:
    sizes = [len(_row(region).extents) for region in (call.operand("dst"), call.operand("src"))]
    return Verdict(sizes == [1, 1], "only rows of one dimension", {"dimensions": max(sizes)})


ROWS = Predicate("rows", _one_dimension)


def _each(call: TileCall, context: DispatchContext, shift: int) -> None:
    """Element `i` of what is written is element `i + shift` of what is read."""
    dst, src = _row(call.operand("dst")), _row(call.operand("src"))
    size = dst.extents[0]
    with Tx.serial(Tx.ceildiv(size, context.threads)) as turn:
        at = Tx.bind(turn * context.threads + as_expr(context.rank))
        with Tx.If(at < size), Tx.Then():
            dst.buffer[dst.starts[0] + at] = src.buffer[src.starts[0] + (at + shift) % size]


def _copy(call: TileCall, context: DispatchContext) -> None:
    _each(call, context, 0)


def _rotate(call: TileCall, context: DispatchContext) -> None:
    _each(call, context, 1)


OPERATIONS = (ROTATE,)
VARIANTS = (
    Variant("copy", "wavefront", "wave_copy", emit=_copy, predicates=(ROWS,), priority=10),
    Variant("rotate", "wavefront", "wave_rotate", emit=_rotate, predicates=(ROWS,), priority=10),
)
