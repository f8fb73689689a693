"""An elementwise operation and its reduction: in one instruction where the engines have one, else one after the other.

    unary_reduce     activation_reduce: sums of functions of the scalar engine
    binary_reduce    tensor_scalar_reduce: one input is a number or a column, any fold; activation_reduce: the sum of squares

`default` takes rows that one instruction has whole; `parts` takes everything else. Results are folded before they are rounded to the
type of the first output. NKI: nisa.activation_reduce, nisa.tensor_scalar_reduce.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tirx import script as Tx
from tirx.ir import BufferRegion, TileCall, structural_equal
from tirx.tile import Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext

from .. import script as nki
from .arithmetic import inverse
from .binary import OPCODES
from .chain import floats_between
from .digits import Side, constant_extents
from .functions import FUNCTIONS, Function, apply, shifted
from .pieces import Piece, reductions
from .reduction import FOLDS, SIZE
from .rules import declining, fits, in_memory, regions, size_of, split, types
from .work import Work

__all__ = ["VARIANTS"]

_COMMUTATIVE = ("add", "mul", "maximum", "minimum")


def _whole_rows(call: TileCall, context: DispatchContext) -> list[Piece]:
    """One instruction for each group of results; declines where there are more."""
    tiles = regions(call)
    whole, reduced = call.names[:2]
    axes = dict(call.attrs)["reduce_axes"]
    space = constant_extents(whole, tiles[whole])
    kept = [1 if dim in axes else extent for dim, extent in enumerate(space)]
    sides = [Side(name, tile, kept if name == reduced else space) for name, tile in tiles.items()]
    most = size_of(context, None)
    found: list[Piece] = []
    for group in reductions(sides, space, axes, most):
        turns = [turn for piece in group for turn in piece.turns if turn.dim in axes]
        if len(group) > 1 or turns:
            decline("no instruction has a whole row", pieces=len(group) + len(turns), elements=group[0].free)
        found += group
    for piece in found:
        fits(piece)
    return found


def _one_instruction(call: TileCall, context: DispatchContext) -> Verdict:
    found = _whole_rows(call, context)
    return accept(partitions=found[0].partitions, elements=found[0].free)


# ---- unary ----------------------------------------------------------------------------------------------------------


def _emit_unary(call: TileCall, context: DispatchContext) -> None:
    function = FUNCTIONS[call.attr("unary_op")]
    for piece in _whole_rows(call, context):
        with piece.each(context) as reached:
            work = Work(piece, reached, call, context)
            data, bias, scale = shifted(work, function, "unary_input")
            result, total = reached["unary_output"], reached["reduce_output"]
            nki.activation_reduce(total, result, data, function.opcode, "add", bias, scale)


def _summed(call: TileCall, context: DispatchContext) -> Verdict:
    operation, fold = call.attr("unary_op"), call.attr("reduce_op")
    if operation not in FUNCTIONS or FUNCTIONS[operation].after != 1.0:
        decline("the scalar engine has no such function whose results it could sum", operation=operation)
    if fold != "sum":
        decline("the scalar engine sums only (nisa.activation_reduce)", reduce_op=fold)
    return accept(operation=operation)


def _emit_unary_parts(call: TileCall, context: DispatchContext) -> None:
    operation = call.attr("unary_op")
    for piece in _apart(call, context):
        with piece.each(context) as reached:
            work, result = Work(piece, reached, call, context), reached["unary_output"]
            if operation in FUNCTIONS:
                apply(work, FUNCTIONS[operation], result, "unary_input")
            else:
                _reciprocal(work, result)
    _fold(call, "unary_output")


def _reciprocal(work: Work, result: Any) -> None:
    data, bias, scale = shifted(work, Function("copy"), "unary_input")
    given = [name for name in ("bias", "scale") if work.call.operand(name) is not None]
    if given and not work.is_tile("bias"):
        made = work.scratch()
        nki.scalar_tensor_scalar(made, data, scale, bias, "mul", "add")
        data = made
    nki.reciprocal(result, data)


# ---- binary ---------------------------------------------------------------------------------------------------------


def _order(call: TileCall, piece: Piece) -> tuple[str, str]:
    """The operand that has a value for each element, and the other, which has one per partition."""
    names = ("binary_input1", "binary_input2")
    tiles = [name for name in names if isinstance(call.operand(name), BufferRegion) and name not in piece.columns]
    if tiles == [names[0]]:
        return names
    if tiles == [names[1]] and call.attr("binary_op") in _COMMUTATIVE:
        return names[1], names[0]
    return decline(
        "tensor_scalar_reduce takes a tile, and then a number or a value per partition (nisa.tensor_scalar_reduce)",
        tiles=len(tiles),
    )


def _emit_binary(call: TileCall, context: DispatchContext) -> None:
    operation, fold = call.attr("binary_op"), FOLDS[call.attr("reduce_op")]
    for piece in _whole_rows(call, context):
        with piece.each(context) as reached:
            work = Work(piece, reached, call, context)
            first, second = _order(call, piece)
            opcode, other = (
                ("mul", inverse(work, second)) if operation == "fdiv" else (OPCODES[operation], work.scalar(second))
            )
            result, total = reached["binary_output"], reached["reduce_output"]
            nki.tensorscalar_reduce(total, result, work.tile(first), other, opcode, fold)


def _scalars(call: TileCall, context: DispatchContext) -> Verdict:
    for piece in _whole_rows(call, context):
        _order(call, piece)
    return accept(operation=call.attr("binary_op"))


def _emit_square(call: TileCall, context: DispatchContext) -> None:
    for piece in _whole_rows(call, context):
        with piece.each(context) as reached:
            work = Work(piece, reached, call, context)
            result, total = reached["binary_output"], reached["reduce_output"]
            nki.activation_reduce(total, result, work.tile("binary_input1"), "square", "add")


def _squared(call: TileCall, context: DispatchContext) -> Verdict:
    operation, fold = call.attr("binary_op"), call.attr("reduce_op")
    one, other = call.operand("binary_input1"), call.operand("binary_input2")
    if (operation, fold) != ("mul", "sum") or not isinstance(one, BufferRegion) or not structural_equal(one, other):
        decline("this is no sum of squares", binary_op=operation, reduce_op=fold)
    return accept()


def _emit_binary_parts(call: TileCall, context: DispatchContext) -> None:
    operation = getattr(Tx.tile, call.attr("binary_op"))
    operation(*(call.operand(name) for name in ("binary_output", "binary_input1", "binary_input2")))
    _fold(call, "binary_output")


# ---- one after the other --------------------------------------------------------------------------------------------


def _apart(call: TileCall, context: DispatchContext) -> list[Piece]:
    """The instructions of the elementwise half."""
    found = split(call, call.names[0], context, but=call.names[1])
    for piece in found:
        fits(piece)
    return found


def _fold(call: TileCall, name: str) -> None:
    fold = getattr(Tx.tile, call.attr("reduce_op"))
    fold(call.operand("reduce_output"), call.operand(name), axes=dict(call.attrs)["reduce_axes"])


def _parts(call: TileCall, context: DispatchContext) -> Verdict:
    size_of(context)
    return accept(instructions=len(_apart(call, context)))


def _variants(
    operation: str, emit: Callable[..., None], parts: Callable[..., None], rule: Predicate, doc: str
) -> tuple[Variant, ...]:
    base = (in_memory(), types, floats_between)
    one = Predicate("instructions", _one_instruction)
    two = Predicate("instructions", _parts)
    return (
        Variant(
            operation, "trn", "default", priority=10, emit=declining(emit), predicates=(*base, one, rule), config=(SIZE,), doc=doc
        ),
        Variant(
            operation, "trn", "parts", emit=declining(parts), predicates=(*base, two), config=(SIZE,),
            doc="the elementwise operation, then the reduction",
        ),
    )  # fmt: skip


VARIANTS = (
    *_variants(
        "unary_reduce",
        _emit_unary,
        _emit_unary_parts,
        Predicate("function", _summed),
        "activation_reduce: function and sum at once",
    ),
    *_variants(
        "binary_reduce",
        _emit_binary,
        _emit_binary_parts,
        Predicate("operands", _scalars),
        "tensor_scalar_reduce: both at once",
    ),
    Variant(
        "binary_reduce",
        "trn",
        "square",
        priority=11,
        emit=declining(_emit_square),
        predicates=(
            in_memory(),
            types,
            floats_between,
            Predicate("instructions", _one_instruction),
            Predicate("operands", _squared),
        ),
        config=(SIZE,),
        doc="activation_reduce of squares, for the sum of a tile's products with itself",
    ),
)
