"""Operations of several steps: `fma`, `fdiv`.

fma     tensor_scalar of two steps, scalar_tensor_tensor, or a product and a sum: float32 rounds after each step
fdiv    the engines have no divide: the reciprocal of the divisor, then a product, within 2 ulp of float32
"""

from __future__ import annotations

from typing import Any

from tirx.ir import TileCall
from tirx.tile import Variant
from tirx.tile.context import DispatchContext

from .. import script as nki
from .binary import exact_shapes, whole_numbers
from .rules import MAX_INST_SIZE, covered, declining, in_memory, split, types
from .work import Work

__all__ = ["VARIANTS", "inverse"]


def _fma(work: Work, result: Any) -> None:
    data, scale, bias = work.tile("src"), work.scalar("scale"), work.scalar("bias")
    if scale is not None and bias is not None:
        nki.scalar_tensor_scalar(result, data, scale, bias, "mul", "add")
    elif scale is not None:
        nki.scalar_tensor_tensor(result, data, scale, work.apart(data, work.tile("bias")), "mul", "add")
    else:
        product = work.scratch()
        nki.tensortensor(product, data, work.apart(data, work.tile("scale")), "mul")
        if bias is not None:
            nki.tensorscalar(result, product, bias, "add")
        else:
            nki.tensortensor(result, product, work.tile("bias"), "add")


def inverse(work: Work, name: str) -> Any:
    """1 / operand: a number, a float32 column, or a tile."""
    number = work.number(name)
    if isinstance(number, int | float) and number != 0:
        return 1.0 / number
    column = work.column(name)
    if number is not None:
        column = work.scratch(1)
        nki.memset(column, number)
    made = work.scratch(1 if column is not None else None)
    nki.reciprocal(made, work.tile(name) if column is None else column)
    return made


def _fdiv(work: Work, result: Any) -> None:
    divisor = inverse(work, "src2")
    if not work.is_tile("src2"):
        nki.tensorscalar(result, work.tile("src1"), divisor, "mul")
    elif not work.is_tile("src1"):
        nki.tensorscalar(result, divisor, work.scalar("src1"), "mul")
    else:
        nki.tensortensor(result, work.tile("src1"), divisor, "mul")


_STEPS = {"fma": _fma, "fdiv": _fdiv}


def _emit(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "dst", context):
        with piece.each(context) as reached:
            _STEPS[call.op.name](Work(piece, reached, call, context), reached["dst"])


_DOCS = {
    "fma": "tensor_scalar of two steps, scalar_tensor_tensor, or a product and a sum; rounds after each step",
    "fdiv": "reciprocal, then a product: within 2 ulp of float32",
}
VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        "default",
        priority=10,
        emit=declining(_emit),
        predicates=(in_memory(), types, whole_numbers, covered("dst"), exact_shapes),
        config=(MAX_INST_SIZE,),
        doc=doc,
    )
    for operation, doc in _DOCS.items()
)
