"""Errors as the author of a kernel should see them.

What is wrong in a kernel's own text becomes a `ScriptError` with the place; exceptions of the author's helpers keep type
and traceback, without our frames in between. `TIRX_DEBUG=1` leaves everything as Python raised it.
"""

from __future__ import annotations

import os

from ..support.errors import ScriptError, TirxError
from ..support.span import Span, is_internal, is_part_of_caller
from ..support.suggest import did_you_mean
from .transpiler.function import is_rewritten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType

__all__ = ["explained"]

# What a `TypeError` mentions -> what to write instead.
_TYPES = {
    "'Buffer'": "a buffer is no value; index an element, e.g. A[i]",
    "'meta_var'": "assign it to a name first: `k = Tx.meta_var(5)` makes `k` the number",
    "'NoneType'": "a statement of the kernel gives no value; write it on a line of its own",
    "'LoopFrame'": "loop over it: `for i in ...:`",
}

# Builtins that a kernel may mean; the author's own names come first.
_BUILTINS = ("abs", "bool", "enumerate", "float", "int", "len", "max", "min", "range", "round", "sum", "zip")

# What Python raises when the text of a kernel itself is wrong.
_OWN = (NameError, AttributeError, TypeError, LookupError, ArithmeticError, ValueError)


def explained(error: BaseException) -> BaseException:
    """The exception to raise instead of `error`, which came out of building a kernel."""
    if os.environ.get("TIRX_DEBUG") == "1" or not isinstance(error, Exception):
        return error
    entries = [entry for entry in _entries(error.__traceback__) if not is_internal(entry.tb_frame.f_code.co_filename)]
    if isinstance(error, TirxError):
        return error.placed(_span(entries)).with_traceback(_chain(entries))
    if isinstance(error, _OWN) and entries and is_rewritten(entries[-1].tb_frame.f_code):
        made = _converted(error, entries)
        return made.with_traceback(_chain(entries))
    return error.with_traceback(_chain(entries))


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
    made = ScriptError(_message(error), span=_span(entries), hint=_hint(error, frame))
    made.__cause__ = None
    made.__suppress_context__ = True
    return made


def _message(error: Exception) -> str:
    if isinstance(error, NameError) and getattr(error, "name", None):
        return f"the name `{error.name}` is not defined"
    if isinstance(error, KeyError):
        return f"there is no key {error}"
    return str(error) or type(error).__name__


def _hint(error: Exception, frame: FrameType) -> str | None:
    if isinstance(error, TypeError):
        return next((hint for text, hint in _TYPES.items() if text in str(error)), None)
    name = getattr(error, "name", None)
    if not isinstance(name, str):
        return None
    if isinstance(error, NameError):
        known = [item for item in {**frame.f_globals, **frame.f_locals} if not item.startswith("__")]
        return (
            did_you_mean(name, known)
            or did_you_mean(name, _BUILTINS)
            or "define or import it before the kernel; a misspelt variable?"
        )
    if isinstance(error, AttributeError):
        return did_you_mean(name, [item for item in dir(error.obj) if not item.startswith("_")])
    return None
