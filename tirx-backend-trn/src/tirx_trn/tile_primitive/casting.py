"""`cast`: engines convert what they write, and a tile that is stretched is spread on the way.

float to float, integer to float       tensor_copy; rounds to nearest even
float to integer                       engines round to nearest even, cast cuts off: the rounded number is put right by its sign
integer to a wider integer             tensor_copy
integer to a narrower integer          refused: engines saturate where cast wraps
"""

from __future__ import annotations

from typing import Any

from tirx.ir import TileCall
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from .rules import MAX_INST_SIZE, covered, declining, in_memory, regions, split, types
from .work import Work

__all__ = ["VARIANTS"]


def _cut(work: Work, result: Any, data: Any) -> None:
    """`data` without its fraction. r = round(x); r - sign(x) where (r - x) * sign(x) > 0, which is where it went outwards."""
    dtype = result.buffer.dtype
    whole = work.scratch(dtype=dtype if dtype.name == "uint32" else "int32")
    rounded, sign, off = work.scratch(), work.scratch(), work.scratch()
    nki.tensor_copy(whole, data)
    nki.tensor_copy(rounded, whole)
    nki.activation(sign, data, "sign")
    nki.tensortensor(off, rounded, data, "sub")
    nki.tensortensor(off, off, sign, "mul")
    nki.scalar_tensor_tensor(off, off, 0.0, sign, "greater", "mul")
    nki.tensortensor(rounded, rounded, off, "sub")
    nki.tensor_copy(result, rounded)


def _emit(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "dst", context):
        with piece.each(context) as reached:
            work, result = Work(piece, reached, call, context), reached["dst"]
            data: Any = work.tile("src")
            if result.buffer.dtype.is_float or not regions(call)["src"].buffer.dtype.is_float:
                nki.tensor_copy(result, data)
            elif result.buffer.dtype.is_bool:
                nki.tensorscalar(result, data, 0.0, "not_equal")
            else:
                _cut(work, result, data)


def _converts(call: TileCall, context: DispatchContext) -> Verdict:
    dst, src = (regions(call)[name].buffer.dtype for name in ("dst", "src"))
    if dst.is_float or src.is_float or dst is src:
        return accept(dst=dst, src=src)
    wider = dst.bits > src.bits or dst.bits == src.bits == 32
    if not wider or (dst.is_uint and not src.is_uint):
        decline(
            f"engines saturate {src} outside of {dst}, where cast wraps; where saturating is meant use Tx.nki.tensor_copy",
            dst=dst,
            src=src,
        )
    return accept(dst=dst, src=src)


VARIANTS = (
    Variant(
        "cast",
        "trn",
        "default",
        priority=10,
        emit=declining(_emit),
        predicates=(in_memory(), types, Predicate("conversion", _converts), covered("dst")),
        config=(MAX_INST_SIZE,),
        doc="tensor_copy, which converts; floats are cut off, not rounded, on the way to integers",
    ),
)
