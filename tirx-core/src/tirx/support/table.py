"""Tables of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["table"]


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Aligned columns below their names; numbers stand to the right."""
    body = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(header, *body, strict=True)]
    numeric = [bool(body) and all(_is_number(row[i]) for row in body) for i in range(len(header))]
    lines = [_line(header, widths, [False] * len(header)), *(_line(row, widths, numeric) for row in body)]
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [
        cell.rjust(width) if flag else cell.ljust(width) for cell, width, flag in zip(row, widths, right, strict=True)
    ]
    return "  ".join(cells).rstrip()


def _is_number(text: str) -> bool:
    return text.replace(",", "").replace(".", "").replace("-", "").isdigit() or text == "-"
