"""What variants ask of a call, as predicates: memories, types, constant sizes, partitions; and what an instruction itself refuses.

Sources: AWS Neuron documentation, "Constraints" of the pages of `nki.isa`, and the architecture guides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tirx.ir import BufferRegion, TileCall
from tirx.support.errors import DispatchError, TirxError
from tirx.tile import ConfigKey, Predicate, Verdict, accept, decline
from tirx.tile.context import DispatchContext

from ..dtypes import NKI_DTYPES
from ..hardware import CHIP, PARTITIONS
from ..operands import on_chip
from .pieces import Piece, pieces, sides_of

__all__ = [
    "DEFAULT_SIZE",
    "MAX_INST_SIZE",
    "covered",
    "declining",
    "fits",
    "in_memory",
    "regions",
    "size_of",
    "split",
    "types",
]

DEFAULT_SIZE = 512
MAX_INST_SIZE = ConfigKey(
    "max_inst_size",
    int,
    DEFAULT_SIZE,
    "free elements of one instruction at most; what is left over is an instruction of its own; 0: no limit but that of an access",
)

Emit = Callable[[TileCall, DispatchContext], None]


def regions(call: TileCall) -> dict[str, BufferRegion]:
    """The tiles of a call by operand."""
    found = {name: call.operand(name) for name in call.names}
    return {name: value for name, value in found.items() if isinstance(value, BufferRegion)}


def in_memory(*scopes: str) -> Predicate:
    """Every tile is in one of these memories (default: where engines compute)."""
    allowed = scopes or CHIP

    def test(call: TileCall, context: DispatchContext) -> Verdict:
        for name, region in regions(call).items():
            scope = region.buffer.scope_name
            if scope not in allowed:
                decline(
                    f"`{name}` is in {scope} memory; engines compute on SBUF and PSUM: bring it there with Tx.tile.copy",
                    scope=scope,
                )
        return accept()

    return Predicate("memory", test)


def _types(call: TileCall, context: DispatchContext) -> Verdict:
    for name, region in regions(call).items():
        if region.buffer.dtype.name not in NKI_DTYPES:
            decline(
                f"`{name}` holds {region.buffer.dtype}, which the engines do not have (nki.language, supported data types)",
                dtype=region.buffer.dtype,
            )
    return accept()


types = Predicate("types", _types)


def size_of(context: DispatchContext, default: int | None = DEFAULT_SIZE) -> int | None:
    """The largest instruction that the call allows; None: there is no limit."""
    found = context.config.get("max_inst_size")
    if found is None:
        return default
    if found < 0:
        decline("max_inst_size is a number of elements, or 0", max_inst_size=found)
    return int(found) or None


def split(call: TileCall, first: str, context: DispatchContext, *, but: str = "") -> list[Piece]:
    """The instructions of an elementwise operation that writes operand `first`; operand `but` takes no part."""
    sides, space = sides_of(call, first, but)
    return pieces(sides, space, size_of(context))


def fits(piece: Piece) -> None:
    """Decline where an operand starts at a partition, or has dimensions, that no engine takes."""
    reached = piece.regions()
    for side in piece.sides:
        if side.on_chip:
            try:
                on_chip(reached[side.name], "instruction", side.name, CHIP)
            except TirxError as error:
                decline(_reason(error))


def _reason(error: TirxError) -> str:
    text = error.message.replace(" of nki.instruction", "")
    return f"{text}; {error.hint}" if error.hint else text


def covered(first: str) -> Predicate:
    """The operation falls into instructions that the engines take; measured: how many, and the size of the first."""

    def test(call: TileCall, context: DispatchContext) -> Verdict:
        found = split(call, first, context)
        for piece in found:
            fits(piece)
        return _measured(found)

    return Predicate("instructions", test)


def _measured(found: Sequence[Piece]) -> Verdict:
    total = 0
    for piece in found:
        turns = 1
        for turn in piece.turns:
            turns *= turn.turns
        total += turns
    return accept(instructions=total, partitions=found[0].partitions, of=PARTITIONS, elements=found[0].free)


def declining(emit: Emit) -> Emit:
    """`emit`, where a rule of an instruction that it comes upon is its answer: the next variant is asked."""

    def guarded(call: TileCall, context: DispatchContext) -> None:
        try:
            emit(call, context)
        except DispatchError:
            raise
        except TirxError as error:
            decline(_reason(error))

    guarded.__doc__ = emit.__doc__
    return guarded
