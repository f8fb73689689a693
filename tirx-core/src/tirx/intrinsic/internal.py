"""What lowering says about values, for code generators; nobody writes it."""

from __future__ import annotations

from .row import Intrinsic, Operand

__all__ = ["INTERNAL", "UNIFORM"]

UNIFORM = Intrinsic(
    "tirx.uniform",
    (Operand("value"),),
    result="same",
    attrs={"level": ""},
    meaning="tirx.sim.meanings.control:uniform",
    doc="its operand, which is the same for all threads of one member of `level`; a code generator may tell the compiler so",
)

INTERNAL = (UNIFORM,)
