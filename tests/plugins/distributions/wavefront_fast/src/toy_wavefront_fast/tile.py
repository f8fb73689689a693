"""A faster way to copy whole tiles of somebody else's machine."""

from __future__ import annotations

from typing import Any

from tirx import script as Tx
from tirx.ir import BufferRegion, IntImm, TileCall, as_expr
from tirx.tile import ConfigKey, Predicate, Variant, accept, decline
from tirx.tile.context import DispatchContext

__all__ = ["VARIANTS"]


def _even(call: TileCall, context: DispatchContext) -> Any:
    region = call.operand("dst")
    assert isinstance(region, BufferRegion)
    size = region.extents[-1]
    if len(region.extents) != 1 or not isinstance(size, IntImm) or size.value % context.threads:
        decline("the threads do not share it evenly", threads=context.threads)
    return accept(elements=size.value // context.threads)


def _copy(call: TileCall, context: DispatchContext) -> None:
    """Without a guard, in as many steps as asked for at once."""
    dst, src = call.operand("dst"), call.operand("src")
    assert isinstance(dst, BufferRegion)
    assert isinstance(src, BufferRegion)
    size = dst.extents[0]
    assert isinstance(size, IntImm)
    with Tx.serial(size.value // context.threads, unroll=context.config["unroll"]) as turn:
        at = turn * context.threads + as_expr(context.rank)
        dst.buffer[dst.starts[0] + at] = src.buffer[src.starts[0] + at]


VARIANTS = (
    Variant(
        "copy", "wavefront", "even_copy", emit=_copy, predicates=(Predicate("even", _even),), priority=50,
        config=(ConfigKey("unroll", int, 4, "iterations at once"),),
    ),
)  # fmt: skip
