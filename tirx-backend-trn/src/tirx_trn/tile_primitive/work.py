"""Operands of one instruction, brought into a form that the engines take.

An engine takes tiles of equal partitions and elements, numbers, and float32 columns of one element per partition. Everything else is
made into one of these: a column into a tile by a product with ones, a row of one partition into all by a matmul with a row of ones.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import Buffer, BufferRegion, Expr, FloatImm, IntImm, TileCall
from tirx.tile import decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from ..box import box_of, constant
from ..hardware import BANK_BYTES, PARTITIONS, PSUM, SBUF
from .pieces import Piece, Reached

__all__ = ["Number", "Work", "is_exact", "ones"]

Number = int | float | Expr
_BANK = BANK_BYTES // 4


def is_exact(dtype: Any) -> bool:
    """Whether every number of a type is one of float32, in which engines compute."""
    return bool(dtype.is_float or dtype.bits < 24)


def ones(context: DispatchContext) -> Buffer:
    """A row of ones, which a matmul spreads a row over the partitions with; made once, at the start of the kernel."""

    def make() -> Buffer:
        with context.at_kernel_start():
            made = context.alloc((1, PARTITIONS), "float32", SBUF, "ones")
            nki.memset(made, 1.0)
        return made

    return context.cached("trn.ones", make)


class Work:
    """One instruction while it is built: `p` partitions of `n` elements, and where its operands are."""

    def __init__(self, piece: Piece, reached: Reached, call: TileCall, context: DispatchContext) -> None:
        self.piece = piece
        self.reached = reached
        self.call = call
        self.context = context
        self.p = piece.partitions
        self.n = piece.free

    def scratch(self, elements: int | None = None, dtype: Any = "float32", scope: str = SBUF) -> Buffer:
        """A tile of its own of `elements` (default: as many as the operands have) in each partition."""
        return self.context.alloc((self.p, self.n if elements is None else elements), dtype, scope)

    # ---- what an operand is -----------------------------------------------------------------------------------------

    def is_tile(self, name: str) -> bool:
        """Whether an operand has a value for each element."""
        return name in self.reached and name not in self.piece.columns

    def number(self, name: str) -> Number | None:
        """The number that an operand is; a Python number where it is known. None for tiles."""
        value = self.call.operand(name)
        if isinstance(value, IntImm | FloatImm):
            return value.value
        return None if isinstance(value, BufferRegion) else value

    def column(self, name: str) -> BufferRegion | Buffer | None:
        """A float32 column, for an operand that has one element per partition; None for others."""
        if name not in self.piece.columns:
            return None
        return self.float32(self.spread(name, 1) if name in self.piece.rows else self.reached[name], 1)

    def scalar(self, name: str) -> Any:
        """A number or a column; None for tiles."""
        found = self.number(name)
        return self.column(name) if found is None else found

    def tile(self, name: str, dtype: Any = "float32") -> BufferRegion | Buffer:
        """The operand as a tile of the instruction's size; numbers become one of type `dtype`."""
        found = self.number(name)
        if found is not None:
            made = self.scratch(dtype=dtype)
            nki.memset(made, found)
            return made
        column = self.column(name)
        if column is not None:
            made = self.scratch()
            nki.memset(made, 1.0)
            nki.tensorscalar(made, made, column, "mul")
            return made
        return self.spread(name, self.n) if name in self.piece.rows else self.reached[name]

    # ---- legalising -------------------------------------------------------------------------------------------------

    def float32(self, tile: BufferRegion | Buffer, elements: int) -> BufferRegion | Buffer:
        """`tile` in float32, as scalars and matmuls take it."""
        dtype = _buffer(tile).dtype
        if dtype.name == "float32":
            return tile
        if not is_exact(dtype):
            decline(
                f"values of {dtype} are not all values of float32, in which engines compute", tile=_buffer(tile).name
            )
        made = self.scratch(elements)
        nki.tensor_copy(made, tile)
        return made

    def spread(self, name: str, elements: int) -> BufferRegion | Buffer:
        """A row of one partition in all partitions: ones.T @ row, bank by bank."""
        row = self.reached[name]
        if elements <= _BANK:
            return self._product(row if _multiplies(row) else self._line(row, elements), elements)
        line = self._line(row, elements)
        made = self.scratch(elements)
        for first in range(0, elements, _BANK):
            last = min(first + _BANK, elements)
            nki.tensor_copy(made[:, first:last], self._product(line[0:1, first:last], last - first))
        return made

    def _line(self, row: BufferRegion, elements: int) -> Buffer:
        """The row as a float32 tile of SBUF, where a matmul takes it from."""
        if not is_exact(row.buffer.dtype):
            decline(
                f"values of {row.buffer.dtype} are not all values of float32, in which rows are spread",
                tile=row.buffer.name,
            )
        made = self.context.alloc((1, elements), "float32", SBUF)
        nki.tensor_copy(made, row)
        return made

    def _product(self, line: Any, elements: int) -> Buffer:
        bank = self.scratch(elements, scope=PSUM)
        nki.matmul(bank, ones(self.context)[0:1, 0 : self.p], line, False, is_stationary_onezero=True)
        return bank

    def apart(self, one: Any, other: Any) -> Any:
        """`other`, in SBUF where both are in PSUM: an engine reads one operand from there."""
        if _buffer(one).scope_name != PSUM or _buffer(other).scope_name != PSUM:
            return other
        made = self.scratch(dtype=_buffer(other).dtype)
        nki.tensor_copy(made, other)
        return made


def _multiplies(row: BufferRegion) -> bool:
    """Whether a matmul takes a row as it is: float32 in partition 0 of SBUF, beside the ones."""
    box = box_of(row)
    start = constant(box.starts[box.place.partition_dim])
    return (row.buffer.dtype.name, row.buffer.scope_name, start) == ("float32", SBUF, 0)


def _buffer(tile: BufferRegion | Buffer) -> Buffer:
    return tile.buffer if isinstance(tile, BufferRegion) else tile
