"""Two operands: `tensor_tensor` of two tiles, `tensor_scalar` where one is a number or has one element per partition.

Engines compute in float32 and convert what they write. Two 32-bit integer tiles in SBUF are computed exactly, by GpSimd; smaller integers
in 32 bits. NKI: nisa.tensor_tensor, nisa.tensor_scalar.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import TileCall
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from ..hardware import PSUM
from .rules import MAX_INST_SIZE, covered, declining, in_memory, regions, split, types
from .work import Work
from .wrapping import combine_small

__all__ = ["OPCODES", "VARIANTS", "combine", "exact_shapes", "whole_numbers"]

OPCODES = {"add": "add", "sub": "sub", "mul": "mul", "maximum": "max", "minimum": "min"}
_WRAP = ("add", "sub", "mul")


def combine(work: Work, operation: str, result: Any, first: str, second: str) -> None:
    """`result = first operation second` for one instruction."""
    opcode, dtype = OPCODES[operation], result.buffer.dtype if hasattr(result, "buffer") else result.dtype
    if dtype.is_integer and dtype.bits < 32 and operation in _WRAP:
        combine_small(work, opcode, result, first, second)
        return
    exact = dtype.is_integer and dtype.bits == 32
    one, other = (None, None) if exact else (work.scalar(first), work.scalar(second))
    if other is not None:
        nki.tensorscalar(result, work.tile(first, dtype), other, opcode, False)
    elif one is not None:
        nki.tensorscalar(result, work.tile(second, dtype), one, opcode, True)
    else:
        left = work.tile(first, dtype)
        nki.tensortensor(result, left, work.apart(left, work.tile(second, dtype)), opcode)


def _emit(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "dst", context):
        with piece.each(context) as reached:
            combine(Work(piece, reached, call, context), call.op.name, reached["dst"], "src1", "src2")


def _whole_numbers(call: TileCall, context: DispatchContext) -> Verdict:
    """Integers come out as they do elsewhere."""
    dtype = regions(call)["dst"].buffer.dtype
    if dtype.is_float or call.op.name == "fdiv":
        return accept(dtype=dtype)
    if call.op.name == "fma":
        decline(f"the two steps on {dtype} go through float32; use Tx.tile.mul, then Tx.tile.add", dtype=dtype)
    if dtype.is_bool:
        decline("truth values saturate where they are written; compute in an integer type (Tx.tile.cast)", dtype=dtype)
    if dtype.bits == 32:
        _exact(call, dtype)
    return accept(dtype=dtype)


whole_numbers = Predicate("integers", _whole_numbers)


def _exact(call: TileCall, dtype: Any) -> None:
    """Only tensor_tensor of tiles of one type in SBUF computes 32-bit integers exactly."""
    for name, region in regions(call).items():
        if region.buffer.scope_name == PSUM or region.buffer.dtype is not dtype:
            decline(
                f"`{name}` is no {dtype} tile of SBUF; 32-bit integers are exact only there (nisa.tensor_tensor on GpSimd)",
                scope=region.buffer.scope_name,
                dtype=region.buffer.dtype,
            )


def _tiles_of_one_size(call: TileCall, context: DispatchContext) -> Verdict:
    """32-bit integers cannot be stretched, since scalars and products are float32."""
    dtype = regions(call)["dst"].buffer.dtype
    if dtype.is_float or dtype.bits < 32:
        return accept()
    for piece in split(call, "dst", context):
        for name in sorted(piece.columns | piece.rows):
            decline(f"`{name}` is stretched, which goes through float32: {dtype} does not", dtype=dtype)
    return accept()


exact_shapes = Predicate("stretching", _tiles_of_one_size)


VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        "binary",
        emit=declining(_emit),
        predicates=(in_memory(), types, whole_numbers, covered("dst"), exact_shapes),
        config=(MAX_INST_SIZE,),
        doc="tensor_tensor of two tiles; tensor_scalar where one is a number or has one element per partition",
    )
    for operation in OPCODES
)
