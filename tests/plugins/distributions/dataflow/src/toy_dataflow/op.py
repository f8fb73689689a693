"""The instructions, as rows."""

from __future__ import annotations

from tirx.intrinsic import Intrinsic, Operand

__all__ = ["ADD", "INTRINSICS", "LOAD", "STORE"]


def _row(name: str, *operands: Operand, doc: str) -> Intrinsic:
    return Intrinsic(f"flow.{name}", operands, "void", "write", doc=doc, meaning=f"toy_dataflow.sim:{name}")


def _bank(name: str, rw: str = "r") -> Operand:
    return Operand(name, "region", rw=rw, scope=("flow.bank",))


LOAD = _row("load", _bank("res", "w"), Operand("data", "region", scope=("global",)), doc="memory to a bank")
STORE = _row("store", Operand("res", "region", rw="w", scope=("global",)), _bank("data"), doc="a bank to memory")
ADD = _row("add", _bank("res", "w"), _bank("a"), _bank("b"), doc="the sum of two banks")

INTRINSICS = (LOAD, STORE, ADD)
