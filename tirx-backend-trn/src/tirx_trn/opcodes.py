"""The operations that instructions apply: their names here and in `nki.language`, who takes them, where they are defined.

Names are those of published TIRx where it has them; NKI's own (`multiply`, `maximum`) are accepted as well. Source: AWS Neuron
documentation, "Supported Math Operators" and "Supported Activation Functions for NKI ISA" (NKI 0.3 to 0.6).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tirx.ir import current_span
from tirx.support.errors import ScriptError
from tirx.support.suggest import did_you_mean

__all__ = [
    "ACCUMULATE", "ACTIVATIONS", "ARITHMETIC", "BITS", "COMPARISONS", "OPCODES", "REDUCTIONS", "SEQUENCES", "UNARY", "Opcode",
    "canonical", "checked_opcode", "family",
]  # fmt: skip


class Opcode:
    """One operation.

    `families` say which instructions take it; outside `domain` the scalar engine computes garbage; `since` is the first
    NeuronCore generation that has it.
    """

    __slots__ = ("domain", "families", "name", "nki", "since")

    def __init__(
        self, name: str, families: str, *, nki: str = "", domain: tuple[float, float] | None = None, since: str = "v2"
    ) -> None:
        self.name = name
        self.families = frozenset(families.split())
        self.nki = f"nl.{nki or name}"
        self.domain = domain
        self.since = since


_ROWS = (
    Opcode("add", "arithmetic reduction accumulate"),
    Opcode("sub", "arithmetic", nki="subtract"),
    Opcode("mul", "arithmetic reduction", nki="multiply"),
    Opcode("max", "arithmetic reduction", nki="maximum"),
    Opcode("min", "arithmetic reduction", nki="minimum"),
    Opcode("abs_max", "arithmetic", since="v4"),
    Opcode("abs_min", "arithmetic", since="v4"),
    Opcode("equal", "arithmetic comparison"),
    Opcode("not_equal", "arithmetic comparison"),
    Opcode("greater", "arithmetic comparison"),
    Opcode("greater_equal", "arithmetic comparison"),
    Opcode("less", "arithmetic comparison"),
    Opcode("less_equal", "arithmetic comparison"),
    Opcode("logical_and", "arithmetic"),
    Opcode("logical_or", "arithmetic"),
    Opcode("logical_xor", "arithmetic"),
    Opcode("power", "power"),
    Opcode("div", "sequence", nki="divide"),
    Opcode("bitwise_and", "bits bits_reduction"),
    Opcode("bitwise_or", "bits bits_reduction"),
    Opcode("bitwise_xor", "bits bits_reduction"),
    Opcode("left_shift", "bits"),
    Opcode("right_shift", "bits"),
    Opcode("abs", "unary activation"),
    Opcode("rsqrt", "unary activation", domain=(2.0**-87, 2.0**97)),
    Opcode("exp", "activation"),
    Opcode("sqrt", "activation", domain=(2.0**-116, 2.0**118)),
    Opcode("copy", "activation"),
    Opcode("square", "activation"),
    Opcode("sigmoid", "activation"),
    Opcode("relu", "activation"),
    Opcode("gelu", "activation"),
    Opcode("gelu_dx", "activation"),
    Opcode("gelu_apprx_tanh", "activation"),
    Opcode("gelu_apprx_sigmoid", "activation"),
    Opcode("gelu_apprx_sigmoid_dx", "activation"),
    Opcode("silu", "activation"),
    Opcode("silu_dx", "activation"),
    Opcode("tanh", "activation"),
    Opcode("softplus", "activation"),
    Opcode("mish", "activation"),
    Opcode("erf", "activation"),
    Opcode("erf_dx", "activation"),
    Opcode("log", "activation", domain=(2.0**-64, 2.0**64)),
    Opcode("sin", "activation", domain=(-math.pi, math.pi)),
    Opcode("arctan", "activation", domain=(-math.pi / 2, math.pi / 2)),
    Opcode("reciprocal", "activation", domain=(2.0**-42, 2.0**42)),  # of the absolute value
    Opcode("sign", "activation"),
)
OPCODES = {row.name: row for row in _ROWS}
_ALIASES = {row.nki.removeprefix("nl."): row.name for row in _ROWS}
_MISSING = {
    **dict.fromkeys(("div", "divide"), "the engines have no divide"),
    **dict.fromkeys(("mod", "fmod", "remainder"), "the engines have no modulo"),
}
_INSTEAD = {
    **dict.fromkeys(("div", "divide"), "take the reciprocal of the divisor (Tx.nki.reciprocal), then multiply"),
    **dict.fromkeys(("mod", "fmod", "remainder"), 'take "mod" of an integer tile by a power of two, or work it out before the kernel'),
}  # fmt: skip


def family(*names: str) -> tuple[str, ...]:
    """The operations of some families, in the order of the table."""
    return tuple(row.name for row in _ROWS if row.families & set(names))


ACTIVATIONS = family("activation")  # functions of the scalar engine
ARITHMETIC = family("arithmetic")  # two-operand ALU operations, computed in float32
SEQUENCES = family("sequence")  # what several instructions do, as `transform/legalise.py` writes them
BITS = family("bits")  # two-operand ALU operations on bit patterns
COMPARISONS = family("comparison")
UNARY = family("unary")  # ALU operations that ignore their second operand
REDUCTIONS = family("reduction")  # along the free axes
ACCUMULATE = family("accumulate")  # what the scalar engine can sum up on the way


def canonical(opcode: str) -> str:
    """The name of an operation here, for either spelling."""
    return _ALIASES.get(opcode, opcode)


def checked_opcode(opcode: str, allowed: Iterable[str], operation: str, operand: str) -> str:
    """The operation's name when the instruction takes it; else `ScriptError` with those it does take."""
    names = tuple(allowed)
    found = canonical(str(opcode))
    if found in names:
        return found
    reason = f": {_MISSING[opcode]}" if opcode in _MISSING else ""
    hint = _INSTEAD.get(opcode) or did_you_mean(str(opcode), names) or f"it is one of {', '.join(names)}"
    raise ScriptError(f"`{operand}` of nki.{operation} is {opcode!r}{reason}", span=current_span(), hint=hint)
