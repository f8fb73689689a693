"""Copies between device memory and tiles: one box each, in a loop where rows go round the partitions more than once."""

from __future__ import annotations

from tirx.arith import simplify
from tirx.ir import BufferRegion, Call, Evaluate, Expr, For, Stmt, Var, as_expr, const

from ..box import Box, box_of, extents_of
from .tiles import Tiles

__all__ = ["split_copy"]


class _Sides:
    """A copy while loops are put around it: ranges of the device side, ranges of the tile."""

    def __init__(self, device: BufferRegion, box: Box) -> None:
        self.starts: list[Expr] = list(device.starts)
        self.extents = list(extents_of(device))
        self.tile_starts: list[int | Expr] = list(box.starts)
        self.tile_extents = list(box.extents)
        self.loops: list[tuple[Var, int]] = []

    def step(self, device_dim: int, tile_dim: int, inner: int) -> None:
        """A loop over one dimension of the tile, which moves `inner` elements along a dimension of the device side."""
        count = self.tile_extents[tile_dim]
        var = Var("t" if not self.loops else f"t{len(self.loops)}", const(0).dtype)
        self.loops.append((var, count))
        self.starts[device_dim] = simplify(self.starts[device_dim] + var * inner)
        self.extents[device_dim] //= count
        self.tile_starts[tile_dim] = simplify(as_expr(self.tile_starts[tile_dim] + var))
        self.tile_extents[tile_dim] = 1


def split_copy(call: Call, tiles: Tiles) -> Stmt:
    """The load or store `call`, with loops over what precedes the partitions in the author's order."""
    position = 0 if call.op.name == "nki.load" else 1
    region, device = call.args[position], call.args[1 - position]
    assert isinstance(region, BufferRegion)
    assert isinstance(device, BufferRegion)
    box = box_of(region)
    sides = _Sides(device, box)
    _loops(sides, box, device)
    outer = BufferRegion(
        tiles.buffer(device.buffer),
        tuple(sides.starts),
        tuple(const(extent) for extent in sides.extents),
        span=device.span,
    )
    inner = tiles.box(region, Box(box.place, sides.tile_starts, sides.tile_extents, box.sources))
    args = (inner, outer) if position == 0 else (outer, inner)
    stmt: Stmt = Evaluate(call.rebuild(args=args), span=call.span)
    for var, count in reversed(sides.loops):
        stmt = For(var, const(0), const(count), const(1), "serial", stmt, span=call.span)
    return stmt


def _loops(sides: _Sides, box: Box, device: BufferRegion) -> None:
    """A loop for every free dimension of the tile that comes before its partitions."""
    lead = box.place.partition_dim
    if box.partitions == 1:
        return
    wide = [dim for dim, extent in enumerate(extents_of(device)) if extent != 1]
    for device_dim, sources in zip(wide, [dims for dims in box.sources if dims], strict=True):
        inner = extents_of(device)[device_dim]
        for tile_dim in sources:
            inner //= box.extents[tile_dim]
            if tile_dim == lead:
                return
            sides.step(device_dim, tile_dim, inner)
