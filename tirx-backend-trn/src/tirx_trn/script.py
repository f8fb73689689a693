"""`Tx.nki`: the instructions of a NeuronCore on tiles of SBUF and PSUM.

Operands are buffers or slices of them. The first dimension of a tile is partitions (or what its layout says); an
instruction works on all partitions at once and walks the free elements of each. Rules are checked here, at the author's line.
"""

from __future__ import annotations

from typing import Any, NoReturn

from tirx.intrinsic import call
from tirx.ir import Call, Expr, IntImm, const
from tirx.support.suggest import did_you_mean

from . import op
from .box import extents_of
from .dtypes import ARITHMETIC as MATMUL_DTYPES
from .dtypes import WIDE
from .hardware import GENERATIONS, PARTITIONS, STATIONARY_MAX
from .layout import PSUM, SBUF
from .opcodes import ACCUMULATE, ACTIVATIONS, ARITHMETIC, REDUCTIONS, checked_opcode
from .operands import (
    Region,
    Tile,
    as_region,
    check_number,
    flag,
    hbm,
    in_memory,
    on_chip,
    refuse,
    same_tiles,
    scalar,
    whole,
)

__all__ = [
    "activation", "activation_reduce", "affine_select", "identity", "index", "load", "matmul", "memset", "reciprocal",
    "scalar_tensor_scalar", "scalar_tensor_tensor", "store", "tensor_copy", "tensorreduce", "tensorscalar", "tensorscalar_reduce",
    "tensortensor",
]  # fmt: skip

Number = bool | int | float | Expr
Whole = int | Expr
CHIP = (SBUF, PSUM)
_WIDEST = max(row.moving_max for row in GENERATIONS.values())


def load(res: Region, data: Region) -> Call:
    """Copy a slice of device memory to a tile of SBUF, converted to its type."""
    tile, source = in_memory(res, "load", "res", (SBUF,)), hbm(data, "load", "data")
    _same_shape("load", tile.region, source, "res", "data")
    return call(op.LOAD, tile.region, source)


def store(res: Region, data: Region) -> Call:
    """Copy a tile of SBUF to a slice of device memory, converted to its type."""
    target, tile = hbm(res, "store", "res"), in_memory(data, "store", "data", (SBUF,))
    _same_shape("store", target, tile.region, "res", "data")
    return call(op.STORE, target, tile.region)


def tensor_copy(res: Region, data: Region) -> Call:
    """Copy a tile to another, in SBUF or PSUM, converted to its type."""
    target, source = on_chip(res, "tensor_copy", "res", CHIP), on_chip(data, "tensor_copy", "data", CHIP)
    same_tiles("tensor_copy", target, source)
    return call(op.TENSOR_COPY, target.region, source.region)


def matmul(res: Region, lhs: Region, rhs: Region, accum: Number = True) -> Call:
    """`res = lhs.T @ rhs` in float32.

    With `accum` the product is added to those of earlier matmuls into `res`; the first one after `res` was allocated replaces.
    """
    target = on_chip(res, "matmul", "res", (PSUM,))
    stationary, moving = on_chip(lhs, "matmul", "lhs", (SBUF,)), on_chip(rhs, "matmul", "rhs", (SBUF,))
    _check_matmul_shape(target, stationary, moving)
    _check_matmul_types(target, stationary, moving)
    adds = const(bool(accum)) if isinstance(accum, bool | int) else accum
    return call(op.MATMUL, target.region, stationary.region, moving.region, adds)


def activation(
    result: Region, data: Region, opcode: str, bias: Region | Number = 0.0, scale: Region | Number = 1.0
) -> Call:
    """`result = opcode(data * scale + bias)`; bias and scale are numbers or one float32 per partition."""
    target, source = on_chip(result, "activation", "result", CHIP), on_chip(data, "activation", "data", CHIP)
    same_tiles("activation", target, source)
    checked_opcode(opcode, ACTIVATIONS, "activation", "opcode")
    return call(op.ACTIVATION, target.region, source.region, opcode, *_affine("activation", target, bias, scale))


def reciprocal(result: Region, data: Region) -> Call:
    """`result = 1 / data`."""
    target, source = on_chip(result, "reciprocal", "result", CHIP), on_chip(data, "reciprocal", "data", CHIP)
    same_tiles("reciprocal", target, source)
    return call(op.RECIPROCAL, target.region, source.region)


def tensorreduce(result: Region, data: Region, opcode: str, negate: Number, *axes: Whole) -> Call:
    """Reduce dimensions `axes` of `data` (all of them trailing and free); negated when `negate`."""
    target, source = on_chip(result, "tensorreduce", "result", CHIP), on_chip(data, "tensorreduce", "data", CHIP)
    checked_opcode(opcode, REDUCTIONS, "tensorreduce", "opcode")
    _check_reduction(target, source, _normal_axes(source, axes))
    return call(op.TENSORREDUCE, target.region, source.region, opcode, flag(negate, "tensorreduce", "negate"), *axes)


def tensortensor(result: Region, operand0: Region, operand1: Region, opcode: str) -> Call:
    """`result = operand0 opcode operand1`, element by element; at most one operand is in PSUM."""
    target = on_chip(result, "tensortensor", "result", CHIP)
    first, second = (
        on_chip(operand0, "tensortensor", "operand0", CHIP),
        on_chip(operand1, "tensortensor", "operand1", CHIP),
    )
    same_tiles("tensortensor", target, first, second)
    _not_both_psum("tensortensor", first, second)
    checked_opcode(opcode, ARITHMETIC, "tensortensor", "opcode")
    return call(op.TENSORTENSOR, target.region, first.region, second.region, opcode)


def tensorscalar(
    result: Region, operand0: Region, operand1: Region | Number, opcode: str, reverse: Number = False
) -> Call:
    """`result = operand0 opcode operand1`; operand1 is a number or one float32 per partition."""
    target, source = (
        on_chip(result, "tensorscalar", "result", CHIP),
        on_chip(operand0, "tensorscalar", "operand0", CHIP),
    )
    same_tiles("tensorscalar", target, source)
    checked_opcode(opcode, ARITHMETIC, "tensorscalar", "opcode")
    value = scalar(operand1, "tensorscalar", "operand1", target.box.partitions)
    return call(op.TENSORSCALAR, target.region, source.region, value, opcode, flag(reverse, "tensorscalar", "reverse"))


def memset(result: Region, value: Number) -> Call:
    """Every element of a tile becomes the number `value`, which must be one of its type."""
    target = on_chip(result, "memset", "result", CHIP)
    check_number(value, "memset", "value")
    kind = target.region.buffer.dtype
    if kind.is_integer and isinstance(value, float) and not value.is_integer():
        refuse(f"`value` of nki.memset is {value!r}, which is no {kind}", "set an integer, or use a float tile")
    number = const(value, kind) if isinstance(value, bool | int | float) else value
    return call(op.MEMSET, target.region, number)


def activation_reduce(
    reduce_res: Region,
    act_res: Region,
    data: Region,
    opcode: str,
    reduce_opcode: str,
    bias: Region | Number = 0.0,
    scale: Region | Number = 1.0,
) -> Call:
    """`act_res = opcode(data * scale + bias)`, and `reduce_res` its sum per partition."""
    name = "activation_reduce"
    target, source = on_chip(act_res, name, "act_res", CHIP), on_chip(data, name, "data", CHIP)
    same_tiles(name, target, source)
    checked_opcode(opcode, ACTIVATIONS, name, "opcode")
    checked_opcode(reduce_opcode, ACCUMULATE, name, "reduce_opcode")
    total = _reduced(reduce_res, name, target)
    return call(
        op.ACTIVATION_REDUCE,
        total.region,
        target.region,
        source.region,
        opcode,
        reduce_opcode,
        *_affine(name, target, bias, scale),
    )


def tensorscalar_reduce(
    reduce_res: Region,
    tensorscalar_res: Region,
    operand0: Region,
    operand1: Region | Number,
    opcode: str,
    reduce_opcode: str,
    reverse: Number = False,
) -> Call:
    """`tensorscalar_res = operand0 opcode operand1`, and `reduce_res` its reduction per partition."""
    name = "tensorscalar_reduce"
    target, source = (
        on_chip(tensorscalar_res, name, "tensorscalar_res", CHIP),
        on_chip(operand0, name, "operand0", CHIP),
    )
    same_tiles(name, target, source)
    checked_opcode(opcode, ARITHMETIC, name, "opcode")
    checked_opcode(reduce_opcode, REDUCTIONS, name, "reduce_opcode")
    turned = flag(reverse, name, "reverse")
    if isinstance(turned, IntImm) and turned.value:
        refuse(
            "nki.tensorscalar_reduce cannot reverse its operands",
            "use tensorscalar with reverse=True, then tensorreduce",
        )
    value = scalar(operand1, name, "operand1", target.box.partitions)
    total = _reduced(reduce_res, name, target)
    return call(
        op.TENSORSCALAR_REDUCE,
        total.region,
        target.region,
        source.region,
        value,
        opcode,
        reduce_opcode,
        turned,
    )


def identity(result: Region, size: Whole) -> Call:
    """`result` (`size` partitions, `size` elements each) becomes the identity matrix."""
    target = on_chip(result, "identity", "result", (SBUF,))
    count = whole(size)
    if count is None or not 0 < count <= PARTITIONS:
        refuse(f"`size` of nki.identity is {size!r}; it is a number from 1 to {PARTITIONS}")
    if (target.box.partitions, target.box.free) != (count, count):
        refuse(f"`result` of nki.identity covers {target}, not {count} x {count}")
    return call(op.IDENTITY, target.region, count)


def scalar_tensor_tensor(
    result: Region,
    data: Region,
    operand0: Region | Number,
    operand1: Region,
    opcode0: str,
    opcode1: str,
    reverse0: Number = False,
    reverse1: Number = False,
) -> Call:
    """`result = (data opcode0 operand0) opcode1 operand1` with a scalar operand0 and a tile operand1."""
    name = "scalar_tensor_tensor"
    target, source = on_chip(result, name, "result", CHIP), on_chip(data, name, "data", CHIP)
    second = on_chip(operand1, name, "operand1", CHIP)
    same_tiles(name, target, source, second)
    _not_both_psum(name, source, second)
    first = scalar(operand0, name, "operand0", target.box.partitions)
    return call(
        op.SCALAR_TENSOR_TENSOR,
        target.region,
        source.region,
        first,
        second.region,
        *_two(name, opcode0, opcode1, reverse0, reverse1),
    )


def scalar_tensor_scalar(
    result: Region,
    data: Region,
    operand0: Region | Number,
    operand1: Region | Number,
    opcode0: str,
    opcode1: str,
    reverse0: Number = False,
    reverse1: Number = False,
) -> Call:
    """`result = (data opcode0 operand0) opcode1 operand1` with two scalars."""
    name = "scalar_tensor_scalar"
    target, source = on_chip(result, name, "result", CHIP), on_chip(data, name, "data", CHIP)
    same_tiles(name, target, source)
    first, second = (
        scalar(x, name, n, target.box.partitions) for x, n in ((operand0, "operand0"), (operand1, "operand1"))
    )
    return call(
        op.SCALAR_TENSOR_SCALAR,
        target.region,
        source.region,
        first,
        second,
        *_two(name, opcode0, opcode1, reverse0, reverse1),
    )


def affine_select(result: Region, pred: Expr, true_value: Region, false_value: Number) -> Call:
    """`true_value` where `pred` holds, else the number `false_value`.

    `pred` compares sums of constants, loop variables and `index(d)`: `Tx.nki.index(0) >= Tx.nki.index(1)`.
    """
    name = "affine_select"
    target, source = on_chip(result, name, "result", (SBUF,)), on_chip(true_value, name, "true_value", (SBUF,))
    same_tiles(name, target, source)
    if isinstance(false_value, Region):
        refuse(
            "`false_value` of nki.affine_select is a tile; it is a number",
            "swap the values and turn the comparison round",
        )
    return call(
        op.AFFINE_SELECT,
        target.region,
        pred,
        source.region,
        scalar(false_value, name, "false_value", target.box.partitions),
    )


def index(dim: int) -> Call:
    """The index along dimension `dim` of the tile that the surrounding affine_select writes."""
    return call(op.INDEX, dim)


def _same_shape(operation: str, a: Any, b: Any, name_a: str, name_b: str) -> None:
    """A copy between device memory and a tile keeps every index; dimensions of one element do not count."""
    shapes = [
        tuple(extent for extent in extents_of(as_region(x, operation, n)) if extent != 1)
        for x, n in ((a, name_a), (b, name_b))
    ]
    if shapes[0] != shapes[1]:
        refuse(
            f"`{name_a}` of nki.{operation} is a slice of shape {extents_of(a)}, `{name_b}` one of shape {extents_of(b)}",
            "slice both to the same shape; a copy neither broadcasts nor reshapes",
        )


def _check_matmul_shape(target: Tile, stationary: Tile, moving: Tile) -> None:
    if stationary.box.partitions != moving.box.partitions:
        refuse(
            f"`lhs` of nki.matmul has {stationary.box.partitions} partitions, `rhs` {moving.box.partitions}",
            "both are contracted along their partitions: res = lhs.T @ rhs",
        )
    for tile, most in ((stationary, STATIONARY_MAX), (moving, _WIDEST)):
        if tile.box.free > most:
            refuse(
                f"`{tile.name}` of nki.matmul has {tile.box.free} elements per partition; at most {most} fit",
                "tile the product",
            )
    if (target.box.partitions, target.box.free) != (stationary.box.free, moving.box.free):
        refuse(
            f"`res` of nki.matmul covers {target}; lhs.T @ rhs is {stationary.box.free} x {moving.box.free}",
            "rows of res are elements of lhs, columns are elements of rhs",
        )


def _check_matmul_types(target: Tile, stationary: Tile, moving: Tile) -> None:
    if target.dtype != "float32":
        refuse(
            f"`res` of nki.matmul is of type {target.dtype}; PSUM accumulates in float32",
            "copy it out with tensor_copy",
        )
    for tile in (stationary, moving):
        if tile.dtype not in MATMUL_DTYPES:
            refuse(f"`{tile.name}` of nki.matmul is of type {tile.dtype}", f"it multiplies {', '.join(MATMUL_DTYPES)}")
    if (stationary.dtype in WIDE) != (moving.dtype in WIDE):
        refuse(
            f"nki.matmul does not mix {stationary.dtype} with {moving.dtype}", "float32 is multiplied only with float32"
        )


def _affine(operation: str, target: Tile, bias: Any, scale: Any) -> tuple[Expr, Expr]:
    count = target.box.partitions
    return scalar(bias, operation, "bias", count), scalar(scale, operation, "scale", count)


def _two(name: str, opcode0: str, opcode1: str, reverse0: Number, reverse1: Number) -> tuple[Any, ...]:
    checked_opcode(opcode0, ARITHMETIC, name, "opcode0")
    checked_opcode(opcode1, ARITHMETIC, name, "opcode1")
    return opcode0, opcode1, flag(reverse0, name, "reverse0"), flag(reverse1, name, "reverse1")


def _not_both_psum(operation: str, a: Tile, b: Tile) -> None:
    if a.scope == PSUM and b.scope == PSUM:
        refuse(
            f"`{a.name}` and `{b.name}` of nki.{operation} are both in trn.psum", "copy one to SBUF with tensor_copy"
        )


def _reduced(value: Region, operation: str, source: Tile) -> Tile:
    """The destination of a reduction over all free elements."""
    total = on_chip(value, operation, "reduce_res", CHIP)
    if (total.box.partitions, total.box.free) != (source.box.partitions, 1):
        refuse(f"`reduce_res` of nki.{operation} covers {total}, not {source.box.partitions} x 1")
    return total


def _normal_axes(source: Tile, axes: tuple[Whole, ...]) -> tuple[int, ...]:
    rank = source.region.buffer.ndim
    found = [whole(axis) for axis in axes]
    inside = [axis for axis in found if axis is not None and -rank <= axis < rank]
    if not axes or len(inside) < len(axes):
        refuse(
            f"the axes of nki.tensorreduce are {axes or 'missing'}; `data` has dimensions 0 to {rank - 1}",
            "name the dimensions to reduce",
        )
    return tuple(sorted({axis % rank for axis in inside}))


def _check_reduction(target: Tile, source: Tile, axes: tuple[int, ...]) -> None:
    """The reduced dimensions are free ones at the end, and the result has what remains."""
    dims = [dim for axis in axes for dim in source.box.sources[axis]]
    lead = source.box.place.partition_dim
    if lead in dims:
        refuse("nki.tensorreduce cannot reduce across partitions", "multiply with a matrix of ones: Tx.nki.matmul")
    free = [dim for dim, extent in enumerate(source.box.extents) if dim != lead and extent != 1]
    if dims and free[-len(dims) :] != sorted(dims):
        refuse(
            f"axes {axes} of nki.tensorreduce are not the last free dimensions of `{source.name}`",
            "reduce trailing dimensions",
        )
    remaining = 1
    for dim in free:
        remaining *= 1 if dim in dims else source.box.extents[dim]
    if (target.box.partitions, target.box.free) != (source.box.partitions, remaining):
        refuse(f"`result` of nki.tensorreduce covers {target}, not {source.box.partitions} x {remaining}")


def __getattr__(name: str) -> NoReturn:
    """A name that is no instruction."""
    hint = did_you_mean(name, __all__) or f"its instructions are {', '.join(__all__)}"
    raise AttributeError(f"Tx.nki has no `{name}`; {hint}")
