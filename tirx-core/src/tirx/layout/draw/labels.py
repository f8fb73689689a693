"""What stands in a cell: axes by short names, positions as ranges, copies beside each other.

W5,9 L4     warpid 5 and (a copy) 9, laneid 4
r0-1        elements 0 and 1 of that thread's own storage
"""

from __future__ import annotations

from collections.abc import Sequence

from .banks import Banks
from .cells import Cell, Grid, Place

__all__ = ["axis_names", "cell_lines", "described", "owner_of"]

_SHOWN_COPIES = 2


def axis_names(grid: Grid) -> dict[str, str]:
    """Short names of the axes: as many letters as tell them apart. Linear memory is `r` (register) where threads hold it."""
    others = [axis for axis in grid.axes if axis != "m"]
    names = {axis: _short(axis, [other for other in others if other != axis]) for axis in others}
    if "m" in grid.axes:
        names["m"] = "r" if others else ""
    return names


def _short(axis: str, others: Sequence[str]) -> str:
    for length in range(1, len(axis) + 1):
        short = axis[:length]
        if not any(other[:length].lower() == short.lower() for other in others):
            return short[0].upper() + short[1:]
    return axis


def cell_lines(
    cell: Cell, grid: Grid, names: dict[str, str], banks: Banks | None, *, brief: bool = False
) -> tuple[str, ...]:
    """The lines of text in a cell: what holds the elements, then where in it (and in which bank).

    In brief, only where its first element lies: the heads of columns say how many there are.
    """
    count = 1 if brief else cell.length
    if banks is not None:
        return _positions(cell, "m", 1), _bank_text(cell, banks, count)
    owner = [axis for axis in grid.ordered if axis not in (grid.along, "m")]
    inner = [axis for axis in grid.ordered if axis not in owner]
    lines = [" ".join(names[axis] + _positions(cell, axis, 1) for axis in owner)] if owner else []
    if inner:
        parts = [names[axis] + _positions(cell, axis, count if axis == grid.along else 1) for axis in inner]
        lines.append(" ".join(parts))
    return tuple(lines)


def _positions(cell: Cell, axis: str, count: int) -> str:
    """`5,9` for two copies, `5,..` for more, `0-7` for elements that follow each other."""
    starts = list(dict.fromkeys(place[axis] for place in cell.places))
    if len(starts) > _SHOWN_COPIES:
        return f"{_range(starts[0], count)},.."
    return ",".join(_range(start, count) for start in starts)


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start}-{start + count - 1}"


def _bank_text(cell: Cell, banks: Banks, count: int) -> str:
    held = list(dict.fromkeys(banks.held_by(place["m"], count) for place in cell.places))
    text = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in held[:_SHOWN_COPIES])
    return f"b{text}" if len(held) <= _SHOWN_COPIES else f"b{text},.."


def owner_of(cell: Cell, grid: Grid) -> tuple[int, ...]:
    """Who holds a cell: the threads, or the position on the axes that do not run along the row."""
    axes = grid.threads or tuple(axis for axis in grid.axes if axis != grid.along) or grid.axes
    return tuple(cell.places[0][axis] for axis in axes)


def described(cell: Cell, grid: Grid, banks: Banks | None) -> str:
    """A cell in full words."""
    columns = _range(cell.column, cell.length)
    where = "; also ".join(_place_text(place, cell, grid) for place in cell.places)
    bank = f", bank {_bank_text(cell, banks, cell.length)[1:]}" if banks is not None else ""
    return f"({', '.join([*map(str, grid.coordinates(cell.row)), columns])}): {where}{bank}"


def _place_text(place: Place, cell: Cell, grid: Grid) -> str:
    parts = (f"{axis} {_range(place[axis], cell.length if axis == grid.along else 1)}" for axis in grid.ordered)
    return ", ".join(parts)
