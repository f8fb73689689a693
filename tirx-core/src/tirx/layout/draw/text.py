"""A layout as text: a grid for terminals, in colour where they have it, and the notes below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .labels import cell_lines
from .palette import LIGHT
from .picture import Picture, Shown

__all__ = ["column_heads", "row_heads", "text_of"]


def text_of(picture: Picture, *, colour: bool = False) -> str:
    """The picture as lines of text."""
    lines = [picture.title, "", *_grid(picture, colour), "", *picture.notes]
    return "\n".join(line.rstrip() for line in lines)


def row_heads(picture: Picture) -> list[str]:
    """The coordinates of each row, without its last dimension."""
    grid = picture.grid
    return [",".join(map(str, grid.coordinates(row))) or "0" for row in range(grid.shown_rows)]


def column_heads(picture: Picture) -> list[str]:
    """The columns of each column of cells."""
    step = picture.grid.step
    starts = [shown.cell.column for shown in picture.rows[0]]
    return [str(start) if step == 1 else f"{start}-{start + step - 1}" for start in starts]


def _grid(picture: Picture, colour: bool) -> Iterator[str]:
    heads, left = column_heads(picture), row_heads(picture)
    along_rows, down_columns = picture.turns
    texts = [[_text(picture, shown) for shown in row] for row in picture.rows]
    feet = [f"x{turns}" for turns in down_columns] or ["" for _ in heads]
    widths = [max(map(len, column)) for column in zip(heads, feet, *texts, strict=True)]
    margin = max(len(text) for text in (*left, "turns" if down_columns else ""))
    yield _line(" " * margin, heads, widths) + ("  turns" if along_rows else "")
    for number, (head, row) in enumerate(zip(left, picture.rows, strict=True)):
        cells = [
            _cell(text, shown, width, colour) for text, shown, width in zip(texts[number], row, widths, strict=True)
        ]
        end = f"  x{along_rows[number]}" if along_rows else ""
        yield f"{head.rjust(margin)}  {'  '.join(cells)}{end}"
    if down_columns:
        yield _line("turns".rjust(margin), feet, widths)


def _line(head: str, texts: Sequence[str], widths: Sequence[int]) -> str:
    return f"{head}  {'  '.join(text.ljust(width) for text, width in zip(texts, widths, strict=True))}"


def _text(picture: Picture, shown: Shown) -> str:
    return " ".join(cell_lines(shown.cell, picture.grid, picture.names, picture.banks, brief=True))


def _cell(text: str, shown: Shown, width: int, colour: bool) -> str:
    text = text.ljust(width)
    if not colour:
        return text
    red, green, blue = (int(LIGHT[shown.colour][at : at + 2], 16) for at in (1, 3, 5))
    return f"\x1b[38;2;17;24;32;48;2;{red};{green};{blue}m{text}\x1b[0m"
