"""The IR rows of the instructions, made from the table: operands in the order of `Tx.nki`, effects, where their meanings are.

Text operands are opcodes; constants are numbers known while the kernel is built; options are keywords. A call prints as it was
written and reads back.
"""

from __future__ import annotations

from tirx.intrinsic import Intrinsic, Operand

from .table import TABLE, Field, Instruction

__all__ = ["INDEX", "INTRINSICS", "ROWS", "name_of"]

_MEANINGS = {"store": "store_"}  # `store` is how tiles are written there
_KINDS = {
    "tile": "region",
    "copied": "region",
    "device": "region",
    "scalar": "region",
    "number": "value",
    "condition": "value",
    "predicate": "value",
    "flag": "value",
    "opcode": "text",
    "constants": "constant",
}
_REWRITTEN = frozenset({"affine_select"})  # lowering makes select_pattern of it, before anything runs
_BOOL = frozenset({"condition", "predicate", "flag"})


def _operand(field: Field) -> Operand:
    is_tile = field.role in ("tile", "copied", "device")
    return Operand(
        field.name,
        _KINDS[field.role],
        rw=field.rw,
        scope=field.scopes if is_tile else (),
        dtypes=("bool",) if field.role in _BOOL else () if is_tile else field.dtypes,
    )


def _row(item: Instruction) -> Intrinsic:
    last = item.fields[-1]
    return Intrinsic(
        f"nki.{item.name}",
        tuple(_operand(field) for field in item.fields),
        "void",
        "write",
        doc=item.doc,
        attrs={option.name: option.default for option in item.options},
        meaning=None if item.name in _REWRITTEN else f"tirx_trn.sim.ops:{_MEANINGS.get(item.name, item.name)}",
        accuracy=item.accuracy,
        source=f"AWS Neuron documentation, nki.isa.{item.page}",
        variadic=last.optional or last.name in ("axes", "pattern"),
    )


ROWS = {item.name: _row(item) for item in TABLE.values()}

INDEX = Intrinsic(
    "nki.index",
    (Operand("dim", "constant"),),
    "int32",
    doc="The index along dimension `dim` of the tile that an affine_select writes; only in its predicate.",
    source="needed because tiles are slices here; published TIRx used loop variables",
)
INTRINSICS = (*ROWS.values(), INDEX)


def name_of(op: str) -> str:
    """The instruction's name in the table, for the name of a row."""
    return op.removeprefix("nki.")
