"""A way to fill tiles: each thread takes every so-manieth element, some at once."""

from __future__ import annotations

from tirx import script as Tx
from tirx.ir import BufferRegion, IntImm, TileCall, as_expr
from tirx.tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext

__all__ = ["STRIDED_FILL"]


def _row(call: TileCall) -> BufferRegion:
    region = call.operand("dst")
    assert isinstance(region, BufferRegion)
    return region


def _even(call: TileCall, context: DispatchContext) -> Verdict:
    """One row that the threads share evenly."""
    extents = _row(call).extents
    size = extents[0]
    if len(extents) != 1 or not isinstance(size, IntImm) or size.value % context.threads:
        decline("the threads do not share one row evenly", threads=context.threads)
    return accept(elements=size.value // context.threads)


def _fill(call: TileCall, context: DispatchContext) -> None:
    dst = _row(call)
    size = dst.extents[0]
    assert isinstance(size, IntImm)
    with Tx.serial(size.value // context.threads, unroll=context.config["unroll"]) as turn:
        dst.buffer[dst.starts[0] + turn * context.threads + as_expr(context.rank)] = call.operand("value")


STRIDED_FILL = Variant(
    "fill", "cuda", "strided_fill", emit=_fill, predicates=(Predicate("even", _even),), priority=50,
    config=(ConfigKey("unroll", int, 4, "iterations at once"),),
)  # fmt: skip
