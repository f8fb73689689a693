"""Places in source files: where a node was written, and through which calls.

A span is captured thousands of times while a kernel is built and read almost never, so it stores the code object and
the instruction offset of the author's frame and computes line and columns only when somebody asks.
"""

from __future__ import annotations

import os
import sys
from _weakref import ref
from contextvars import ContextVar
from types import CodeType, FrameType

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 4 ms at start-up
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Position",
    "Span",
    "add_author_file",
    "add_internal_root",
    "add_root_code",
    "here",
    "is_internal",
    "is_part_of_caller",
    "is_pinned",
    "pin",
    "register_positions",
]

Position = tuple[int | None, int | None, int | None, int | None]
"""Line, end line, column, end column."""

_internal_roots: list[str] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep]
_author_files: set[str] = set()
_internal: dict[str, bool] = {}
_root_codes: dict[int, CodeType] = {}  # by identity: hashing a code object reads all of it
_column_index: dict[int, tuple[ref[CodeType], list[Position]]] = {}
_MAX_CALLERS = 16
_pinned: ContextVar[tuple[Span | None] | None] = ContextVar("tirx_pinned_span", default=None)
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class Span:
    """A place in a source file: `path`, 1-based `line`, 0-based `column`, their ends, and the span of the caller.

    Columns are `None` where the interpreter does not know them (Python 3.10, or code without positions).
    """

    __slots__ = ("_code", "_column", "_end_column", "_end_line", "_lasti", "_line", "called_from", "path")

    def __init__(
        self,
        path: str,
        line: int,
        column: int | None = None,
        end_line: int | None = None,
        end_column: int | None = None,
        called_from: Span | None = None,
    ) -> None:
        self.path = path
        self._line: int | None = line
        self._column = column
        self._end_line = end_line
        self._end_column = end_column
        self.called_from = called_from
        self._code: CodeType | None = None
        self._lasti = 0

    @classmethod
    def of_code(cls, code: CodeType, lasti: int, called_from: Span | None = None) -> Span:
        """The place of the instruction at offset `lasti` of `code`."""
        span = cls.__new__(cls)
        span._code = code
        span._lasti = lasti
        span.path = code.co_filename
        span.called_from = called_from
        return span

    @property
    def line(self) -> int:
        """1-based line."""
        self._resolve()
        return self._line or 0

    @property
    def column(self) -> int | None:
        """0-based column of the first character."""
        self._resolve()
        return self._column

    @property
    def end_line(self) -> int | None:
        """1-based last line."""
        self._resolve()
        return self._end_line

    @property
    def end_column(self) -> int | None:
        """0-based column after the last character."""
        self._resolve()
        return self._end_column

    def __str__(self) -> str:
        column = "" if self.column is None else f":{self.column + 1}"
        return f"{self.path}:{self.line}{column}"

    def __repr__(self) -> str:
        return f"<Span {self}>"

    def _resolve(self) -> None:
        code = self._code
        if code is None:
            return
        line, end_line, column, end_column = _positions(code, self._lasti)
        self._line, self._end_line, self._column, self._end_column = line, end_line, column, end_column
        self._code = None


def _positions(code: CodeType, lasti: int) -> Position:
    known = _column_index.get(id(code))
    if known is None and sys.version_info >= (3, 11):
        known = register_positions(code, list(code.co_positions()))
    if known is not None:
        table = known[1]
        return table[lasti // 2] if 0 <= lasti // 2 < len(table) else (code.co_firstlineno, None, None, None)
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= lasti < end and number is not None:
            line = number
    return line, None, None, None


def register_positions(code: CodeType, table: list[Position]) -> tuple[ref[CodeType], list[Position]]:
    """Let spans of `code` have the positions in `table`, one per instruction (two bytes)."""
    key = id(code)
    forget = _column_index.pop  # code may outlive this module when Python ends
    found = _column_index[key] = (ref(code, lambda _: forget(key, None)), table)
    return found


def add_internal_root(directory: str) -> None:
    """Frames of files below `directory` belong to TIRx or a backend: spans skip them and name the author's line."""
    root = os.path.abspath(directory) + os.sep
    if root not in _internal_roots:
        _internal_roots.append(root)
        _internal.clear()


def add_author_file(file: str) -> None:
    """A file that holds kernels although it lies below an internal root: errors point at its lines, names come from it."""
    _author_files.add(file)
    _internal.clear()


def add_root_code(code: CodeType) -> None:
    """Frames at and above one that runs `code` are not part of a kernel: chains of callers stop there."""
    _root_codes[id(code)] = code


def is_internal(filename: str) -> bool:
    """Whether a file belongs to TIRx or to a loaded backend."""
    known = _internal.get(filename)
    if known is None:
        known = _internal[filename] = filename not in _author_files and any(map(filename.startswith, _internal_roots))
    return known


def pin(span: Span | None) -> Callable[[], None]:
    """Until the answer is called, `here()` is `span`: what the compiler builds belongs to the author's line that asked for it."""
    token = _pinned.set((span,))
    return lambda: _pinned.reset(token)


def is_pinned() -> bool:
    """Whether the compiler is building for a line of the author's, and nobody's frames are asked."""
    return _pinned.get() is not None


def here(depth: int = 1) -> Span | None:
    """The span of the innermost frame outside TIRx, with the author's frames above it as `called_from`."""
    pinned = _pinned.get()
    if pinned is not None:
        return pinned[0]
    frame: FrameType | None = sys._getframe(depth)
    while frame is not None:
        code = frame.f_code
        known = _internal.get(code.co_filename)
        if not (is_internal(code.co_filename) if known is None else known):
            return _span_of(frame)
        if id(code) in _root_codes:
            return None
        frame = frame.f_back
    return None


def _span_of(frame: FrameType) -> Span:
    """The place where `frame` is, called from the author's frames above it up to the one that started the kernel, if any did."""
    inner = frame.f_code
    found = last = Span.of_code(inner, frame.f_lasti)
    room = _MAX_CALLERS
    outer = frame.f_back
    while outer is not None:  # one pass: this is most of what building an expression costs
        code = outer.f_code
        if id(code) in _root_codes:
            return found
        name = code.co_filename
        known = _internal.get(name)
        if not (is_internal(name) if known is None else known):
            if room and not is_part_of_caller(inner):
                caller = Span.of_code(code, outer.f_lasti)
                last.called_from = caller
                last = caller
                room -= 1
            inner = code
        outer = outer.f_back
    found.called_from = None  # no kernel is being built
    return found


def is_part_of_caller(code: CodeType) -> bool:
    """Whether a frame of `code` is a piece of the line that runs it: comprehensions, which newer Pythons inline."""
    return code.co_name in _COMPREHENSIONS
