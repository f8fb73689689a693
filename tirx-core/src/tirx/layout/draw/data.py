"""A layout as data for other programs: what `tirx layout --json` writes."""

from __future__ import annotations

from typing import Any

from ..names import axis_named
from .picture import Picture, Shown

__all__ = ["data_of"]


def data_of(picture: Picture) -> dict[str, Any]:
    """The picture as plain values."""
    grid, banks = picture.grid, picture.banks
    return {
        "layout": picture.title,
        "shape": list(grid.shape),
        "axes": {axis: _axis(axis) for axis in grid.ordered},
        "along": grid.along,
        "shown": {"rows": grid.shown_rows, "columns": grid.shown_columns},
        "banks": None if banks is None else banks._asdict(),
        "cells": [_cell(shown, picture) for row in picture.rows for shown in row],
        "turns": None if banks is None else {"rows": list(picture.turns[0]), "columns": list(picture.turns[1])},
        "accesses": [{**access._asdict(), "conflicts": access.conflicts} for access in picture.accesses],
        "notes": list(picture.notes),
    }


def _axis(name: str) -> dict[str, Any]:
    row = axis_named(name)
    level, within, doc = (row.level, row.within, row.doc) if row is not None else (None, None, "")
    return {"kind": "memory" if level is None else "thread", "level": level, "within": within, "doc": doc}


def _cell(shown: Shown, picture: Picture) -> dict[str, Any]:
    """One cell: the coordinates of its first element, how many follow, and where the first lies, each copy of it."""
    cell = shown.cell
    found: dict[str, Any] = {
        "at": [*picture.grid.coordinates(cell.row), cell.column],
        "count": cell.length,
        "places": [dict(place) for place in cell.places],
    }
    if picture.banks is not None:
        found["banks"] = [list(picture.banks.held_by(place["m"], cell.length)) for place in cell.places]
    return found
