"""Rules of single instructions, by the names that the table gives them. Each refuses at the author's line.

Source: "Constraints" of the instruction's page in the AWS Neuron documentation of `nki.isa`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from tirx.ir import BufferRegion, FloatImm, IntImm

from .box import extents_of
from .dtypes import FLOAT8, WIDE
from .hardware import GENERATIONS, PARTITIONS, PSUM, SBUF, STATIONARY_MAX
from .opcodes import BITS, UNARY
from .operands import Tile, refuse
from .steps import steps_of
from .table import FLOATS
from .written import Written

__all__ = ["PERMUTATIONS", "RULES"]

PERMUTATIONS = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}  # the axes of a DMA transpose, by the number of dimensions
_WIDEST = max(row.moving_max for row in GENERATIONS.values()) * 2  # bfloat16 sums are half as wide
_MOST_FOR_EIGHT = 16_384
MOST_REDUCED = 3  # free dimensions of tensor_scalar_reduce
ARRAY_PARTS = (128, 64, 32)  # rows or columns of the array that a product can have for itself
_TRANSPOSED_ROW = 32  # bytes of which a row that a DMA transpose writes is a multiple


def same_slice(made: Written) -> None:
    """A copy through a DMA queue keeps every index; dimensions of one element do not count."""
    a, b = made.tiles.values()
    shapes = [tuple(extent for extent in extents_of(tile.region) if extent != 1) for tile in (a, b)]
    if made.item.name == "dma_copy" and a.is_on_chip != b.is_on_chip:
        refuse("nki.dma_copy between SBUF and device memory is Tx.nki.load or Tx.nki.store")
    if shapes[0] != shapes[1]:
        refuse(
            f"`{a.name}` of nki.{made.spelled} is a slice of shape {extents_of(a.region)}, `{b.name}` one of shape {extents_of(b.region)}",
            "slice both to the same shape: a copy does not reshape, and a row is spread over partitions by a product with ones",
        )


def transposed_copy(made: Written) -> None:
    """Dimensions in the documented order for their number, one type, rows of whole 32 bytes."""
    dst, src = made.tiles["dst"], made.tiles["src"]
    shape = _walked(made, src)
    if len(shape) not in PERMUTATIONS:
        refuse(
            f"`{src.name}` of nki.{made.spelled} has {len(shape)} dimensions of more than one element; it takes 2, 3 or 4",
            "a row or column is copied without turning it: Tx.nki.load(tile, data)"
            if len(shape) < 2
            else "loop over the outer ones",
        )
    turned = tuple(shape[axis] for axis in PERMUTATIONS[len(shape)])
    if _walked(made, dst) != turned:
        refuse(
            f"`{dst.name}` of nki.{made.spelled} is a slice of shape {extents_of(dst.region)}; with axes {PERMUTATIONS[len(shape)]} "
            f"`{src.name}` becomes {' x '.join(map(str, turned))}"
        )
    if dst.dtype != src.dtype:
        refuse(f"nki.{made.spelled} does not convert {src.dtype} to {dst.dtype}", "convert with tensor_copy")
    row_bytes = prod(extents_of(dst.region)[1:]) * dst.region.buffer.dtype.bytes
    if row_bytes % _TRANSPOSED_ROW:
        refuse(
            f"rows of `{dst.name}` of nki.{made.spelled} have {row_bytes} bytes; a DMA transpose writes multiples of {_TRANSPOSED_ROW}",
            "pad the tile, or transpose on the tensor engine: Tx.nki.nc_transpose(dst, data)",
        )


def _walked(made: Written, tile: Tile) -> tuple[int, ...]:
    """The extents of a slice without those of one element; on chip they lie as they are written, partitions first."""
    wide = tuple(extent for extent in extents_of(tile.region) if extent != 1)
    if tile.is_on_chip:
        lead = tile.box.place.partition_dim
        lies = (tile.box.partitions, *(extent for dim, extent in enumerate(tile.box.extents) if dim != lead))
        if tuple(extent for extent in lies if extent != 1) != wide:
            refuse(
                f"`{tile.name}` of nki.{made.spelled} does not have its partitions in its first dimension alone",
                "slice it so that the first dimension runs along the partitions, and the others along each",
            )
    return wide


def same_type(made: Written) -> None:
    """Bits are copied as they are."""
    dst, src = made.tiles["dst"], made.tiles["src"]
    if dst.dtype != src.dtype:
        refuse(
            f"`{src.name}` of nki.{made.spelled} is of type {src.dtype}, `{dst.name}` of type {dst.dtype}",
            "they have one type",
        )


def not_both_in_psum(made: Written) -> None:
    """One read port to PSUM: of the tiles that are read, one at most is there."""
    read = [
        field.name for field in made.item.fields if field.role == "tile" and field.rw == "r" and field.shape == "same"
    ]
    inside = [made.tiles[name] for name in read if made.tiles[name].scope == PSUM]
    if len(inside) > 1:
        refuse(
            f"`{inside[0].name}` and `{inside[1].name}` of nki.{made.spelled} are both in trn.psum",
            "copy one to SBUF with tensor_copy",
        )


def pattern(made: Written) -> None:
    """Up to four pairs of step and count; the counts give the elements of a partition."""
    values = made.rest("pattern")
    counts = values[1::2]
    if not 2 <= len(values) <= 8 or len(values) % 2:
        refuse(f"the pattern of nki.{made.spelled} has {len(values)} numbers; it is 1 to 4 pairs of step and count")
    if any(count < 1 for count in counts) or prod(counts) != made.reference.box.free:
        refuse(
            f"the pattern of nki.{made.spelled} counts {' x '.join(map(str, counts))} elements, a partition of "
            f"`{made.reference.name}` has {made.reference.box.free}"
        )


def identity(made: Written) -> None:
    """A square that the partitions can hold."""
    count = made.args[1]
    if not 0 < count <= PARTITIONS:
        refuse(f"`size` of nki.{made.spelled} is {count!r}; it is a number from 1 to {PARTITIONS}")
    tile = made.reference
    if tile.size != (count, count):
        refuse(f"`{tile.name}` of nki.{made.spelled} covers {tile}, not {count} x {count}")


def matmul(made: Written) -> None:
    """Shapes and types of `res = lhs.T @ rhs`."""
    res, lhs, rhs = (made.tiles[name] for name in ("res", "lhs", "rhs"))
    pairs = made.options["perf_mode"] == "double_row"
    if pairs:
        _double_row(made, lhs, rhs)
    _matmul_shape(made, res, lhs, rhs, 2 if pairs else 1)
    _part_of_array(made, lhs, 2 if pairs else 1)
    if res.dtype not in ("float32", "bfloat16"):
        refuse(
            f"`{res.name}` of nki.{made.spelled} is of type {res.dtype}; PSUM accumulates in float32",
            "copy it out with tensor_copy",
        )
    for tile in (lhs, rhs):
        if tile.dtype not in FLOATS:
            refuse(f"`{tile.name}` of nki.{made.spelled} is of type {tile.dtype}", f"it multiplies {', '.join(FLOATS)}")
    if (lhs.dtype in WIDE) != (rhs.dtype in WIDE):
        refuse(
            f"nki.{made.spelled} does not mix {lhs.dtype} with {rhs.dtype}", "float32 is multiplied only with float32"
        )
    if {lhs.dtype, rhs.dtype} == {"float8_e4m3", "float8_e4m3fn"}:
        refuse(f"nki.{made.spelled} does not mix {lhs.dtype} with {rhs.dtype}", "use one of the two formats")


def _double_row(made: Written, lhs: Tile, rhs: Tile) -> None:
    """Two rows at a time: float8 tiles of (partitions, 2, elements), contracted along both."""
    for tile in (lhs, rhs):
        lead = tile.box.place.partition_dim
        free = [extent for dim, extent in enumerate(tile.box.extents) if dim != lead]
        if tile.dtype not in FLOAT8:
            refuse(
                f"`{tile.name}` of nki.{made.spelled} is of type {tile.dtype}; double_row multiplies {', '.join(FLOAT8)}",
                'leave perf_mode at "none"',
            )
        if len(free) < 2 or free[0] != 2:
            refuse(
                f"`{tile.name}` of nki.{made.spelled} covers partitions x {' x '.join(map(str, free))}, not partitions x 2 x n",
                "the contraction is split between the partitions and the first free dimension, which is 2",
            )


def _part_of_array(made: Written, lhs: Tile, pairs: int) -> None:
    """`tile_position` and `tile_size`: the part of the 128 x 128 array that a small product runs on."""
    position, size = made.options["tile_position"], made.options["tile_size"]
    if not position and not size:
        return
    if not position or not size:
        refuse(
            f"nki.{made.spelled} takes `tile_position` and `tile_size` together",
            "tile_position=(64, 0), tile_size=(64, 128)",
        )
    covers = (lhs.box.partitions, lhs.box.free // pairs)
    for what, start, count, used in zip(("row", "column"), position, size, covers, strict=True):
        if count not in ARRAY_PARTS:
            refuse(
                f"`tile_size` of nki.{made.spelled} is {size}; a {what} size is one of {', '.join(map(str, ARRAY_PARTS))}"
            )
        if not 0 <= start < PARTITIONS or start % count:
            refuse(
                f"`tile_position` of nki.{made.spelled} is {position}; a {what} tile of {count} starts at a multiple of it below 128"
            )
        if used > count:
            refuse(
                f"`{lhs.name}` of nki.{made.spelled} covers {covers[0]} x {covers[1]}; the part has {size[0]} x {size[1]}",
                "choose a larger tile_size, or a smaller slice",
            )
    if pairs == 2 and size[1] != PARTITIONS:
        refuse(
            f"nki.{made.spelled} cannot combine double_row with column tiles", "let the column size of tile_size be 128"
        )


def _matmul_shape(made: Written, res: Tile, lhs: Tile, rhs: Tile, pairs: int) -> None:
    if lhs.box.partitions != rhs.box.partitions:
        refuse(
            f"`{lhs.name}` of nki.{made.spelled} has {lhs.box.partitions} partitions, `{rhs.name}` {rhs.box.partitions}",
            "both are contracted along their partitions: res = lhs.T @ rhs",
        )
    for tile, most in ((lhs, STATIONARY_MAX), (rhs, _WIDEST if res.dtype == "bfloat16" else _WIDEST // 2)):
        if tile.box.free // pairs > most:
            refuse(
                f"`{tile.name}` of nki.{made.spelled} has {tile.box.free} elements per partition; at most {most * pairs} fit",
                "tile the product",
            )
    if res.size != (lhs.box.free // pairs, rhs.box.free // pairs):
        refuse(
            f"`{res.name}` of nki.{made.spelled} covers {res}; lhs.T @ rhs is {lhs.box.free // pairs} x {rhs.box.free // pairs}",
            "rows of res are elements of lhs, columns are elements of rhs",
        )


def transpose(made: Written) -> None:
    """Shapes and memories: the tensor engine goes from SBUF to PSUM, the vector engine does squares of 32."""
    dst, data = made.tiles["dst"], made.tiles["data"]
    if dst.size != (data.box.free, data.box.partitions):
        refuse(
            f"`{dst.name}` of nki.{made.spelled} covers {dst}; the transpose of `{data.name}` is {data.box.free} x {data.box.partitions}"
        )
    if dst.dtype != data.dtype:
        refuse(
            f"nki.{made.spelled} does not convert {data.dtype} to {dst.dtype}",
            "let both have one type, and convert with tensor_copy",
        )
    engine = made.options["engine"]
    tensor = (data.scope, dst.scope) == (SBUF, PSUM) and max(data.size) <= PARTITIONS
    vector = max(data.size) <= 32
    if (engine == "tensor" and not tensor) or (engine == "vector" and not vector) or not (tensor or vector):
        refuse(
            f"nki.{made.spelled} of {data} from {data.scope} to {dst.scope}"
            f"{'' if engine == 'unknown' else f' on the {engine} engine'} is not possible",
            "the tensor engine transposes up to 128 x 128 from SBUF to PSUM, the vector engine up to 32 x 32 anywhere",
        )


def bits(made: Written) -> None:
    """Bit patterns: integers of one type; never mixed with arithmetic, never negated."""
    found = [opcode in BITS for opcode in made.opcodes.values()]
    if not any(found):
        return
    if not all(found):
        refuse(
            f"nki.{made.spelled} mixes {' with '.join(made.opcodes.values())}",
            "both steps work on bits, or both are arithmetic",
        )
    tiles = list(made.tiles.values())
    kinds = {tile.dtype for tile in tiles}
    if len(kinds) > 1 or not tiles[0].region.buffer.dtype.is_integer:
        refuse(
            f"nki.{made.spelled} combines bits of {' and '.join(sorted(kinds))}; bit patterns are integers of one type",
            "use integer tiles, or an arithmetic opcode",
        )
    if made.options.get("engine", "unknown") not in ("unknown", "vector"):
        refuse(f"nki.{made.spelled} combines bits on the vector engine only")
    if made.item.name == "tensorreduce" and _is_set(made.operand("negate")):
        refuse(f"nki.{made.spelled} cannot negate a bit pattern", "pass negate=False")


def _is_set(value: object) -> bool:
    return isinstance(value, IntImm) and bool(value.value)


def reduction(made: Written) -> None:
    """The reduced dimensions are free ones at the end, and the result has what remains."""
    target, source = made.tiles["result"], made.tiles["data"]
    axes = _normal_axes(made, source)
    dims = [dim for axis in axes for dim in source.box.sources[axis]]
    lead = source.box.place.partition_dim
    if lead in dims:
        refuse(f"nki.{made.spelled} cannot reduce across partitions", "multiply with a matrix of ones: Tx.nki.matmul")
    free = [dim for dim, extent in enumerate(source.box.extents) if dim != lead and extent != 1]
    if dims and free[-len(dims) :] != sorted(dims):
        refuse(
            f"axes {axes} of nki.{made.spelled} are not the last free dimensions of `{source.name}`",
            "reduce trailing dimensions",
        )
    remaining = prod(source.box.extents[dim] for dim in free if dim not in dims)
    if target.size != (source.box.partitions, remaining):
        refuse(f"`{target.name}` of nki.{made.spelled} covers {target}, not {source.box.partitions} x {remaining}")


def _normal_axes(made: Written, source: Tile) -> tuple[int, ...]:
    rank = source.region.buffer.ndim
    axes = made.rest("axes")
    if not axes or any(not -rank <= axis < rank for axis in axes):
        refuse(
            f"the axes of nki.{made.spelled} are {axes or 'missing'}; `{source.name}` has dimensions 0 to {rank - 1}",
            "name the dimensions to reduce",
        )
    return tuple(sorted({axis % rank for axis in axes}))


def power(made: Written) -> None:
    """Powers are computed by the GpSimd engine, which does not reach PSUM."""
    if "power" in made.opcodes.values() and any(tile.scope == PSUM for tile in made.tiles.values()):
        refuse(
            f"nki.{made.spelled} computes powers on the GpSimd engine, which cannot reach PSUM",
            "copy the tile to SBUF first",
        )


def unary(made: Written) -> None:
    """A one-operand operation takes 0 in the place of its second; `rsqrt` runs on the GpSimd engine."""
    (opcode,) = made.opcodes.values()
    if opcode not in UNARY:
        return
    value = made.operand("operand1")
    if getattr(value, "value", None) != 0:
        refuse(f"{opcode} has one operand: pass 0.0 as `operand1` of nki.{made.spelled}")
    if opcode == "rsqrt" and any(tile.scope == PSUM for tile in made.tiles.values()):
        refuse(
            f"nki.{made.spelled} computes rsqrt on the GpSimd engine, which cannot reach PSUM", "use Tx.nki.activation"
        )


def division(made: Written) -> None:
    """A quotient becomes a reciprocal and a product: of floats, by a tile or by a number that is known and not zero."""
    for step in steps_of(made.item.name):
        if made.opcodes[step.opcode] != "div":
            continue
        for field in made.item.fields:
            tile = made.tiles.get(field.name)
            if tile is not None and field.rw == "r" and tile.region.buffer.dtype.is_integer:
                refuse(
                    f"nki.{made.spelled} divides tiles of {tile.dtype}; there is no division of integers",
                    "convert to float32 with tensor_copy; a shift divides by a power of two",
                )
        divisor = made.operand(step.operand)
        if isinstance(divisor, BufferRegion) or (step.reverse and _is_set(made.operand(step.reverse))):
            continue
        if not isinstance(divisor, FloatImm) or divisor.value == 0:
            what = "zero" if isinstance(divisor, FloatImm) else "known only in the loop"
            refuse(
                f"the divisor of nki.{made.spelled} is {what}",
                "divide by a tile, or by a number that is known while the kernel is built",
            )


def three_free(made: Written) -> None:
    """A reduction on the way needs one of the dimensions that an access can have."""
    for tile in made.tiles.values():
        lead = tile.box.place.partition_dim
        free = sum(extent != 1 for dim, extent in enumerate(tile.box.extents) if dim != lead)
        if free > MOST_REDUCED:
            refuse(
                f"`{tile.name}` of nki.{made.spelled} has {free} free dimensions; it takes at most {MOST_REDUCED}",
                "work on slices of it, or reduce with Tx.nki.tensorreduce",
            )


def on_gpsimd(made: Written) -> None:
    """Of the operations with a scalar the GpSimd engine does rsqrt and powers."""
    others = [opcode for opcode in made.opcodes.values() if opcode not in ("rsqrt", "power")]
    if made.options["engine"] == "gpsimd" and others:
        refuse(
            f"the GpSimd engine does not do {others[0]} in nki.{made.spelled}",
            "leave the engine open, or choose the vector engine",
        )


def not_reversed(made: Written) -> None:
    """The documentation lists `reverse0` as not supported here."""
    if _is_set(made.operand("reverse")):
        refuse(
            f"nki.{made.spelled} cannot reverse its operands", "use tensorscalar with reverse=True, then tensorreduce"
        )


def needs_result(made: Written) -> None:
    """A reduction that nobody reads, or a result that nobody computes."""
    idle = made.options["reduce_cmd"] == "idle"
    if "reduce_res" in made.tiles and idle:
        refuse(
            f"`reduce_res` of nki.{made.spelled} is given, but reduce_cmd is 'idle'", 'pass reduce_cmd="reset_reduce"'
        )
    if "reduce_res" not in made.tiles and made.options["reduce_cmd"] == "reduce":
        refuse(f"nki.{made.spelled} goes on reducing without a `reduce_res`", "pass the tile that the result goes to")


def eight(made: Written) -> None:
    """The search for eight values reads 8 to 16,384 elements of a partition."""
    source = made.tiles["src" if "src" in made.tiles else "data"]
    least = 1 if made.item.name == "nc_match_replace8" else 8
    if not least <= source.box.free <= _MOST_FOR_EIGHT:
        refuse(
            f"`{source.name}` of nki.{made.spelled} has {source.box.free} elements per partition; it takes {least} to {_MOST_FOR_EIGHT:,}"
        )
    for tile in made.tiles.values():
        if tile.box.partitions != source.box.partitions:
            refuse(
                f"`{tile.name}` of nki.{made.spelled} has {tile.box.partitions} partitions, `{source.name}` {source.box.partitions}"
            )


RULES: dict[str, Callable[[Written], None]] = {
    rule.__name__: rule
    for rule in (
        same_slice, transposed_copy, same_type, not_both_in_psum, pattern, identity, matmul, transpose, bits, reduction, power, unary,
        division, on_gpsimd, three_free, not_reversed, needs_result, eight,
    )
}  # fmt: skip
