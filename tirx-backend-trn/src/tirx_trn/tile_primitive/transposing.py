"""Copies in which partitions become free elements: up to 128 x 128 at a time on the tensor engine, through a bank of PSUM.

    dst.T = src     nc_transpose to PSUM, tensor_copy from there; with a workspace `identity` a product with it instead
    integers        32 x 32 at a time on the vector engine, which moves bits as they are

On NeuronCore-v2 the tensor engine transposes by a product, which spreads NaN and infinities. NKI: nisa.nc_transpose, nisa.nc_matmul.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from tirx.ir import BufferRegion, TileCall
from tirx.tile import decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from ..hardware import PSUM, SBUF
from .digits import Block, Digit, Side, blocks_of
from .pieces import Loop, Piece, sides_of

__all__ = ["WORKSPACE", "transpose", "turned"]

_SQUARE = 32  # what the vector engine transposes
WORKSPACE = {
    "identity": "an identity matrix in trn.sbuf, of the tile's type and at least its partitions: transpose by a product",
    "acc_psum": "float32 (128, 128) or wider in trn.psum, possibly of banks (8, 128, 512): where the product goes",
}


def _blocks(call: TileCall, context: DispatchContext) -> tuple[list[Side], tuple[int, ...], list[list[Block]]]:
    sides, space = sides_of(call, "dst")
    return sides, space, [blocks_of(dim, extent, sides) for dim, extent in enumerate(space)]


def _axis(side: Side, digit: Digit) -> str:
    place = side.place(digit)
    return place.axis if place is not None else ""


def turned(call: TileCall, context: DispatchContext) -> bool:
    """Whether something lies along the partitions of one tile and the free dimension of the other."""
    sides, _, blocks = _blocks(call, context)
    digits = [digit for dim in blocks for block in dim for digit in block.digits]
    pairs = [{_axis(side, digit) for side in sides} for digit in digits]
    return any("P" in pair and pair & {"F", "Bank"} for pair in pairs)


class _Square:
    """The instruction for one block: digits that become partitions, digits that stop being some, and loops over the others."""

    def __init__(self, dst: Side, src: Side, blocks: tuple[Block, ...]) -> None:
        digits = [digit for block in blocks for digit in block.digits]
        self.up = [digit for digit in digits if _axis(dst, digit) == "P"]
        self.down = [digit for digit in digits if _axis(src, digit) == "P"]
        if set(self.up) & set(self.down):
            decline("some partitions change places with free elements, and some stay: copy in two steps")
        inside = {*self.up, *self.down}
        self.outside = [digit for digit in digits if digit not in inside]
        for digit in self.outside:
            if any(item.dim == digit.dim and item.step > digit.step for item in inside):
                decline("free elements lie inside of partitions that change places", dimension=digit.dim)
        for side, chosen in ((dst, self.up), (dst, self.down), (src, self.up), (src, self.down)):
            strides = [place.stride for digit in chosen if (place := side.place(digit)) is not None]
            if strides != sorted(strides, reverse=True):
                decline(f"the elements of `{side.name}` lie in another order than its dimensions")
        self.blocks = blocks

    def piece(self, sides: list[Side], space: tuple[int, ...]) -> Piece:
        """As a piece with `partitions` of the destination and `free` elements."""
        made = Piece(sides, space)
        made.offsets = [block.offset for block in self.blocks]
        made.turns = [Loop(digit.dim, digit.size, digit.step) for digit in self.outside]
        for digit in (*self.up, *self.down):
            made.extents[digit.dim] *= digit.size
        made.partitions = prod(digit.size for digit in self.up)
        made.free = prod(digit.size for digit in self.down)
        return made


def transpose(call: TileCall, context: DispatchContext) -> None:
    """Emit the copy."""
    sides, space, blocks = _blocks(call, context)
    dst, src = sides
    for chosen in product(*blocks):
        piece = _Square(dst, src, chosen).piece(sides, space)
        with piece.each(context) as reached:
            _square(reached["dst"], reached["src"], (piece.partitions, piece.free), context)


def _square(dst: BufferRegion, src: BufferRegion, size: tuple[int, int], context: DispatchContext) -> None:
    """`dst`, of `size` partitions and elements, becomes the transpose of `src`."""
    up, down = size
    dtype = dst.buffer.dtype
    if not dtype.is_float:
        _by_squares(dst, src, size, context)
        return
    data: Any = src
    if src.buffer.scope_name == PSUM:
        data = context.alloc((down, up), dtype, SBUF)
        nki.tensor_copy(data, src)
    identity = context.workspace("identity")
    if identity is not None:
        bank = _accumulator(context, size)
        nki.matmul(bank, data, identity[0:down, 0:down], False, is_moving_onezero=True)
    elif dst.buffer.scope_name == PSUM:
        nki.nc_transpose(dst, data)
        return
    else:
        bank = context.alloc(size, dtype, PSUM)
        nki.nc_transpose(bank, data)
    nki.tensor_copy(dst, bank)


def _accumulator(context: DispatchContext, size: tuple[int, int]) -> Any:
    """A bank of PSUM for a product: of the workspace, or its own."""
    given = context.workspace("acc_psum")
    if given is None:
        return context.alloc(size, "float32", PSUM)
    return given[0, 0 : size[0], 0 : size[1]] if given.ndim == 3 else given[0 : size[0], 0 : size[1]]


def _by_squares(dst: BufferRegion, src: BufferRegion, size: tuple[int, int], context: DispatchContext) -> None:
    """Through two plain tiles of SBUF, 32 x 32 at a time."""
    up, down = size
    dtype = dst.buffer.dtype
    before, after = (context.alloc(shape, dtype, SBUF) for shape in ((down, up), (up, down)))
    nki.tensor_copy(before, src)
    for r in range(0, up, _SQUARE):
        for c in range(0, down, _SQUARE):
            rows, columns = slice(r, min(r + _SQUARE, up)), slice(c, min(c + _SQUARE, down))
            nki.nc_transpose(after[rows, columns], before[columns, rows], "vector")
    nki.tensor_copy(dst, after)
