"""Which cell of a picture holds what: a layout as rows of cells, neighbours along a row that lie side by side as one.

`physical` of a layout is asked for each element that is shown, so a picture can show no other layout than the one that kernels
are lowered with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import gcd, prod
from typing import Any, NamedTuple

from ...ir import current_span
from ...support.errors import LayoutError
from ..names import axis_named

__all__ = ["Cell", "Grid", "Place", "extents_of", "grid_of", "is_linear", "is_memory"]

Place = dict[str, int]
"""Position on each axis."""

_LEVELS = ("cluster", "cta", "warpgroup", "warp", "thread")  # of what an axis counts
_Unit = Callable[[int], int] | None
_COPIES = 16  # of an element that are told apart
_SCANNED = 512  # columns that are looked at before some are left out


class Cell(NamedTuple):
    """`length` elements of one row from `column` on, and where the first lies (each copy); the others follow it."""

    row: int
    column: int
    length: int
    places: tuple[Place, ...]


class Grid(NamedTuple):
    """Rows and columns of a layout's elements, the upper left part of them as cells."""

    shape: tuple[int, ...]
    rows: int
    columns: int
    axes: tuple[str, ...]
    copies: int  # places of each element
    along: str | None  # the memory axis on which the elements of a cell follow each other
    step: int  # elements of a cell
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def shown_rows(self) -> int:
        """How many rows are shown."""
        return len(self.cells)

    @property
    def shown_columns(self) -> int:
        """How many columns are shown."""
        return len(self.cells[0]) * self.step

    @property
    def threads(self) -> tuple[str, ...]:
        """The axes that count threads or groups of them, the largest groups first."""
        return tuple(sorted((axis for axis in self.axes if not is_memory(axis)), key=_fineness))

    @property
    def ordered(self) -> tuple[str, ...]:
        """The axes as they are read: who holds an element, then where, what runs along a row last."""
        memory = sorted((axis for axis in self.axes if is_memory(axis)), key=lambda axis: axis == self.along)
        return (*self.threads, *memory)

    @property
    def is_linear(self) -> bool:
        """Whether the elements lie in linear memory and nothing else."""
        return self.axes == ("m",)

    def coordinates(self, row: int) -> tuple[int, ...]:
        """The coordinates of a row, without the last dimension."""
        found = []
        for extent in reversed(self.shape[:-1]):
            row, index = divmod(row, extent)
            found.append(index)
        return tuple(reversed(found))

    def flat(self) -> Iterator[Cell]:
        """All cells."""
        for row in self.cells:
            yield from row


def is_memory(axis: str) -> bool:
    """Whether an axis counts positions in storage."""
    row = axis_named(axis)
    return row is None or row.is_memory()


def is_linear(layout: Any) -> bool:
    """Whether a layout's elements lie in linear memory and nothing else."""
    return tuple(layout.axes()) == ("m",)


def _fineness(axis: str) -> int:
    row = axis_named(axis)
    return _LEVELS.index(row.level) if row is not None and row.level in _LEVELS else len(_LEVELS)


def grid_of(layout: Any, shape: Sequence[int], limit: tuple[int, int], unit: _Unit) -> Grid:
    """The grid of a layout over `shape`. Elements whose positions `m` have another `unit` never share a cell."""
    extents = extents_of(shape)
    if prod(extents) != _constant(layout.size()):
        raise LayoutError(
            f"shape {tuple(extents)} has {prod(extents)} elements, the layout {layout.size()}",
            span=current_span(),
            hint="give a shape of as many elements as the layout has",
        )
    rows, columns = prod(extents[:-1]), extents[-1]
    copies = copies_of(layout)
    whole = Grid(extents, rows, columns, tuple(layout.axes()), _count_of_copies(layout), None, 1, ())
    memory = [axis for axis in whole.axes if is_memory(axis)]
    first = _row(copies, 0, min(columns, _SCANNED), whole)
    most = limit[1] * _best_run([first], memory, columns, unit)[1]  # no row has longer cells than the first
    scanned = [first[:most], *(_row(copies, row, len(first[:most]), whole) for row in range(1, min(rows, limit[0])))]
    along, step = _best_run(scanned, memory, columns, unit)
    kept = min(limit[1], len(scanned[0]) // step) * step
    cells = tuple(
        tuple(Cell(row, column, step, places[column]) for column in range(0, kept, step))
        for row, places in enumerate(scanned)
    )
    return whole._replace(along=along, step=step, cells=cells)


def extents_of(shape: Sequence[Any]) -> tuple[int, ...]:
    """The extents of a shape; `LayoutError` unless they are positive constants."""
    extents = tuple(_constant(extent) for extent in shape)
    if not extents or any(extent < 1 for extent in extents):
        raise LayoutError(f"a shape has positive extents, not {extents}", span=current_span(), hint="write (8, 16)")
    return extents


def copies_of(layout: Any) -> list[Any]:
    """The layouts of the (first) copies of the elements: replicas spelt out as offsets."""
    inner = getattr(layout, "tile_layout", None)
    if inner is not None:
        return [layout.with_tile(copy) for copy in copies_of(inner)]
    replica = getattr(layout, "replica", ())
    if not replica:
        return [layout]
    return [_copy(layout, number) for number in range(min(_count_of_copies(layout), _COPIES))]


def _copy(layout: Any, number: int) -> Any:
    offset = dict(layout.offset)
    for item in reversed(layout.replica):
        number, step = divmod(number, _constant(item.extent))
        offset[item.axis] = offset.get(item.axis, 0) + step * item.stride
    return type(layout).from_iters(layout.shard, (), offset)


def _count_of_copies(layout: Any) -> int:
    inner = getattr(layout, "tile_layout", layout)
    return prod(_constant(item.extent) for item in getattr(inner, "replica", ()))


def _row(copies: list[Any], row: int, width: int, grid: Grid) -> list[tuple[Place, ...]]:
    lead = grid.coordinates(row)
    return [tuple(_place(copy, (*lead, column), grid) for copy in copies) for column in range(width)]


def _place(layout: Any, coord: tuple[int, ...], grid: Grid) -> Place:
    found = layout.physical(coord, grid.shape)
    return {axis: _constant(found.get(axis, 0)) for axis in grid.axes}


def _constant(value: Any) -> int:
    if isinstance(value, int):
        return value
    text = value.script() if hasattr(value, "script") else repr(value)
    raise LayoutError(
        f"`{text}` is not constant; a picture needs numbers", span=current_span(), hint="give the symbol a value first"
    )


def _best_run(
    rows: list[list[tuple[Place, ...]]], axes: list[str], columns: int, unit: _Unit
) -> tuple[str | None, int]:
    """The axis along which most neighbours lie side by side, and how many of them make a cell everywhere."""
    found = [(_step(rows, axis, columns, unit), axis) for axis in axes]
    step, along = max(found, key=lambda item: item[0], default=(1, None))
    return (along, step) if step > 1 else (None, 1)


def _step(rows: list[list[tuple[Place, ...]]], axis: str, columns: int, unit: _Unit) -> int:
    step = gcd(columns, len(rows[0]))
    for places in rows:
        for column in range(1, len(places)):
            if not _follows(places[column - 1], places[column], axis, unit):
                step = gcd(step, column)
                if step == 1:
                    return 1
    return step


def _follows(before: tuple[Place, ...], after: tuple[Place, ...], axis: str, unit: _Unit) -> bool:
    return all(
        all(b[name] == a[name] + (name == axis) for name in a) and (unit is None or unit(a["m"]) == unit(b["m"]))
        for a, b in zip(before, after, strict=True)
    )
