"""Registers of `mma.sync` and `ldmatrix`: which lane of a warp holds which elements of a small matrix, in which order.

Lane 4 g + t is thread t of group g. A register of 32 bits holds e elements (one of 64 bits where there are such); operands of an
instruction m8 or m16, n8, k are, with registers counted in the order in which the instruction takes them:

| operand | register | row | column |
|---|---|---|---|
| A (m, k) | r | g + 8 (r % (m / 8)) | 4 e (r // (m / 8)) + e t + 0 .. e-1 |
| B (k, n) | r | 4 e r + e t + 0 .. e-1 | g |
| C, D (m, n) | 2 h + (0, 1) | g + 8 h | 2 t + (0, 1) |

PTX ISA 9.7.14.5. The oldest instruction, m8n8k4 of float16, multiplies four pairs of matrices; its layouts have a first dimension
for them, and operands may lie by rows or by columns.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tirx.ir import DType
from tirx.layout import TileLayout

from .refusal import fault, one_of, tile

__all__ = ["INSTRUCTIONS", "Instruction", "ldmatrix_layout", "mma_fragment_layout"]


class Instruction(NamedTuple):
    """A shape of `mma.sync` for some types: elements in a register, types of the accumulator."""

    shape: str
    dtypes: tuple[str, ...]
    packed: int
    accumulators: tuple[str, ...]


_F64, _TF32, _F16, _BF16 = ("float64",), ("float32",), ("float16",), ("bfloat16",)
_I8, _I4, _B1 = ("int8", "uint8"), ("int4", "uint4"), ("b1",)
_F8 = ("float8_e4m3fn", "float8_e5m2")
_F6F4 = ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
_HALF_OR_SINGLE = ("float16", "float32")

INSTRUCTIONS = (
    Instruction("m8n8k4", _F64, 1, _F64),
    Instruction("m16n8k4", _F64, 1, _F64),
    Instruction("m16n8k8", _F64, 1, _F64),
    Instruction("m16n8k16", _F64, 1, _F64),
    Instruction("m16n8k4", _TF32, 1, ("float32",)),
    Instruction("m16n8k8", _TF32, 1, ("float32",)),
    Instruction("m8n8k4", _F16, 2, _HALF_OR_SINGLE),
    Instruction("m16n8k8", _F16, 2, _HALF_OR_SINGLE),
    Instruction("m16n8k16", _F16, 2, _HALF_OR_SINGLE),
    Instruction("m16n8k8", _BF16, 2, ("float32",)),
    Instruction("m16n8k16", _BF16, 2, ("float32",)),
    Instruction("m16n8k16", _F8, 4, _HALF_OR_SINGLE),
    Instruction("m16n8k32", _F8, 4, _HALF_OR_SINGLE),
    Instruction("m16n8k32", _F6F4, 4, _HALF_OR_SINGLE),  # each in a byte of its own
    Instruction("m16n8k64", ("float4_e2m1fn",), 8, ("float32",)),
    Instruction("m8n8k16", _I8, 4, ("int32",)),
    Instruction("m16n8k16", _I8, 4, ("int32",)),
    Instruction("m16n8k32", _I8, 4, ("int32",)),
    Instruction("m8n8k32", _I4, 8, ("int32",)),
    Instruction("m16n8k32", _I4, 8, ("int32",)),
    Instruction("m16n8k64", _I4, 8, ("int32",)),
    Instruction("m8n8k128", _B1, 32, ("int32",)),
    Instruction("m16n8k128", _B1, 32, ("int32",)),
    Instruction("m16n8k256", _B1, 32, ("int32",)),
)
_SPELLINGS = {"tf32": "float32", "tfloat32": "float32", "int1": "b1", "uint1": "b1"}
_QUAD_PAIRS = ("m8n8k4", "float16")


def mma_fragment_layout(operand: str, shape: Any, dtype: Any, order: str | None = None) -> TileLayout:
    """The registers of a warp for operand "A" (m, k), "B" (k, n), or "C" or "D" (m, n) of `mma.sync`.

    `shape` is `"m16n8k16"` or `(16, 8, 16)`, `dtype` that of the operand. A lies by rows and B by columns; m8n8k4 of float16 also
    takes the other `order`, `"row"` or `"col"`.
    """
    one_of("operand", operand, ("A", "B", "C", "D"))
    name = _shape_name(shape)
    m, _, k = _sizes(name)
    found = _instruction(operand, name, _dtype_name(dtype))
    usual = "col" if operand == "B" else "row"
    is_old = (name, found.dtypes[0]) == _QUAD_PAIRS
    one_of("order", order or usual, ("row", "col") if is_old and operand in "AB" else (usual,))
    if is_old:
        return _quad_pair(operand, _dtype_name(dtype), order or usual)
    return _fragment("C" if operand == "D" else operand, m, k, found.packed)


def ldmatrix_layout(matrices: int, *, transposed: bool = False, dtype: Any = "float16") -> TileLayout:
    """The registers of a warp for (matrices, 8, 8) elements of 16 bits: matrix i is in register i of `ldmatrix` and `stmatrix`.

    `transposed` is the layout of the matrices as they lie in memory when `.trans` exchanges rows and columns on the way.
    """
    one_of("the number of matrices", matrices, (1, 2, 4))
    if _bits(dtype) != 16:
        raise fault(f"elements of {dtype} have {_bits(dtype)} bits", "ldmatrix moves rows of eight elements of 16 bits")
    if transposed:
        return tile((matrices, 2, "m"), (4, 1, "laneid"), (2, 1, "m"), (8, 4, "laneid"))
    return tile((matrices, 2, "m"), (8, 4, "laneid"), (4, 1, "laneid"), (2, 1, "m"))


def _fragment(operand: str, m: int, k: int, packed: int) -> TileLayout:
    slabs, groups = m // 8, k // (4 * packed)
    if operand == "A":
        return tile(
            (slabs, packed, "m"), (8, 4, "laneid"), (groups, slabs * packed, "m"), (4, 1, "laneid"), (packed, 1, "m")
        )
    if operand == "B":
        return tile((groups, packed, "m"), (4, 1, "laneid"), (packed, 1, "m"), (8, 4, "laneid"))
    return tile((slabs, 2, "m"), (8, 4, "laneid"), (4, 1, "laneid"), (2, 1, "m"))


def _quad_pair(operand: str, dtype: str, order: str) -> TileLayout:
    """m8n8k4 of float16: product q belongs to lanes 4 q .. 4 q + 3 and, for the second half of rows or columns, 16 further."""
    products, half, lanes, own = (4, 4, "laneid"), (2, 16, "laneid"), (4, 1, "laneid"), (4, 1, "m")
    if operand in "AB":
        is_strip_in_lanes = (operand == "A") == (order == "row")  # a lane holds a row of A or a column of B
        strip = (half, lanes) if is_strip_in_lanes else (half, own)
        other = own if is_strip_in_lanes else lanes
        return tile(products, *strip, other) if operand == "A" else tile(products, other, *strip)
    if dtype == "float16":
        return tile(products, half, lanes, (8, 1, "m"))
    rows, columns = ((2, 2, "m"), (2, 1, "laneid")), ((2, 4, "m"), (2, 2, "laneid"), (2, 1, "m"))
    return tile(products, half, *rows, *columns)


def _shape_name(shape: Any) -> str:
    known = list(dict.fromkeys(item.shape for item in INSTRUCTIONS))
    name = shape if isinstance(shape, str) else "m{}n{}k{}".format(*shape) if _is_triple(shape) else repr(shape)
    one_of("the shape of mma", name, known)
    return name


def _is_triple(shape: Any) -> bool:
    return isinstance(shape, tuple | list) and len(shape) == 3


def _sizes(name: str) -> tuple[int, int, int]:
    m, n, k = map(int, re.findall(r"\d+", name))
    return m, n, k


def _dtype_name(dtype: Any) -> str:
    text = dtype.name if isinstance(dtype, DType) else str(dtype)
    return _SPELLINGS.get(text, text)


def _instruction(operand: str, shape: str, dtype: str) -> Instruction:
    """The instruction of a shape for an operand of this type."""
    of_shape = [item for item in INSTRUCTIONS if item.shape == shape]

    def types(item: Instruction) -> tuple[str, ...]:
        return item.dtypes if operand in "AB" else item.accumulators

    for item in of_shape:
        if dtype in types(item):
            return item
    known = dict.fromkeys(name for item in of_shape for name in types(item))
    raise fault(f"operand {operand} of {shape} is not {dtype}", f"it is one of {', '.join(known)}")


def _bits(dtype: Any) -> int:
    try:
        return DType(dtype).total_bits
    except ValueError as error:
        raise fault(str(error)) from None
