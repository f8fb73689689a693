"""Reductions along free elements: `tensor_reduce`, in pieces whose results are reduced again where one instruction cannot have all.

Partitions are not reduced: engines work lane by lane. Sums are float32. With `accum` what the destination held is combined by
`tensor_tensor`. NKI: nisa.tensor_reduce.
"""

from __future__ import annotations

from math import prod
from typing import Any

from tirx.ir import BufferRegion, Expr, TileCall, as_expr, const
from tirx.tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import loops

from .. import script as nki
from ..hardware import SBUF
from .digits import Side, constant_extents
from .pieces import Loop, Piece, reductions
from .rules import declining, fits, in_memory, regions, size_of, types

__all__ = ["FOLDS", "PARTIAL", "SIZE", "VARIANTS", "reduction_sides"]

FOLDS = {"sum": "add", "max": "max", "min": "min"}
_OF_NEGATIVES = {"add": "add", "max": "min", "min": "max"}
_EXACT = 2**24  # whole numbers up to here are values of float32
SIZE = ConfigKey(
    "max_inst_size", int, None, "free elements of one instruction at most; left out: as many as an access counts"
)
PARTIAL = {"partial_reduce": "float32 (128, n) in trn.sbuf: the results of the n pieces of one result"}


def reduction_sides(call: TileCall, dst: str, src: str, axes: tuple[int, ...]) -> tuple[list[Side], tuple[int, ...]]:
    """Destination and source along the space of the source, of which `axes` are gone in the destination."""
    source, result = regions(call)[src], regions(call)[dst]
    space = constant_extents(src, source)
    kept = [1 if dim in axes else extent for dim, extent in enumerate(space)]
    return [Side(dst, result, kept), Side(src, source, space)], space


class _Reduction:
    """One call of any of the reductions."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.call = call
        self.context = context
        self.dst, self.src = call.names[:2]
        attrs = dict(call.attrs)
        self.axes: tuple[int, ...] = attrs["axes"] if "axes" in attrs else attrs["reduce_axes"]
        self.negate = call.op.name == "reduce_negate"
        self.fold = FOLDS[attrs["reduce_op"] if self.negate else call.op.name]
        self.accum = bool(attrs["accum"])
        self.sides, self.space = reduction_sides(call, self.dst, self.src, self.axes)

    def groups(self) -> list[list[Piece]]:
        """Instructions by the results that they lead to."""
        most = size_of(self.context, None)
        together = reductions(self.sides, self.space, self.axes, most, together=True)
        if all(self._whole(group) for group in together):
            return together
        return reductions(self.sides, self.space, self.axes, most)

    def _whole(self, group: list[Piece]) -> bool:
        """Whether no result needs more than one instruction: pieces differ in what is kept only."""
        inner = [turn for piece in group for turn in piece.turns if turn.dim in self.axes]
        offsets = {tuple(piece.offsets[dim] for dim in self.axes) for piece in group}
        lengths = {tuple(piece.extents[dim] for dim in self.axes) for piece in group}
        return not inner and len(offsets) == len(lengths) == 1

    # ---- building ---------------------------------------------------------------------------------------------------

    def emit(self) -> None:
        """All results."""
        for group in self.groups():
            if not self._whole(group):
                self._in_parts(group)
                continue
            for piece in group:
                with piece.each(self.context) as reached:
                    self._result(piece, reached[self.dst], reached[self.src], self._axes())

    def _axes(self) -> tuple[int, ...]:
        """The reduced axes as dimensions of the source, without those of one element."""
        side = self.sides[1]
        return tuple(side.along[dim] for dim in self.axes if dim in side.along)

    def _result(self, piece: Piece, dst: BufferRegion, data: Any, axes: tuple[int, ...]) -> None:
        """`dst` becomes `data` reduced, together with what it held where that is meant."""
        if not self.accum:
            self._reduced(dst, data, axes)
            return
        kept = prod(extent for dim, extent in enumerate(piece.extents) if dim not in self.axes)
        made = self.context.alloc((piece.partitions, kept // piece.partitions), "float32", SBUF)
        self._reduced(made, data, axes)
        nki.tensortensor(dst, dst, made, _OF_NEGATIVES[self.fold] if self.negate else self.fold)

    def _reduced(self, dst: Any, data: Any, axes: tuple[int, ...]) -> None:
        """`data` reduced; where all axes have one element it is the result."""
        if axes:
            nki.tensorreduce(dst, data, self.fold, self.negate, *axes)
        elif self.negate:
            nki.tensorscalar(dst, data, -1.0, "mul")
        else:
            nki.tensor_copy(dst, data)

    def _in_parts(self, group: list[Piece]) -> None:
        """Each piece into a column of its own, and these reduced."""
        outer = [turn for turn in group[0].turns if turn.dim not in self.axes]
        total = sum(prod(turn.turns for turn in piece.turns) for piece in group) // prod(turn.turns for turn in outer)
        with loops([(turn.turns, False) for turn in outer], self.context) as steps:
            chosen: dict[Loop, Expr] = dict(zip(outer, steps, strict=True))
            parts, first = self._parts(group[0].partitions, total), 0
            for piece in group:
                first = self._part(piece, chosen, parts, first)
            reached = group[0].regions([chosen.get(turn, const(0)) for turn in group[0].turns])
            self._result(group[0], reached[self.dst], parts, (1,))

    def _part(self, piece: Piece, chosen: dict[Loop, Expr], parts: BufferRegion, first: int) -> int:
        """Reduce one piece into columns of `parts` from `first` on; the column after them."""
        inner = [turn for turn in piece.turns if turn not in chosen]
        with loops([(turn.turns, False) for turn in inner], self.context) as steps:
            column = as_expr(0)
            for turn, step in zip(inner, steps, strict=True):
                column = column * turn.turns + step
            every = {**chosen, **dict(zip(inner, steps, strict=True))}
            data = piece.regions([every[turn] for turn in piece.turns])[self.src]
            start = self.context.analyzer.simplify(column + first)
            place = BufferRegion(parts.buffer, (const(0), start), (const(piece.partitions), const(1)))
            nki.tensorreduce(place, data, self.fold, False, *self._axes())
        return first + prod(turn.turns for turn in inner)

    def _parts(self, partitions: int, count: int) -> BufferRegion:
        """The tile of partial results: of the workspace, or its own."""
        given = self.context.workspace("partial_reduce")
        if given is None:
            return self.context.alloc((partitions, count), "float32", SBUF, "partial").region()
        if given.ndim != 2 or int(given.shape[1]) < count or int(given.shape[0]) < partitions:
            decline("the workspace `partial_reduce` is too small", shape=given.shape, wanted=(partitions, count))
        made: BufferRegion = given[0:partitions, 0:count]
        return made


def _emit(call: TileCall, context: DispatchContext) -> None:
    _Reduction(call, context).emit()


def _lanes(call: TileCall, context: DispatchContext) -> Verdict:
    work = _Reduction(call, context)
    side = work.sides[1]
    for group in reductions(work.sides, work.space, work.axes):
        for piece in group:
            fits(piece)
    for dim in work.axes:
        if any(item.axis == "P" for item in side.axes(dim)):
            decline(
                f"axis {dim} of `{side.name}` lies along partitions, which engines do not reduce (nisa.tensor_reduce); "
                "multiply with a column of ones (Tx.tile.gemm), or copy the tile transposed",
                axis=dim,
            )
    return accept(pieces=sum(map(len, work.groups())))


def _sums(call: TileCall, context: DispatchContext) -> Verdict:
    work = _Reduction(call, context)
    dtype, result = (regions(call)[name].buffer.dtype for name in (work.src, work.dst))
    if dtype.is_float:
        return accept(dtype=dtype)
    count = prod(work.space[dim] for dim in work.axes)
    largest = (count if work.fold == "add" else 1) * 2**dtype.bits
    if largest > _EXACT or (work.fold == "add" and result.bits < 32) or work.accum or work.negate:
        decline(
            f"{dtype} is reduced in float32, which holds whole numbers up to 2**24; cast to float32 where that is enough",
            dtype=dtype,
            elements=count,
        )
    return accept(dtype=dtype, elements=count)


VARIANTS = tuple(
    Variant(
        operation,
        "trn",
        name,
        priority=priority,
        emit=declining(_emit),
        predicates=(in_memory(), types, Predicate("partitions", _lanes), Predicate("integers", _sums)),
        config=(SIZE,),
        workspace=PARTIAL,
        doc="tensor_reduce along free elements; longer rows in pieces",
    )
    for operation, name, priority in (
        ("sum", "reduction", 0),
        ("max", "reduction", 0),
        ("min", "reduction", 0),
        ("reduce_negate", "default", 10),
    )
)
