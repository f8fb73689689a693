"""Source text under construction: indented lines, each remembering the author's place that it came from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..support.span import Span
from .literal import quoted
from .wrap import wrapped

__all__ = ["SourceWriter"]


class SourceWriter:
    """Lines with indentation. `directives` inserts `#line` wherever the author's line is not the one that follows by itself.

    `places` maps 1-based line numbers of the text to the spans given to `line`.
    """

    __slots__ = ("_depth", "_directives", "_expected", "_indent", "_lines", "places")

    def __init__(self, *, indent: str = "  ", directives: bool = False) -> None:
        self._lines: list[str] = []
        self._depth = 0
        self._indent = indent
        self._directives = directives
        self._expected: tuple[str, int] | None = None
        self.places: dict[int, Span] = {}

    def line(self, text: str = "", span: Span | None = None) -> None:
        """Append `text` (which may hold several lines) at the current indentation."""
        if span is not None and self._directives:
            self._direct(span)
        for part in text.split("\n"):
            for line in wrapped(self._indent * self._depth + part if part else ""):
                self._lines.append(line)
                if span is not None:
                    self.places[len(self._lines)] = span
                if self._expected is not None:
                    self._expected = (self._expected[0], self._expected[1] + 1)

    def _direct(self, span: Span) -> None:
        if self._expected != (span.path, span.line):
            self._lines.append(f"#line {span.line} {quoted(span.path)}")
        self._expected = (span.path, span.line)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """One level deeper."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @contextmanager
    def block(self, head: str, tail: str = "}", span: Span | None = None) -> Iterator[None]:
        """`head {`, what is written inside, `tail`."""
        self.line(f"{head} {{", span)
        with self.indented():
            yield
        self.line(tail)

    def amend(self, text: str) -> None:
        """Replace the last line by `text` at the current indentation (`}` becomes `} else {`)."""
        self._lines[-1] = self._indent * self._depth + text

    def append(self, other: SourceWriter) -> None:
        """All lines of another writer, with their places."""
        start = len(self._lines)
        self._lines += other._lines
        self.places.update({start + number: span for number, span in other.places.items()})

    def text(self) -> str:
        """Everything so far, ending in one newline."""
        return "\n".join(self._lines).rstrip("\n") + "\n"

    def __len__(self) -> int:
        return len(self._lines)
