"""What lowering says about values, for code generators; nobody writes it."""

from __future__ import annotations

from ..ir import Call, Expr
from .row import Intrinsic, Operand

__all__ = ["INTERNAL", "LAUNCH_INDEX", "UNIFORM", "launch_axis", "unmarked"]

LAUNCH_INDEX = "tirx.launch_index"

UNIFORM = Intrinsic(
    "tirx.uniform",
    (Operand("value"),),
    result="same",
    attrs={"level": ""},
    meaning="tirx.sim.meanings.control:uniform",
    doc="its operand, which is the same for all threads of one member of `level`; a code generator may tell the compiler so",
)

INTERNAL = (UNIFORM,)


def unmarked(value: Expr) -> Expr:
    """`value` without the mark that it is uniform."""
    while isinstance(value, Call) and value.op is UNIFORM:
        (value,) = value.args
    return value


def launch_axis(value: Expr) -> str | None:
    """The axis of a launch index; None for every other value."""
    found = value.attr("axis") if isinstance(value, Call) and value.op.name == LAUNCH_INDEX else None
    return None if found is None else str(found)
