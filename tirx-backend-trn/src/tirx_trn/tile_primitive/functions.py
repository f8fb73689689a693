"""Functions of a scaled and shifted tile, on the scalar engine: `activation(op, data, bias, scale)`. NKI: nisa.activation.

`exp2` is exp of ln 2 times the argument, `log2` is log times 1 / ln 2. A bias that is a tile is added by the vector engine first.
"""

from __future__ import annotations

from math import log
from typing import Any, NamedTuple

from tirx.ir import TileCall
from tirx.tile import Variant
from tirx.tile.context import DispatchContext

from .. import script as nki
from .rules import MAX_INST_SIZE, covered, declining, in_memory, split, types
from .work import Work

__all__ = ["FUNCTIONS", "VARIANTS", "Function", "apply", "shifted"]


class Function(NamedTuple):
    """The engine's function; its argument is multiplied by `before`, its result by `after`."""

    opcode: str
    before: float = 1.0
    after: float = 1.0


FUNCTIONS = {
    "sqrt": Function("sqrt"),
    "exp": Function("exp"),
    "exp2": Function("exp", before=log(2)),
    "log2": Function("log", after=1 / log(2)),
    "silu": Function("silu"),
}


def apply(work: Work, function: Function, result: Any, source: str) -> None:
    """`result = function(source * scale + bias)` for one instruction."""
    data, bias, scale = shifted(work, function, source)
    if function.after == 1.0:
        nki.activation(result, data, function.opcode, bias, scale)
        return
    made = work.scratch()
    nki.activation(made, data, function.opcode, bias, scale)
    nki.tensorscalar(result, made, function.after, "mul")


def shifted(work: Work, function: Function, source: str) -> tuple[Any, Any, Any]:
    """Data, bias and scale as the engine takes them."""
    found = work.number("scale")
    scale = 1.0 if found is None else found
    data = work.tile(source)
    if work.call.operand("bias") is None:
        return data, 0.0, scale * function.before
    bias = work.scalar("bias")
    if bias is None:  # a value for each element
        made = work.scratch()
        nki.scalar_tensor_tensor(made, data, scale, work.apart(data, work.tile("bias")), "mul", "add")
        return made, 0.0, function.before
    return data, _bias(work, bias, function.before), scale * function.before


def _bias(work: Work, bias: Any, factor: float) -> Any:
    """The bias times `factor`; a number goes into the workspace where the call gave one."""
    if work.number("bias") is None:
        if factor == 1.0:
            return bias
        made = work.scratch(1)
        nki.tensorscalar(made, bias, factor, "mul")
        return made
    value = bias * factor
    space = work.context.workspace("const_bias")
    if space is None:
        return value
    made = space[0 : work.p, 0:1]
    nki.memset(made, value)
    return made


def _emit(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "dst", context):
        with piece.each(context) as reached:
            apply(Work(piece, reached, call, context), FUNCTIONS[call.op.name], reached["dst"], "src")


VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        "unary_with_bias_scale",
        emit=declining(_emit),
        predicates=(in_memory(), types, covered("dst")),
        config=(MAX_INST_SIZE,),
        workspace={"const_bias": "float32 (128, 1) or wider in trn.sbuf: holds a bias that is a number"},
        doc=f"activation {function.opcode} of the scalar engine",
    )
    for operation, function in FUNCTIONS.items()
)
