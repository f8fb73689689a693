"""What the plugin registers of PTX: a row and an emission for each family. The exact forms carry everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.intrinsic import Emission, Intrinsic, Operand
from tirx.ir import Call

from .names import FAMILIES

__all__ = ["EMISSIONS", "INTRINSICS"]


def _rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
    from .emit import emitted  # the tables behind it load when something uses an instruction

    return emitted(printer, call, texts)


INTRINSICS = tuple(
    Intrinsic(
        f"ptx.{family}",
        [Operand("operands")],
        "void",
        "opaque",
        doc=f"the instructions `{family}` of PTX",
        variadic=True,
    )
    for family in FAMILIES
)
EMISSIONS = tuple(Emission(f"ptx.{family}", "cuda", _rule) for family in FAMILIES)
