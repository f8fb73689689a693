"""Forms that the engines lack, written as what they have when the kernel is built: the instruction is another one.

Tx.nki.tensortensor(y, x, column, "sub")     is     Tx.nki.tensorscalar(y, x, column, "sub")
Tx.nki.tensortensor(y, column, x, "sub")     is     Tx.nki.tensorscalar(y, x, column, "sub", True)
Tx.nki.tensorscalar(i, i, 8, "mod")          is     Tx.nki.tensorscalar(i, i, 7, "bitwise_and")
"""

from __future__ import annotations

from typing import Any

from tirx.ir import Buffer, BufferLoad, BufferRegion, Call, Expr
from tirx.support.errors import LayoutError

from .box import box_of
from .build import build
from .hardware import CHIP
from .operands import Region, as_region, whole

__all__ = ["by_scalar", "pairwise"]


def pairwise(result: Region, first: Region, second: Region, opcode: str, engine: str, spelled: str) -> Call:
    """An instruction on two tiles, or on a tile and a scalar per partition where one of them is that."""
    sizes = [_size(value) for value in (result, first, second)]
    own = {"tensortensor": "tensorscalar", "tensor_tensor": "tensor_scalar"}[spelled]
    if _is_column(sizes[2], sizes[0]) and sizes[1] == sizes[0]:
        return build("tensorscalar", result, first, second, opcode, False, spelled=own, engine=engine)
    if _is_column(sizes[1], sizes[0]) and sizes[2] == sizes[0]:
        return build("tensorscalar", result, second, first, opcode, True, spelled=own, engine=engine)
    return build("tensortensor", result, first, second, opcode, spelled=spelled, engine=engine)


def _size(value: Any) -> tuple[int, int] | None:
    """Partitions and elements of each, of what is a tile on chip."""
    if not isinstance(value, Buffer | BufferRegion | BufferLoad):
        return None
    region = as_region(value, "", "")
    if region.buffer.scope_name not in CHIP:
        return None
    try:
        box = box_of(region)
    except LayoutError:  # the instruction itself says so
        return None
    return box.partitions, box.free


def _is_column(size: tuple[int, int] | None, result: tuple[int, int] | None) -> bool:
    """One element per partition, or one alone, where the result has more."""
    if size is None or result is None:
        return False
    return size[1] == 1 and size != result and size[0] in (1, result[0])


def by_scalar(result: Region, data: Region, operand: Any, opcode: str, reverse: Any, engine: str, spelled: str) -> Call:
    """An instruction on a tile and a scalar; the remainder of integers by a power of two is a mask."""
    if opcode == "mod" and not reverse and _are_integers(result, data):
        divisor = whole(operand) if isinstance(operand, int | Expr) and not isinstance(operand, Region) else None
        if divisor is not None and divisor > 0 and divisor & (divisor - 1) == 0:
            return build(
                "tensorscalar", result, data, divisor - 1, "bitwise_and", False, spelled=spelled, engine=engine
            )
    return build("tensorscalar", result, data, operand, opcode, reverse, spelled=spelled, engine=engine)


def _are_integers(*values: Any) -> bool:
    return all(
        isinstance(value, Buffer | BufferRegion | BufferLoad) and as_region(value, "", "").buffer.dtype.is_integer
        for value in values
    )
