"""One operand or none: `reciprocal`, and `memset` for everything that sets a tile to a number. NKI: nisa.reciprocal, nisa.memset."""

from __future__ import annotations

from tirx.ir import TileCall, const
from tirx.tile import Variant
from tirx.tile.context import DispatchContext

from .. import script as nki
from .rules import MAX_INST_SIZE, covered, declining, in_memory, split, types
from .work import Work

__all__ = ["VARIANTS"]


def _reciprocal(call: TileCall, context: DispatchContext) -> None:
    for piece in split(call, "dst", context):
        with piece.each(context) as reached:
            nki.reciprocal(reached["dst"], Work(piece, reached, call, context).tile("src"))


def _set(call: TileCall, context: DispatchContext) -> None:
    value = call.operand("value")
    for piece in split(call, "dst", context):
        with piece.each(context) as reached:
            result = reached["dst"]
            nki.memset(result, const(0, result.buffer.dtype) if value is None else value)


_WAYS = {
    "reciprocal": (_reciprocal, "reciprocal of the vector engine"),
    "memset": (_set, "memset"),
    "fill": (_set, "memset"),
    "zero": (_set, "memset to 0"),
}
VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        "unary",
        emit=declining(emit),
        predicates=(in_memory(), types, covered("dst")),
        config=(MAX_INST_SIZE,),
        doc=doc,
    )
    for operation, (emit, doc) in _WAYS.items()
)
