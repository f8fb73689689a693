"""What the plugin registers of PTX: a row and an emission for each family. The exact forms carry everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.intrinsic import Emission, Intrinsic, Operand
from tirx.ir import Call

from .names import FAMILIES

__all__ = ["EMISSIONS", "INTRINSICS"]


def _instruction(printer: Any, call: Call, texts: Sequence[str]) -> str:
    from .emit import emitted  # the tables behind it load when something uses an instruction

    return emitted(printer, call, texts)


def _register(printer: Any, call: Call, texts: Sequence[str]) -> str:
    from .emit import register_read  # as above

    return register_read(printer, call)


def _family(name: str) -> Intrinsic:
    doc = f"the instructions `{name}` of PTX"
    return Intrinsic(f"ptx.{name}", [Operand("operands")], "void", "opaque", doc=doc, variadic=True)


_SREG = Intrinsic("ptx.sreg", (), "uint32", "opaque", doc="the special registers of PTX", attrs={"register": ""})
INTRINSICS = (_SREG, *map(_family, FAMILIES))
EMISSIONS = (
    Emission("ptx.sreg", "cuda", _register),
    *(Emission(f"ptx.{family}", "cuda", _instruction) for family in FAMILIES),
)
