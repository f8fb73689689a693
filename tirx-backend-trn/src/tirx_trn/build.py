"""One instruction from what the author writes: operands converted and checked by the table, then the call."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call
from tirx.ir import FLOAT32, Call, Cast, Expr, const
from tirx.support.errors import Diagnostic, ScriptError

from .box import constant
from .op import ROWS
from .opcodes import BITS, canonical, checked_opcode
from .operands import Region, Tile, bit_pattern, check_number, flag, in_memory, on_chip, refuse, scalar, shown, whole
from .rules import RULES
from .table import TABLE, Field, Instruction, Option, source_of
from .written import Written

__all__ = ["build"]

_TILES = ("tile", "copied", "device")


def build(name: str, *values: Any, spelled: str = "", **options: Any) -> Call:
    """The call of instruction `name`; `spelled` is the name that the author used, where NKI's differs.

    What the instruction does not take is an error at the author's line, with the page that says so.
    """
    try:
        return _built(TABLE[name], values, spelled, options)
    except ScriptError as error:
        first = error.diagnostics[0]
        error.diagnostics = (Diagnostic(first.message, first.span, first.hint, (*first.notes, source_of(TABLE[name]))),)
        raise


def _built(item: Instruction, values: tuple[Any, ...], spelled: str, options: dict[str, Any]) -> Call:
    made = Written(item, spelled)
    fields = [*item.fields, *[item.fields[-1]] * (len(values) - len(item.fields))]
    given = [(field, value) for field, value in zip(fields, values, strict=False) if value is not None]
    converted = {id(field): _early(made, field, value) for field, value in given if field.role in (*_TILES, "opcode")}
    args = [converted[id(field)] if id(field) in converted else _late(made, field, value) for field, value in given]
    made.args = args
    _check_shapes(made)
    for option in item.options:
        if option.name in options:
            options[option.name] = _option(made, option, options[option.name])
    made.options = {option.name: options.get(option.name, option.default) for option in item.options}
    _check_engine(made)
    for rule in item.rules:
        RULES[rule](made)
    return call(ROWS[item.name], *args, **options)


def _early(made: Written, field: Field, value: Any) -> Any:
    """Tiles and opcodes first: other operands depend on them."""
    label = made.label(field)
    if field.role == "opcode":
        made.opcodes[field.name] = checked_opcode(value, field.allowed, made.spelled, label)
        return made.opcodes[field.name]
    tile = (on_chip if field.role == "tile" else in_memory)(value, made.spelled, label, field.scopes)
    made.tiles[field.name] = tile
    if field.dtypes and tile.dtype not in field.dtypes:
        refuse(f"`{label}` of nki.{made.spelled} is of type {tile.dtype}", f"it takes {', '.join(field.dtypes)}")
    return tile.region


def _late(made: Written, field: Field, value: Any) -> Any:
    label = made.label(field)
    if field.role == "scalar":
        if any(opcode in BITS for opcode in made.opcodes.values()):
            return bit_pattern(value, made.spelled, label)
        return scalar(value, made.spelled, label, made.reference.box.partitions)
    if field.role == "flag":
        return flag(value, made.spelled, label)
    if field.role == "condition":
        return const(bool(value)) if isinstance(value, bool | int) else value
    if field.role == "number":
        return _number(made, field, value)
    return value if field.role == "predicate" else _constant(made, label, value)


def _number(made: Written, field: Field, value: Any) -> Any:
    """A plain number; that of a memset is one of the tile's type."""
    label = made.label(field)
    if not isinstance(value, bool | int | float | Expr) or isinstance(value, Region):
        what = "a tile" if isinstance(value, Region) else type(value).__name__
        hint = "swap the values and turn the comparison round" if field.name == "false_value" else None
        refuse(f"`{label}` of nki.{made.spelled} is {what}; it is a number", hint)
    check_number(value, made.spelled, label)
    if field.dtypes:
        return float(value) if field.dtypes == ("float32",) and isinstance(value, bool | int | float) else value
    kind = made.reference.region.buffer.dtype
    if kind.is_integer and isinstance(value, float) and not value.is_integer():
        refuse(
            f"`{label}` of nki.{made.spelled} is {value!r}, which is no {kind}", "set an integer, or use a float tile"
        )
    if isinstance(value, bool | int | float):
        return const(value, kind)
    return Cast(FLOAT32, value) if kind.is_float and value.dtype.is_integer else value


def _constant(made: Written, label: str, value: Any) -> int:
    number = whole(value) if not isinstance(value, bool | float | str) else None
    if number is None:
        refuse(
            f"`{label}` of nki.{made.spelled} is {shown(value)}; it is a whole number that is known while the kernel is built"
        )
    return number


def _check_shapes(made: Written) -> None:
    """Tiles of the shape that the table gives: nothing is broadcast."""
    wanted = {"same": None, "column": 1, "eight": 8}
    reference = made.reference if any(tile.is_on_chip for tile in made.tiles.values()) else None
    for field in made.item.fields:
        tile = made.tiles.get(field.name)
        if tile is None or not tile.is_on_chip or field.shape not in wanted or reference is None:
            continue
        if field.shape == "same":
            _check_same(made, reference, tile)
        elif tile.size != (reference.box.partitions, wanted[field.shape]):
            refuse(
                f"`{tile.name}` of nki.{made.spelled} covers {tile}, not {reference.box.partitions} x {wanted[field.shape]}"
            )


def _check_same(made: Written, first: Tile, other: Tile) -> None:
    if other.size != first.size:
        refuse(
            f"`{other.name}` of nki.{made.spelled} covers {other} (partitions x elements), `{first.name}` covers {first}",
            "operands have equal partition and element counts; nothing is broadcast",
        )


def _option(made: Written, option: Option, value: Any) -> Any:
    """The value of a keyword: one of those that it may have, or an integer."""
    if option.form == "opcode":
        value = canonical(value)
    if option.form == "int":
        number = whole(value)
        if number is None:
            refuse(f"`{option.name}` of nki.{made.spelled} is {shown(value)}; it is a whole number")
        return number
    if option.form == "pair":
        return _pair(made, option, value)
    if option.form == "flag" and isinstance(value, Expr):
        value = bool(constant(value))
    if value not in option.allowed:
        refuse(
            f"`{option.name}` of nki.{made.spelled} is {shown(value)}",
            f"it is one of {', '.join(map(str, option.allowed))}",
        )
    return value


def _pair(made: Written, option: Option, value: Any) -> tuple[int, ...]:
    """Two whole numbers, or none."""
    items = tuple(value) if isinstance(value, tuple | list) else (value,)
    numbers = tuple(whole(item) for item in items if not isinstance(item, bool | float | str))
    found = tuple(number for number in numbers if number is not None)
    if len(found) != len(items) or len(found) not in (0, 2):
        refuse(
            f"`{option.name}` of nki.{made.spelled} is {shown(value)}",
            "it is a row and a column, known while the kernel is built: (64, 0)",
        )
    return found


def _check_engine(made: Written) -> None:
    if made.options.get("engine") == "gpsimd":
        for tile in made.tiles.values():
            if tile.scope == "trn.psum":
                refuse(
                    f"`{tile.name}` of nki.{made.spelled} is in trn.psum memory, which the GpSimd engine cannot reach"
                )
