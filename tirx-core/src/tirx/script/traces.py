"""Errors as the author of a kernel should see them.

What is wrong in a kernel's own text becomes a `ScriptError` with the place; exceptions of the author's helpers keep type
and traceback, without our frames in between. `TIRX_DEBUG=1` leaves everything as Python raised it.
"""

from __future__ import annotations

import os
from linecache import getline

from ..support.errors import ScriptError, TirxError
from ..support.span import Span, is_internal, is_part_of_caller
from .transpiler.function import is_rewritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["explained", "hint_of"]

# What Python raises when the text of a kernel itself is wrong.
_OWN = (NameError, AttributeError, TypeError, LookupError, ArithmeticError, ValueError)


def explained(error: BaseException) -> BaseException:
    """The exception to raise instead of `error`, which came out of building a kernel."""
    if os.environ.get("TIRX_DEBUG") == "1" or not isinstance(error, Exception):
        return error
    entries = [entry for entry in _entries(error.__traceback__) if not is_internal(entry.tb_frame.f_code.co_filename)]
    if isinstance(error, TirxError):
        if entries and error.message.startswith("a kernel value "):
            from .mistakes import in_other_words  # only when something went wrong

            error = in_other_words(error, entries[-1].tb_frame, _text(entries[-1]))
        return error.placed(_span(entries)).with_traceback(_chain(entries))
    if isinstance(error, _OWN) and entries and is_rewritten(entries[-1].tb_frame.f_code):
        made = _converted(error, entries)
        return made.with_traceback(_chain(entries))
    return error.with_traceback(_chain(entries))


def hint_of(error: Exception) -> str | None:
    """What to write instead of what Python refused in an author's own code."""
    entries = [entry for entry in _entries(error.__traceback__) if not is_internal(entry.tb_frame.f_code.co_filename)]
    if not entries:
        return None
    from .mistakes import described  # only when something went wrong

    return described(error, entries[-1].tb_frame, _text(entries[-1]))[1]


def _entries(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _chain(entries: list[TracebackType]) -> TracebackType | None:
    """A traceback of just these entries."""
    made: TracebackType | None = None
    for entry in reversed(entries):
        kind: type[TracebackType] = type(entry)
        made = kind(made, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return made


def _span(entries: list[TracebackType]) -> Span | None:
    """Where the innermost entry is, called from the entries of kernels and helpers around it."""
    span: Span | None = None
    for entry in entries:
        code = entry.tb_frame.f_code
        if span is not None or is_rewritten(code):
            span = Span.of_code(code, entry.tb_lasti, span.called_from if span and is_part_of_caller(code) else span)
    return span


def _converted(error: Exception, entries: list[TracebackType]) -> ScriptError:
    frame = entries[-1].tb_frame
    from .mistakes import described  # only when something went wrong

    message, hint = described(error, frame, _text(entries[-1]))
    made = ScriptError(message, span=_span(entries), hint=hint)
    made.__cause__ = None
    made.__suppress_context__ = True
    return made


def _text(entry: TracebackType) -> str:
    """The author's text that an entry was executing."""
    span = Span.of_code(entry.tb_frame.f_code, entry.tb_lasti)
    line = getline(span.path, span.line)
    one_line = span.column is not None and span.end_line == span.line
    return line.encode()[span.column : span.end_column].decode(errors="replace") if one_line else line
