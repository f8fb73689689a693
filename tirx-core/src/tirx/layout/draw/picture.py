"""A layout made ready to be shown, as a picture, as text or as data: cells, what is written in them, and notes in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

from ...ir import DType, current_span
from ...support.errors import LayoutError
from ..names import axis_named
from .banks import Access, Banks, accesses, check_banks, fitted, margins
from .cells import Cell, Grid, extents_of, grid_of, is_linear
from .labels import axis_names, cell_lines, owner_of
from .palette import COLOURS

__all__ = ["BANKS", "LIMIT", "VECTOR", "Picture", "Shown", "picture_of"]

BANKS = (32, 4)
"""How many banks memory has, and the bytes of a word."""
VECTOR = 16
"""Bytes that one thread reads at once."""
LIMIT = (64, 32)
"""Rows and columns of cells that are shown."""


class Shown(NamedTuple):
    """A cell, its lines of text and the number of its colour."""

    cell: Cell
    lines: tuple[str, ...]
    colour: int


class Picture(NamedTuple):
    """All that a picture of a layout shows."""

    title: str
    grid: Grid
    names: dict[str, str]  # short names of axes
    rows: tuple[tuple[Shown, ...], ...]
    banks: Banks | None  # of layouts that are linear memory
    accesses: tuple[Access, ...]
    turns: tuple[tuple[int, ...], tuple[int, ...]]  # of each row, of each column of cells
    notes: tuple[str, ...]


def picture_of(
    layout: Any,
    shape: Sequence[int] | None = None,
    *,
    dtype: Any = None,
    banks: tuple[int, int] = BANKS,
    vector: int = VECTOR,
    lanes: int | None = None,
    limit: tuple[int, int] = LIMIT,
) -> Picture:
    """A layout over `shape` (default: rows and columns that suit it), ready to be shown."""
    bits = _bits_of(dtype) if dtype is not None else _usual_bits(layout, vector)
    count, width = banks
    model = check_banks(Banks(count, width, vector, count if lanes is None else lanes, bits))
    _check_limit(limit)
    extents = extents_of(shape) if shape is not None else usual_shape(layout, model)
    grid = grid_of(layout, extents, limit, model.vector_of if is_linear(layout) else None)
    used = fitted(model, grid) if grid.is_linear else None
    names = axis_names(grid)
    found = accesses(grid, used) if used is not None else ()
    return Picture(
        title=title_of(layout),
        grid=grid,
        names=names,
        rows=_coloured(grid, names, used),
        banks=used,
        accesses=found,
        turns=margins(grid, used) if used is not None else ((), ()),
        notes=(*_notes(grid, names, used, dtype), *(_access_note(item) for item in found)),
    )


def title_of(layout: Any) -> str:
    """The layout as it is written, without the names of modules and classes that say nothing here."""
    text = repr(layout).replace("Axis.", "").replace(" @ ", "@")
    return text.removeprefix("TileLayout(").removesuffix(")") if text.startswith("TileLayout(") else text


def _bits_of(dtype: Any) -> int:
    try:
        bits = DType(dtype).total_bits
    except ValueError as error:
        raise LayoutError(str(error), span=current_span()) from None
    if not bits:
        raise LayoutError(f"elements of type {dtype} take no storage", span=current_span())
    return bits


def _usual_bits(layout: Any, vector: int) -> int:
    """Bits of an element when no dtype is given: a swizzle moves whole vectors, other layouts hold float32."""
    chunk = getattr(layout, "per_element", None)
    return max(1, 8 * vector >> chunk) if isinstance(chunk, int) else 32


def _check_limit(limit: tuple[int, int]) -> None:
    if min(limit) < 1:
        raise LayoutError(
            f"a limit is rows and columns that are shown, not {limit}", span=current_span(), hint="write (64, 32)"
        )


def usual_shape(layout: Any, banks: Banks) -> tuple[int, int]:
    """Rows and columns when no shape is given: a swizzle's own rows, rounds of the banks, or as square as the iters allow."""
    inner = getattr(layout, "tile_layout", layout)
    extents = extents_of([item.extent for item in inner.shard])
    size = prod(extents)
    if inner is not layout:
        row = 1 << (layout.per_element + layout.atom_len)
    else:
        row = 8 * banks.number * banks.width // banks.bits if tuple(inner.axes()) == ("m",) else size
    if len([extent for extent in extents if extent > 1]) < 2:
        return (size // row, row) if row and size % row == 0 else (1, size)
    splits = [prod(extents[:at]) for at in range(1, len(extents))]
    rows = min(splits, key=lambda rows: (max(rows, size // rows), rows))
    return rows, size // rows


def _coloured(grid: Grid, names: dict[str, str], banks: Banks | None) -> tuple[tuple[Shown, ...], ...]:
    """Each cell in the colour of its banks, or of who holds it."""
    owners = {owner: number for number, owner in enumerate(sorted({owner_of(cell, grid) for cell in grid.flat()}))}

    def number(cell: Cell) -> int:
        if banks is not None:
            return banks.vector_of(cell.places[0]["m"]) % banks.groups % COLOURS
        return owners[owner_of(cell, grid)] % COLOURS

    return tuple(
        tuple(Shown(cell, cell_lines(cell, grid, names, banks), number(cell)) for cell in row) for row in grid.cells
    )


# ---- notes ------------------------------------------------------------------------------------------------------------


def _notes(grid: Grid, names: dict[str, str], banks: Banks | None, dtype: Any) -> Iterator[str]:
    yield from _cut_note(grid)
    if banks is None:
        yield from (f"{names[axis]}: {axis}, {_meaning(axis, grid)}" for axis in grid.ordered)
    else:
        size = f"{dtype}" if dtype is not None else f"{banks.bits}-bit"
        first = "first " if grid.step > 1 else ""
        yield f"number: position of the {first}element ({size}); b: bank, of {banks.number} with {banks.width} bytes each"
        each = -(-banks.vector // banks.width)
        yield f"colour: the banks, {each} at a time ({each * banks.width} bytes)" if each > 1 else "colour: the bank"
    yield from _copies_note(grid)
    yield from _shared_note(grid)


def _meaning(axis: str, grid: Grid) -> str:
    if axis == "m" and grid.threads:
        return "elements of a thread's own storage"
    row = axis_named(axis)
    return row.doc if row is not None else "positions"


def _cut_note(grid: Grid) -> Iterator[str]:
    cut = [
        f"{name} 0-{shown - 1} of {whole}"
        for name, shown, whole in (("rows", grid.shown_rows, grid.rows), ("columns", grid.shown_columns, grid.columns))
        if shown < whole
    ]
    if cut:
        yield f"only {' and '.join(cut)} are shown" + (" and counted" if grid.is_linear else "")


def _copies_note(grid: Grid) -> Iterator[str]:
    first, *others = grid.cells[0][0].places
    if not others:
        return
    moves = [_move(first, other) for other in others[:3]]
    more = f", and {grid.copies - 4} more" if grid.copies > 4 else ""
    yield f"each element is held {grid.copies} times: again at {'; '.join(moves)}{more}"


def _move(first: dict[str, int], other: dict[str, int]) -> str:
    return (
        ", ".join(f"{axis} {other[axis] - first[axis]:+d}" for axis in first if other[axis] != first[axis])
        or "the same place"
    )


def _shared_note(grid: Grid) -> Iterator[str]:
    """Two elements in one place: a layout of a broadcast, or a mistake."""
    seen: dict[tuple[int, ...], Cell] = {}
    for cell in grid.flat():
        for step in range(cell.length):
            place = tuple(cell.places[0][axis] + (step if axis == grid.along else 0) for axis in grid.axes)
            known = seen.setdefault(place, cell)
            if known is not cell:
                yield f"several elements share a place: {_where(known, grid)} and {_where(cell, grid)}, for example"
                return


def _where(cell: Cell, grid: Grid) -> str:
    return f"({', '.join(map(str, (*grid.coordinates(cell.row), cell.column)))})"


def _access_note(access: Access) -> str:
    order = {"row": "along rows", "column": "down columns"}[access.name]
    reads = f"{access.lanes} threads read {access.bytes} bytes each {order}"
    if access.conflicts == 0:
        return f"{reads}: no bank conflicts"
    return (
        f"{reads}: {access.conflicts} bank conflicts ({access.turns} turns where {access.requests} suffice; "
        f"up to {access.worst} threads meet in one bank)"
    )
