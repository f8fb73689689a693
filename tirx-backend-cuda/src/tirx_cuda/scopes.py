"""Memories that buffers can live in beyond core's: tensor memory.

PTX ISA, "Tensor Memory": 128 lanes of 512 columns of 32 bits for each cta, reached by tcgen05 instructions only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tirx.target import StorageScope

from .arch import parse_arch

if TYPE_CHECKING:
    from tirx.target import Target

__all__ = ["LANES", "SCOPES"]

LANES = 128
_COLUMN_BYTES = 4


def _capacity(target: Target) -> int | None:
    return parse_arch(target["arch"]).tmem_columns * LANES * _COLUMN_BYTES


SCOPES = (
    StorageScope(
        "tmem", doc="tensor memory of Blackwell: 128 lanes of 32-bit columns", owner_level="cta", allocator="author",
        capacity=_capacity, address=("column",), pointers=False, view="tirx_cuda.tensor_memory:placed",
        reached="tcgen05 instructions move elements of tensor memory: Tx.ptx.tcgen05.ld and st take the buffer, D.ptr_to([lane, column]) "
        "or Tx.cuda.get_tmem_addr(D, lane, column) as address",
    ),
)  # fmt: skip
