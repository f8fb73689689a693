"""Copies between device memory, SBUF and PSUM: straight where partitions stay partitions, else transposed.

DMA queues move to and from SBUF, engines on chip. A queue also moves what no engine could reach: tiles that start at any partition.
What is in PSUM goes through SBUF. Queues run beside the engines; the NKI compiler makes readers wait. NKI: nisa.dma_copy,
nisa.tensor_copy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirx.ir import BufferRegion, TileCall
from tirx.tile import ConfigKey, Declined, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from ..hardware import HBM, PSUM, SBUF
from ..layout import trainium
from .pieces import Piece, pieces, sides_of
from .rules import DEFAULT_SIZE, declining, fits, in_memory, regions, size_of, types
from .transposing import WORKSPACE, transpose, turned

__all__ = ["VARIANTS"]

_SIZE = ConfigKey(
    "max_inst_size",
    int,
    None,
    f"free elements of one instruction between tiles at most (left out: {DEFAULT_SIZE}; 0: no limit); a DMA queue moves any number",
)


class Work:
    """One copy while it is built."""

    def __init__(self, piece: Piece, context: DispatchContext) -> None:
        self.piece = piece
        self.context = context

    def between(self, region: BufferRegion) -> Any:
        """A tile of SBUF like the piece `region` of PSUM, which a queue reaches."""
        lanes = {digit.dim for digit in self.piece.lanes}
        if lanes & {digit.dim for digit in self.piece.elements}:
            decline(
                "one dimension lies along partitions and free elements; PSUM is reached through a plain tile of SBUF"
            )
        letters = "".join("P" if dim in lanes else "F" for dim in range(len(self.piece.extents)))
        shape = tuple(self.piece.extents)
        return self.context.alloc(shape, region.buffer.dtype, SBUF, layout=trainium(letters, shape))


def _load(work: Work, dst: BufferRegion, src: BufferRegion) -> None:
    nki.load(dst, src)


def _store(work: Work, dst: BufferRegion, src: BufferRegion) -> None:
    nki.store(dst, src)


def _load_psum(work: Work, dst: BufferRegion, src: BufferRegion) -> None:
    made = work.between(dst)
    nki.load(made, src)
    nki.tensor_copy(dst, made)


def _store_psum(work: Work, dst: BufferRegion, src: BufferRegion) -> None:
    made = work.between(src)
    nki.tensor_copy(made, src)
    nki.store(dst, made)


def _queue(work: Work, dst: BufferRegion, src: BufferRegion) -> None:
    nki.dma_copy(dst, src)


def _on_chip(work: Work, dst: BufferRegion, src: BufferRegion) -> None:
    nki.tensor_copy(dst, src)


Way = Callable[[Work, BufferRegion, BufferRegion], None]
_WAYS: dict[tuple[str, str], Way] = {
    (SBUF, HBM): _load, (HBM, SBUF): _store, (PSUM, HBM): _load_psum, (HBM, PSUM): _store_psum, (HBM, HBM): _queue,
}  # fmt: skip


def _memories(call: TileCall) -> tuple[str, str]:
    tiles = regions(call)
    return tiles["dst"].buffer.scope_name, tiles["src"].buffer.scope_name


def _most(call: TileCall, context: DispatchContext) -> int | None:
    given = context.config.get("max_inst_size")
    if HBM in _memories(call):
        if given is not None and PSUM not in _memories(call):
            decline("a DMA queue moves tiles of any size: max_inst_size is for copies on chip", max_inst_size=given)
        return DEFAULT_SIZE if PSUM in _memories(call) else None
    return size_of(context)


def _pieces(call: TileCall, context: DispatchContext) -> list[Piece]:
    sides, space = sides_of(call, "dst")
    return pieces(sides, space, _most(call, context))


def _way(call: TileCall, found: list[Piece]) -> Way:
    """How a piece is copied; between tiles of SBUF a queue where engines do not reach."""
    memories = _memories(call)
    if memories in _WAYS:
        return _WAYS[memories]
    try:
        for piece in found:
            fits(piece)
    except Declined:
        if memories != (SBUF, SBUF):
            raise
        return _queue
    return _on_chip


def emit_copy(call: TileCall, context: DispatchContext) -> None:
    """Straight where partitions stay partitions, else transposed."""
    if turned(call, context):
        transpose(call, context)
        return
    found = _pieces(call, context)
    way = _way(call, found)
    for piece in found:
        with piece.each(context) as reached:
            way(Work(piece, context), reached["dst"], reached["src"])


def _reached(call: TileCall, context: DispatchContext) -> Verdict:
    if turned(call, context):
        return accept(transposed=True)
    found = _pieces(call, context)
    _way(call, found)
    return accept(transposed=False, partitions=found[0].partitions, elements=found[0].free)


def _doc(operation: str) -> str:
    queues = "DMA queues to and from SBUF, tensor_copy on chip, a transposition through PSUM where partitions change"
    return {"copy_async": f"{queues}; NKI waits for queues itself"}.get(operation, queues)


VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        "default",
        priority=10,
        emit=declining(emit_copy),
        predicates=(in_memory(HBM, SBUF, PSUM), types, Predicate("instructions", _reached)),
        config=(_SIZE,),
        workspace=WORKSPACE,
        doc=_doc(operation),
    )
    for operation in ("copy", "copy_async", "permute_layout")
)
