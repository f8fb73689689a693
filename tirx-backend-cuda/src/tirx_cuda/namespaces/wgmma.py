"""`Tx.cuda.wgmma`: what Hopper's matrix instructions need."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call
from tirx.ir import Call

from ..op import ROW
from .checked import no_name
from .tcgen05 import matrix

__all__ = ["encode_matrix_descriptor", "noop_barrier"]


def __dir__() -> list[str]:
    """What completion offers."""
    return [*__all__]


def __getattr__(name: str) -> Any:
    raise no_name("Tx.cuda.wgmma", name, __all__)


def encode_matrix_descriptor(desc: Any, addr: Any, ldo: Any, sdo: Any, swizzle: Any) -> Call:
    """The 64-bit descriptor of a matrix in shared memory at `addr`, written to `desc` (a pointer, or the scalar itself).

    `ldo` and `sdo` are offsets along the leading and the other dimension in units of 16 bytes. `swizzle`: 0 none, 1 to 3 rows of
    32, 64, 128 bytes.
    """
    return matrix("wgmma", desc, addr, ldo, sdo, swizzle)


def noop_barrier(reg: Any) -> Call:
    """The compiler keeps the register `reg` (float32, int32, uint32) where it is: it does not move reads or writes across."""
    return call(ROW["wgmma.noop_barrier"], reg)
