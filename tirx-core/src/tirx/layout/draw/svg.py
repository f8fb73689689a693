"""A layout as an SVG picture: a grid of coloured cells with the turns of the banks at its edges, and notes below.

Colours are classes, the same in every picture, so that several can stand on one page; a dark page turns them dark. What a cell
holds is also in words, for those who hover over it and for programs that read pictures aloud.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap

from .banks import Banks
from .labels import described
from .palette import BAD, COLOURS, DARK, FAINT, GOOD, INK, LIGHT, PAPER
from .picture import Picture, Shown
from .text import column_heads, row_heads

__all__ = ["html_of", "svg_of"]

_CHAR = 6.7  # width of a letter of the cells' font
_NOTE_CHAR = 7.3
_PAD = 12
_LINE = 14  # height of a line in a cell
_NOTE_LINE = 18
_LEAST_WIDTH = 400  # so that notes are not broken into shreds
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def svg_of(picture: Picture) -> str:
    """The picture as the text of an SVG file."""
    return "\n".join(_Drawing(picture).lines()) + "\n"


def html_of(picture: Picture) -> str:
    """The picture for a page: as wide as the page, or to be scrolled sideways where it would get too small to read."""
    return f'<div style="overflow-x:auto">{svg_of(picture)}</div>'


class _Drawing:
    """The measures of a picture, and its parts from top to bottom."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.heads, self.left = column_heads(picture), row_heads(picture)
        longest = max(len(text) for text in (*self.heads, *(line for s in _flat(picture) for line in s.lines)))
        self.cell_width = round(max(26, longest * _CHAR + 8))
        self.cell_height = _LINE * max(len(s.lines) for s in _flat(picture)) + 8
        self.margin = round(max(len(text) for text in (*self.left, "turns" if picture.banks else "")) * _CHAR + 8)
        grid = self.margin + self.cell_width * len(self.heads) + (36 if picture.banks else 0)
        self.width = max(grid, _LEAST_WIDTH) + 2 * _PAD
        self.legend = range(picture.banks.groups) if picture.banks and picture.banks.groups <= COLOURS else range(0)
        self.letters = int((self.width - 2 * _PAD) / _NOTE_CHAR)
        self.title = _wrapped(picture.title, self.letters)
        self.top = _PAD + _NOTE_LINE * len(self.title) + 22

    def lines(self) -> Iterator[str]:
        """The file, line by line."""
        body = [*self._titles(), *self._heads(), *self._cells(), *self._turns()]
        y: float = self.top + self.cell_height * len(self.left) + (22 if self.picture.banks else 0) + 14
        if self.picture.banks is not None:
            swatches, y = self._swatches(y, self.picture.banks)
            body += swatches
        for note in self.picture.notes:
            for line in _wrapped(note, self.letters):
                y += _NOTE_LINE
                body.append(_text(_PAD, y - 4, line, "tirx-note"))
        yield from _opened(self.width, y + _PAD, self.picture)
        yield from _style(sorted({*(shown.colour for shown in _flat(self.picture)), *self.legend}))
        yield f'<rect class="tirx-paper" width="{self.width}" height="{y + _PAD}" rx="6"/>'
        yield from body
        yield "</svg>"

    def _titles(self) -> Iterator[str]:
        for number, line in enumerate(self.title):
            yield _text(_PAD, _PAD + 12 + number * _NOTE_LINE, line, "tirx-title")

    def _heads(self) -> Iterator[str]:
        for number, head in enumerate(self.heads):
            yield _text(self._x(number + 0.5), self.top - 6, head, "tirx-head")
        for number, head in enumerate(self.left):
            yield _text(_PAD + self.margin - 6, self._y(number + 0.5) + 4, head, "tirx-head tirx-end")

    def _cells(self) -> Iterator[str]:
        for row, shown in enumerate(self.picture.rows):
            for column, item in enumerate(shown):
                yield from self._cell(row, column, item)

    def _cell(self, row: int, column: int, shown: Shown) -> Iterator[str]:
        cell, x, y = shown.cell, self._x(column), self._y(row)
        yield f'<g class="tirx-cell" data-row="{cell.row}" data-column="{cell.column}" data-count="{cell.length}">'
        yield f"<title>{escape(described(cell, self.picture.grid, self.picture.banks))}</title>"
        yield (
            f'<rect class="tirx-c{shown.colour}" x="{_n(x + 1)}" y="{_n(y + 1)}" width="{self.cell_width - 2}" '
            f'height="{self.cell_height - 2}" rx="3"/>'
        )
        first = y + self.cell_height / 2 - _LINE * (len(shown.lines) - 1) / 2 + 4
        for number, line in enumerate(shown.lines):
            yield _text(x + self.cell_width / 2, first + number * _LINE, line, "tirx-in")
        yield "</g>"

    def _turns(self) -> Iterator[str]:
        along_rows, down_columns = self.picture.turns
        if not along_rows:
            return
        yield _text(self._x(len(self.heads)) + 6, self.top - 6, "turns", "tirx-head tirx-start")
        for number, turns in enumerate(along_rows):
            yield _text(
                self._x(len(self.heads)) + 8, self._y(number + 0.5) + 4, f"x{turns}", _verdict(turns, "tirx-start")
            )
        below = self._y(len(self.left)) + 14
        yield _text(_PAD + self.margin - 6, below, "turns", "tirx-head tirx-end")
        for number, turns in enumerate(down_columns):
            yield _text(self._x(number + 0.5), below, f"x{turns}", _verdict(turns, ""))

    def _swatches(self, y: float, banks: Banks) -> tuple[list[str], float]:
        """The colours of the banks, as many in a row as there is room for."""
        if not self.legend:
            return [], y
        each = banks.number // banks.groups
        names = [f"b{at}" if each == 1 else f"b{at}-{at + each - 1}" for at in range(0, banks.number, each)]
        width = round(max(map(len, names)) * _CHAR + 10)
        per_row = max(1, min(len(names), (self.width - 2 * _PAD) // width))
        drawn = []
        for number, name in enumerate(names):
            x, at = _PAD + number % per_row * width, y + number // per_row * 20
            drawn.append(f'<rect class="tirx-c{number}" x="{x}" y="{_n(at)}" width="{width - 2}" height="18" rx="3"/>')
            drawn.append(_text(x + width / 2 - 1, at + 13, name, "tirx-in"))
        return drawn, y + -(-len(names) // per_row) * 20 + 4

    def _x(self, column: float) -> float:
        return _PAD + self.margin + column * self.cell_width

    def _y(self, row: float) -> float:
        return self.top + row * self.cell_height


def _flat(picture: Picture) -> list[Shown]:
    return [shown for row in picture.rows for shown in row]


def _wrapped(text: str, letters: int) -> list[str]:
    return wrap(text, letters, subsequent_indent="  ", break_on_hyphens=False) or [""]


def _opened(width: float, height: float, picture: Picture) -> Iterator[str]:
    readable = min(width, 760)  # narrower, and letters get too small: a page scrolls instead
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tirx-layout" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'width="{_n(width)}" height="{_n(height)}" role="img" style="max-width:100%;height:auto;'
        f'min-width:{_n(min(readable, width * 0.8))}px">'
    )
    yield f"<title>{escape(picture.title)}</title>"
    yield f"<desc>{escape('. '.join(picture.notes))}</desc>"


def _style(used: Sequence[int]) -> Iterator[str]:
    yield "<style>"
    yield f".tirx-layout text {{ font-family: {_FONTS}; font-size: 11px; text-anchor: middle }}"
    yield ".tirx-layout .tirx-title { font-size: 12px; font-weight: 600; text-anchor: start }"
    yield ".tirx-layout .tirx-note { font-size: 12px; text-anchor: start }"
    yield ".tirx-layout .tirx-end { text-anchor: end }"
    yield ".tirx-layout .tirx-start { text-anchor: start }"
    yield from _colours(0, LIGHT, used)
    yield "@media (prefers-color-scheme: dark) {"
    yield from _colours(1, DARK, used)
    yield "}"
    yield "</style>"


def _colours(page: int, fills: Sequence[str], used: Sequence[int]) -> Iterator[str]:
    yield f".tirx-layout .tirx-paper {{ fill: {PAPER[page]} }}"
    yield f".tirx-layout .tirx-title, .tirx-layout .tirx-note, .tirx-layout .tirx-in {{ fill: {INK[page]} }}"
    yield f".tirx-layout .tirx-head {{ fill: {FAINT[page]} }}"
    yield f".tirx-layout .tirx-good {{ fill: {GOOD[page]} }}"
    yield f".tirx-layout .tirx-bad {{ fill: {BAD[page]}; font-weight: 600 }}"
    for number in used:
        yield f".tirx-layout .tirx-c{number} {{ fill: {fills[number]} }}"


def _verdict(turns: int, kind: str) -> str:
    return f"{'tirx-good' if turns == 1 else 'tirx-bad'} {kind}".strip()


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{escape(text)}</text>'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
