"""Small HTML for notebooks: texts side by side, tables, verdicts. No scripts, no style sheets, readable in light and dark."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Iterable, Sequence
from html import escape
from tokenize import TokenError

from .span import Span

__all__ = ["beside", "block_of", "folded", "heading", "panel", "table"]

_MONO = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12px;line-height:1.4"
_PRE = f"margin:0;padding:6px 8px;overflow-x:auto;text-align:left;white-space:pre;background:transparent;{_MONO}"
_EDGE = "1px solid rgba(128,128,128,.4)"
_CELL = f"padding:2px 10px;text-align:left;border-bottom:{_EDGE};{_MONO}"
_COLOURS = {
    "clean": "#238a41",
    "ok": "#238a41",
    "error": "#df3a44",
    "incomplete": "#a06d00",
}  # legible on white and on black


def panel(title: str, text: str) -> str:
    """A titled block of text."""
    return (
        f'<div style="flex:1 1 320px;min-width:0;border:{_EDGE};border-radius:4px">'
        f'<div style="padding:3px 8px;border-bottom:{_EDGE};font-size:12px;opacity:.8">{escape(title)}</div>'
        f'<pre style="{_PRE}">{escape(text.rstrip())}</pre></div>'
    )


def beside(panels: Iterable[tuple[str, str]]) -> str:
    """Titled texts beside each other, below each other where there is no room; empty ones are left out."""
    shown = "".join(panel(title, text) for title, text in panels if text.strip())
    return f'<div style="display:flex;flex-wrap:wrap;gap:8px;align-items:flex-start">{shown}</div>'


def heading(text: str, verdict: str = "") -> str:
    """A line above the rest, with a verdict in its colour."""
    colour = _COLOURS.get(verdict, "inherit")
    mark = f' <b style="color:{colour}">{escape(verdict)}</b>' if verdict else ""
    return f'<div style="margin:4px 0;text-align:left">{escape(text)}{mark}</div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of plain values."""
    head = _row("th", columns)
    body = "".join(_row("td", row) for row in rows)
    return (
        f'<div style="overflow-x:auto"><table style="border-collapse:collapse"><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(tag: str, items: Iterable[object]) -> str:
    cells = "".join(f'<{tag} style="{_CELL}">{escape(str(item))}</{tag}>' for item in items)
    return f"<tr>{cells}</tr>"


def folded(title: str, text: str) -> str:
    """A text that opens when its title is clicked."""
    return (
        f'<details style="margin:2px 0"><summary style="{_MONO}">{escape(title)}</summary>'
        f'<pre style="{_PRE}">{escape(text.rstrip())}</pre></details>'
    )


def block_of(span: Span | None) -> str:
    """The author's text of the function that starts at `span`, decorators included; empty where it cannot be had."""
    lines = linecache.getlines(span.path) if span is not None else []
    if span is None or not 0 < span.line <= len(lines):
        return ""
    start = span.line - 1
    try:
        block = inspect.getblock(lines[start:])
    except (IndentationError, SyntaxError, TokenError):
        return ""
    while start > 0 and lines[start - 1].lstrip().startswith("@"):
        start -= 1
    return inspect.cleandoc("\n" + "".join([*lines[start : span.line - 1], *block]))
