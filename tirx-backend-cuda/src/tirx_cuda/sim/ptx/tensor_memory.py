"""Tensor memory: 128 lanes and 512 columns of 32 bits for each cta, and where matrices lie in it.

| data path | rows of a cta | where row r and column n of N are |
|---|---|---|
| A, D | 128 | lane r |
| B, E | 64 | lane r, the right half of the columns 64 lanes further |
| C, F | 64 | lane 32 (r // 16) + r % 16 |
| G | 32 | lane r, each quarter of the columns 32 lanes further |

PTX ISA, "Data Path Layout Organization".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tirx.sim.watch import GRANULE, Watches

from .run import Op

__all__ = ["COLUMNS", "LANES", "Path", "TensorMemory", "checked", "lane_and_column", "memory_of"]

LANES, COLUMNS = 128, 512


class TensorMemory:
    """The tensor memory of a cta, which columns are allocated, and which cells operations in flight still use."""

    __slots__ = ("cells", "taken", "watches")

    def __init__(self) -> None:
        self.cells = np.zeros((LANES, COLUMNS), np.uint32)
        self.taken = np.zeros(COLUMNS, bool)
        self.watches = Watches(GRANULE * LANES * COLUMNS)


def memory_of(op: Op, cta: Any) -> TensorMemory:
    """The tensor memory of the cta with this number among those that run."""
    memories: dict[int, TensorMemory] = op.ctx.state.setdefault("tensor memory", {})
    return memories.setdefault(int(cta), TensorMemory())


def lane_and_column(address: Any) -> tuple[Any, Any]:
    """Where an address of tensor memory is."""
    return address >> 16, address & 0xFFFF


def checked(op: Op, memory: TensorMemory, rows: Any, columns: Any) -> tuple[Any, Any]:
    """Places in tensor memory; a finding where they are not allocated."""
    inside = (rows < LANES) & (columns < COLUMNS)
    rows, columns = rows % LANES, columns % COLUMNS
    if not (inside & memory.taken[columns]).all():
        op.ctx.finding("tensor_memory", f"{op.form.mnemonic} uses tensor memory that is not allocated")
    return rows, columns


class Path(NamedTuple):
    """Rows of a cta, parts that columns are folded into, whether rows fill only half of each warp's lanes."""

    rows: int
    folds: int = 1
    halved: bool = False

    def lane(self, row: Any) -> Any:
        """The lane of a row, from where the matrix starts."""
        return row // 16 * 32 + row % 16 if self.halved else row

    @property
    def apart(self) -> int:
        """Lanes from one part of the columns to the next."""
        return LANES // self.folds
