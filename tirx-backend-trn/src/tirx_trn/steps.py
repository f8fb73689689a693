"""The arithmetic steps of the instructions that have them: which operand each takes, and whether the other way round."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Step", "steps_of"]


class Step(NamedTuple):
    """Names of fields: the operation, its second operand, and the flag that exchanges the two (empty: there is none)."""

    opcode: str
    operand: str
    reverse: str


_ONE = (Step("opcode", "operand1", "reverse"),)
_TWO = (Step("opcode0", "operand0", "reverse0"), Step("opcode1", "operand1", "reverse1"))
_STEPS = {
    "tensortensor": (Step("opcode", "operand1", ""),),
    "tensorscalar": _ONE,
    "tensorscalar_reduce": _ONE,
    "scalar_tensor_scalar": _TWO,
    "scalar_tensor_tensor": _TWO,
}


def steps_of(name: str) -> tuple[Step, ...]:
    """The steps of an instruction, first to last."""
    return _STEPS.get(name, ())
