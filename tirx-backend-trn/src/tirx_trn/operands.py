"""Operands of instructions as the author writes them: converted to regions and numbers, and checked at that line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tirx.arith import Analyzer
from tirx.ir import FLOAT32, Buffer, BufferLoad, BufferRegion, Cast, Expr, IntImm, as_expr, const, current_span
from tirx.support.errors import ScriptError

from .box import Box, box_of, constant, extents_of
from .dtypes import NKI_DTYPES
from .hardware import PSUM
from .layout import is_on_chip

__all__ = [
    "Region",
    "Tile",
    "as_region",
    "bit_pattern",
    "check_number",
    "flag",
    "in_memory",
    "on_chip",
    "refuse",
    "scalar",
    "shown",
    "whole",
]

MAX_FREE_DIMENSIONS = 4
PSUM_WORD = 4
MAX_COUNT = 65_535  # sizes of an access are 16 bits wide (architecture guides)
Region = Buffer | BufferRegion | BufferLoad


class Tile:
    """A region operand: `region` as written, its `box` (None in device memory), and the operand's name for messages."""

    __slots__ = ("_box", "name", "region")

    def __init__(self, region: BufferRegion, box: Box | None, name: str) -> None:
        self.region = region
        self._box = box
        self.name = name

    @property
    def box(self) -> Box:
        """The box of an on-chip tile."""
        assert self._box is not None
        return self._box

    @property
    def is_on_chip(self) -> bool:
        """Whether it lies in SBUF or PSUM."""
        return self._box is not None

    @property
    def scope(self) -> str:
        """The storage scope."""
        return self.region.buffer.scope_name

    @property
    def dtype(self) -> str:
        """Name of the element type."""
        return self.region.buffer.dtype.name

    @property
    def size(self) -> tuple[int, int]:
        """Partitions, and elements of each."""
        return self.box.partitions, self.box.free

    def __str__(self) -> str:
        return f"{self.box.partitions} x {self.box.free}"


def refuse(message: str, hint: str | None = None) -> NoReturn:
    """Raise `ScriptError` at the author's line."""
    raise ScriptError(message, span=current_span(), hint=hint)


def as_region(value: Any, operation: str, name: str) -> BufferRegion:
    """A buffer, slice or element as a region."""
    if isinstance(value, Buffer):
        return value.region()
    if isinstance(value, BufferLoad):
        one = const(1)
        return BufferRegion(value.buffer, value.indices, (one,) * len(value.indices), span=value.span)
    if not isinstance(value, BufferRegion):
        refuse(f"`{name}` of nki.{operation} is {type(value).__name__}, not a tile", "give a buffer or a slice of one")
    region: BufferRegion = value
    return region


def on_chip(value: Any, operation: str, name: str, scopes: Sequence[str]) -> Tile:
    """An operand of an engine in one of the on-chip memories `scopes`."""
    tile = in_memory(value, operation, name, scopes)
    _check_partition_start(tile, operation)
    _check_dimensions(tile, operation)
    _check_psum_start(tile, operation)
    return tile


def in_memory(value: Any, operation: str, name: str, scopes: Sequence[str]) -> Tile:
    """A tile or a slice of device memory that is only copied: no engine limits where it starts."""
    region = as_region(value, operation, name)
    scope = region.buffer.scope_name
    if scope not in scopes:
        refuse(
            f"`{name}` of nki.{operation} is in {scope} memory, not {' or '.join(scopes)}", _other_way(scope, scopes)
        )
    _check_dtype(region, operation, name)
    _check_start(region, operation, name)
    if not is_on_chip(region.buffer):
        extents_of(region)
        return Tile(region, None, name)
    return Tile(region, box_of(region), name)


def _other_way(scope: str, scopes: Sequence[str]) -> str | None:
    """How to get data from `scope` to where it is wanted."""
    if scope == "global":
        return "load it first: Tx.nki.load(tile, data)"
    if "global" in scopes and len(scopes) == 1:
        return "copy between on-chip tiles with Tx.nki.tensor_copy(res, data)"
    if scope == "trn.psum":
        return "copy it to SBUF first: Tx.nki.tensor_copy(tile, data)"
    if scope not in ("trn.sbuf", "trn.psum"):
        return f'allocate it with scope="{scopes[0]}"'
    return None


def scalar(value: Any, operation: str, name: str, partitions: int) -> Expr:
    """A number, or a tile with one element per partition: of float32, but for a bias, which has any type."""
    if not isinstance(value, Buffer | BufferRegion | BufferLoad):
        check_number(value, operation, name)
        if isinstance(value, bool | int | float):
            return as_expr(float(value), "float32")
        return Cast(FLOAT32, value) if isinstance(value, Expr) and value.dtype.is_integer else as_expr(value, "float32")
    tile = on_chip(value, operation, name, ("trn.sbuf", "trn.psum"))
    if tile.box.free != 1 or tile.box.partitions not in (1, partitions):  # legalise spreads one over the partitions
        refuse(
            f"`{name}` of nki.{operation} is a tile of {tile}; it takes a number, or {partitions} x 1",
            "one value per partition; for a value per element use tensortensor",
        )
    if tile.dtype != "float32" and name != "bias":
        refuse(f"`{name}` of nki.{operation} is a tile of {tile.dtype}; a tile of scalars is float32")
    return tile.region


def bit_pattern(value: Any, operation: str, name: str) -> Expr:
    """The integer that bits are combined with."""
    if isinstance(value, Buffer | BufferRegion | BufferLoad):
        refuse(
            f"`{name}` of nki.{operation} is a tile; bits are combined with a number here",
            "use tensortensor for a tile",
        )
    number = whole(value) if not isinstance(value, float) else int(value) if value.is_integer() else None
    if number is None:
        refuse(f"`{name}` of nki.{operation} is {shown(value)}; bits are combined with an integer")
    return const(number, "int32")


def check_number(value: Any, operation: str, name: str) -> None:
    """NaN has no spelling in NKI source, and hides mistakes."""
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - that is what NaN does
        refuse(f"`{name}` of nki.{operation} is not a number (NaN)", "use a finite value or an infinity")


def flag(value: Any, operation: str, name: str) -> Expr:
    """A switch that is known while the kernel is built."""
    expr = const(bool(value)) if isinstance(value, bool | int) else value
    if not (isinstance(expr, IntImm) and expr.dtype.is_bool):
        refuse(f"`{name}` of nki.{operation} is not True or False", "it is decided while the kernel is built")
    return expr


def shown(value: object) -> str:
    """A value in a message: expressions as they are written."""
    return f"`{value.script()}`" if isinstance(value, Expr) else repr(value)


def whole(value: int | Expr) -> int | None:
    """A whole number that is known while the kernel is built."""
    return value if isinstance(value, int) else constant(value)


def _check_dimensions(tile: Tile, operation: str) -> None:
    lead = tile.box.place.partition_dim
    free = sum(extent != 1 for dim, extent in enumerate(tile.box.extents) if dim != lead)
    if free > MAX_FREE_DIMENSIONS:
        refuse(
            f"`{tile.name}` of nki.{operation} has {free} free dimensions; an access has at most {MAX_FREE_DIMENSIONS}",
            "merge dimensions of the tile, or work on slices of it",
        )
    widest = max(tile.box.extents)
    if widest > MAX_COUNT:
        refuse(
            f"`{tile.name}` of nki.{operation} has {widest:,} elements in one dimension; an access counts to {MAX_COUNT:,}",
            "work on slices of it",
        )


def _check_psum_start(tile: Tile, operation: str) -> None:
    """Accesses of PSUM start at whole 4 bytes: AWS's compiler refuses others, its simulator does not see them."""
    size = tile.region.buffer.dtype.bytes
    if tile.scope != PSUM or size >= PSUM_WORD:
        return
    step, position = 1, 0
    for dim in reversed(range(tile.box.place.partition_dim + 1, len(tile.box.extents))):
        start = constant(tile.box.starts[dim])
        if start is None:
            return  # a loop variable: multiples of an aligned tile in all that people write
        position += start * step
        step *= tile.box.place.shape[dim]
    if position * size % PSUM_WORD:
        refuse(
            f"`{tile.name}` of nki.{operation} starts at byte {position * size} of a PSUM bank, which is no multiple of {PSUM_WORD}",
            "start at an even element, or use a float32 tile",
        )


def _check_start(region: BufferRegion, operation: str, name: str) -> None:
    """Python counts negative indices from the end; nothing here does."""
    for dim, start in enumerate(region.starts):
        first = constant(start)
        if first is not None and first < 0:
            refuse(
                f"`{name}` of nki.{operation} starts at {first} in dimension {dim} of `{region.buffer.name}`",
                "indices count from 0; write the size minus what you mean",
            )


def _check_dtype(region: BufferRegion, operation: str, name: str) -> None:
    if region.buffer.dtype.name not in NKI_DTYPES:
        refuse(
            f"`{name}` of nki.{operation} is of type {region.buffer.dtype}, which the engines do not have",
            f"use one of {', '.join(NKI_DTYPES)}",
        )


def _check_partition_start(tile: Tile, operation: str) -> None:
    """More than 64 partitions start at 0, 33 to 64 at 0 or 64, fewer at a multiple of 32 (v2 architecture guide)."""
    start, count = tile.box.starts[tile.box.place.partition_dim], tile.box.partitions
    step = 128 if count > 64 else 64 if count > 32 else 32
    known = constant(start)
    if known is not None and known % step:
        allowed = ", ".join(str(item) for item in range(0, 128, step))
        refuse(
            f"`{tile.name}` of nki.{operation} starts at partition {known}; {count} partitions start at {allowed}",
            "move the rows to the beginning of a tile",
        )
    if known is None and not Analyzer().divides(step, start):
        refuse(
            f"`{tile.name}` of nki.{operation} starts at a partition that is not always a multiple of {step}",
            f"{count} partitions start at multiples of {step}; loop over groups of {step}",
        )
