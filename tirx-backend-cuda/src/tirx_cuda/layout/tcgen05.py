"""Registers of `tcgen05.ld` and `tcgen05.st`: what each thread of a warpgroup holds of a tile in tensor memory.

A warp reads 16 (or all 32) of its lanes, in pieces of 32 bits:

| shape | columns of 32 bits | who holds (row r of 16, column c) | register |
|---|---|---|---|
| 32x32b | 1 | lane r (of 32 rows) | 0 |
| 16x64b | 2 | lane 4 (r % 8) + r // 8 + 2 c | 0 |
| 16x128b | 4 | lane 4 (r % 8) + c | r // 8 |
| 16x256b | 8 | lane 4 (r % 8) + c // 2 | 2 (r // 8) + c % 2 |

Repetitions (`.x2` ... ) go on to the right, in further registers. PTX ISA 9.7.16.8.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tirx.ir import DType
from tirx.layout import Iter, TileLayout

from .refusal import fault, one_of, positive

__all__ = ["ATOMS", "Atom", "tcgen05_atom_layout"]


class Atom(NamedTuple):
    """Columns of 32 bits, the most repetitions, and the iters of rows and columns of one repetition of 16 rows."""

    columns: int
    repetitions: int
    rows: tuple[Iter, ...] = ()
    cells: tuple[Iter, ...] = ()

    @property
    def registers(self) -> int:
        """Registers of a thread for one repetition."""
        return self.columns // 2


_LANE_ROWS = Iter(8, 4, "laneid")
ATOMS = {
    "32x32b": Atom(1, 128),
    "16x64b": Atom(2, 128, (Iter(2, 1, "laneid"), _LANE_ROWS), (Iter(2, 2, "laneid"),)),
    "16x128b": Atom(4, 64, (Iter(2, 1), _LANE_ROWS), (Iter(4, 1, "laneid"),)),
    "16x256b": Atom(8, 32, (Iter(2, 2), _LANE_ROWS), (Iter(4, 1, "laneid"), Iter(2, 1))),
}


def tcgen05_atom_layout(instr_shape: str, tensor_shape: Sequence[int], dtype: Any) -> TileLayout:
    """The registers of a warpgroup for a tile of 64 or 128 rows; 16-bit elements lie two in a register."""
    one_of("instr_shape", instr_shape, list(ATOMS))
    if len(tensor_shape) != 2:
        raise fault(f"tensor_shape is {tuple(tensor_shape)}", "it is (rows, columns)")
    rows, columns = tensor_shape
    one_of("the number of rows", rows, (64, 128))
    packed = 32 // _bits(dtype)
    if instr_shape == "32x32b":
        return _whole_lanes(rows, columns, packed)
    atom = ATOMS[instr_shape]
    repetitions = _repetitions(columns, atom.columns * packed, atom)
    halves = [Iter(2, repetitions * atom.registers)] if rows == 128 else []
    iters = [Iter(4, 1, "wid_in_wg"), *halves, *atom.rows, Iter(repetitions, atom.registers), *atom.cells]
    made = TileLayout.from_iters(iters)
    return made if packed == 1 else made.unpack(packed)


def _bits(dtype: Any) -> int:
    try:
        found = DType(dtype)
    except ValueError as error:
        raise fault(str(error)) from None
    if found.total_bits not in (16, 32):
        raise fault(f"elements of {found} have {found.total_bits} bits", "a register holds one of 32 bits or two of 16")
    return found.total_bits


def _repetitions(columns: Any, each: int, atom: Atom) -> int:
    counts = [1 << power for power in range(atom.repetitions.bit_length())]
    if not isinstance(columns, int) or columns % each or columns // each not in counts:
        raise fault(f"the number of columns is {columns!r}", f"it is {each} times one of {', '.join(map(str, counts))}")
    return int(columns // each)


def _whole_lanes(rows: int, columns: int, packed: int) -> TileLayout:
    """32x32b: thread r holds row r. With 64 rows, the right half of the columns is 64 threads further (data path B)."""
    if rows == 128:
        _repetitions(columns, packed, ATOMS["32x32b"])
        return TileLayout.from_iters([Iter(rows, 1, "tid_in_wg"), Iter(columns, 1)])
    if packed != 1:
        raise fault("32x32b with 64 rows reads elements of 32 bits", "take one of the 16x*b shapes, or 128 rows")
    _repetitions(positive("the number of columns", columns), 2, ATOMS["32x32b"])
    return TileLayout.from_iters([Iter(rows, 1, "tid_in_wg"), Iter(2, 64, "tid_in_wg"), Iter(columns // 2, 1)])
