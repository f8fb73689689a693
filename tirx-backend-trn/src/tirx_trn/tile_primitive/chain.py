"""`binary_chain`: both steps in one instruction where the first operand is a number or a column, else one after the other.

    (tile op0 scalar) op1 scalar     tensor_scalar of two steps
    (tile op0 scalar) op1 tile       scalar_tensor_tensor
    (tile op0 tile) op1 any          tensor_tensor, then tensor_scalar or tensor_tensor

What lies in between is float32. Divisions multiply with reciprocals.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import TileCall
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from .arithmetic import inverse
from .binary import OPCODES
from .rules import MAX_INST_SIZE, covered, declining, in_memory, regions, split, types
from .work import Work

__all__ = ["VARIANTS", "floats_between"]


def _floats(call: TileCall, context: DispatchContext) -> Verdict:
    for name, region in regions(call).items():
        if not region.buffer.dtype.is_float:
            decline(f"`{name}` holds {region.buffer.dtype}; what lies in between is float32", dtype=region.buffer.dtype)
    return accept()


floats_between = Predicate("floats", _floats)


def _operand(work: Work, operation: str, name: str) -> tuple[str, Any]:
    """What the engine does, and with what: a division is a product with the reciprocal."""
    if operation == "fdiv":
        return "mul", inverse(work, name)
    return OPCODES[operation], work.tile(name) if work.is_tile(name) else work.scalar(name)


def _step(work: Work, result: Any, data: Any, operation: str, name: str, reverse: bool) -> None:
    """`result = data operation operand`, or the other way round, for tiles `data` that are in SBUF."""
    if operation == "fdiv" and reverse:
        made = work.scratch()
        nki.reciprocal(made, data)
        data, operation = made, "mul"
    opcode, other = _operand(work, operation, name)
    if not work.is_tile(name):
        nki.tensorscalar(result, data, other, opcode, reverse)
    elif reverse:
        nki.tensortensor(result, work.apart(data, other), data, opcode)
    else:
        nki.tensortensor(result, data, work.apart(data, other), opcode)


def _chain(work: Work, result: Any) -> None:
    call = work.call
    first, second, reverse = call.attr("op0"), call.attr("op1"), bool(call.attr("reverse1"))
    data = work.tile("data")
    if work.is_tile("operand0") or (second == "fdiv" and reverse):
        made = work.scratch()
        _step(work, made, data, first, "operand0", False)
        _step(work, result, made, second, "operand1", reverse)
        return
    opcode0, one = _operand(work, first, "operand0")
    opcode1, other = _operand(work, second, "operand1")
    if work.is_tile("operand1"):
        nki.scalar_tensor_tensor(result, data, one, work.apart(data, other), opcode0, opcode1, False, reverse)
    else:
        nki.scalar_tensor_scalar(result, data, one, other, opcode0, opcode1, False, reverse)


def _emit(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "output", context):
        with piece.each(context) as reached:
            _chain(Work(piece, reached, call, context), reached["output"])


VARIANTS = (
    Variant(
        "binary_chain",
        "trn",
        "default",
        priority=10,
        emit=declining(_emit),
        predicates=(in_memory(), types, floats_between, covered("output")),
        config=(MAX_INST_SIZE,),
        doc="tensor_scalar of two steps or scalar_tensor_tensor; tensor_tensor first where operand0 is a tile",
    ),
)
