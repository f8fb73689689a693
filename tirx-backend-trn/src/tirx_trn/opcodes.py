"""Opcode strings of published TIRx: what each is called in `nki.language`, and which instructions take it."""

from __future__ import annotations

from tirx.ir import current_span
from tirx.support.errors import ScriptError
from tirx.support.suggest import did_you_mean

__all__ = ["ACCUMULATE", "ACTIVATIONS", "ARITHMETIC", "OPCODES", "REDUCTIONS", "checked_opcode"]

OPCODES = {
    "sqrt": "nl.sqrt",
    "exp": "nl.exp",
    "add": "nl.add",
    "sub": "nl.subtract",
    "mul": "nl.multiply",
    "max": "nl.maximum",
    "min": "nl.minimum",
}

ACTIVATIONS = ("exp", "sqrt")  # functions of the scalar engine
ARITHMETIC = ("add", "sub", "mul", "max", "min")  # two-operand ALU operations
REDUCTIONS = ("add", "mul", "max", "min")  # along the free axes
ACCUMULATE = ("add",)  # what the scalar engine can sum up on the way


def checked_opcode(opcode: str, allowed: tuple[str, ...], operation: str, operand: str) -> str:
    """`opcode` when the instruction takes it; else `ScriptError` with those it does take."""
    if opcode in allowed:
        return opcode
    missing = {
        "div": "the engines have no divide",
        "divide": "the engines have no divide",
        "mod": "the engines have no modulo",
    }
    reason = f": {missing[opcode]}" if opcode in missing else ""
    near = did_you_mean(str(opcode), allowed)
    raise ScriptError(
        f"`{operand}` of nki.{operation} is {opcode!r}{reason}",
        span=current_span(),
        hint=near or f"it is one of {', '.join(allowed)}",
    )
