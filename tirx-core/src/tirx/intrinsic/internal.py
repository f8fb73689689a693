"""What lowering says about values, for code generators; nobody writes it."""

from __future__ import annotations

from ..ir import Call, Expr
from .row import Intrinsic, Operand

__all__ = ["INTERNAL", "LANE", "LAUNCH_INDEX", "UNIFORM", "WITH_LANE", "launch_axis", "unmarked"]

LAUNCH_INDEX = "tirx.launch_index"

UNIFORM = Intrinsic(
    "tirx.uniform",
    (Operand("value"),),
    result="same",
    attrs={"level": ""},
    meaning="tirx.sim.meanings.control:uniform",
    doc="its operand, which is the same for all threads of one member of `level`; a code generator may tell the compiler so",
)

_PAIR = Operand("pair", lanes=(2,))
_INDEX = Operand("index", dtypes=("integer",))

LANE = Intrinsic(
    "tirx.lane",
    (_PAIR, _INDEX),
    result=lambda args, attrs: args[0].dtype.element,
    meaning="tirx.sim.meanings.vector:lane",
    doc="one of two elements that share a byte, the first where `index` is 0",
)

WITH_LANE = Intrinsic(
    "tirx.with_lane",
    (_PAIR, _INDEX, Operand("element")),
    result="same",
    meaning="tirx.sim.meanings.vector:with_lane",
    doc="two elements that share a byte, one of them replaced",
)

INTERNAL = (UNIFORM, LANE, WITH_LANE)


def unmarked(value: Expr) -> Expr:
    """`value` without the mark that it is uniform."""
    while isinstance(value, Call) and value.op is UNIFORM:
        (value,) = value.args
    return value


def launch_axis(value: Expr) -> str | None:
    """The axis of a launch index; None for every other value."""
    found = value.attr("axis") if isinstance(value, Call) and value.op.name == LAUNCH_INDEX else None
    return None if found is None else str(found)
