"""What is remembered of a plugin that cannot be used, and the error that tells it."""

from __future__ import annotations

import os
import sys

from tirx.support.errors import BackendError

from .candidates import Candidate, State
from .spelling import split_value
from .unavailable import UnavailableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Fault", "refusal"]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Fault:
    """Why loading went wrong: the stage, the exception in one line, where it was raised, its traceback as text."""

    __slots__ = ("cause", "place", "stage", "state", "todo", "traceback")

    def __init__(self, candidate: Candidate, stage: str, error: BaseException) -> None:
        import traceback  # only when something went wrong

        self.state = State.UNAVAILABLE if isinstance(error, UnavailableError) else State.FAILED
        self.stage = stage
        self.cause = _one_line(error)
        self.place = _place(error)
        self.todo = _todo(candidate, error)
        self.traceback = "".join(traceback.format_exception(type(error), error, error.__traceback__))


def _one_line(error: BaseException) -> str:
    if isinstance(error, BackendError):
        text = error.message
    else:
        first = str(error).strip().split("\n")[0]
        text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    notes = getattr(error, "__notes__", ())
    return f"{text} ({'; '.join(map(str, notes))})" if notes else text


def _place(error: BaseException) -> str:
    """File and line of the innermost frame that is the plugin's, not ours and not the import system's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    place = ""
    step: TracebackType | None = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if not file.startswith((_HERE, "<frozen")):
            place = f"{file}:{step.tb_lineno}"
        step = step.tb_next
    return place


def _todo(candidate: Candidate, error: BaseException) -> str:
    without = f"work without it: TIRX_BACKENDS=-{candidate.name}"
    if isinstance(error, BackendError) and error.hint:
        return error.hint
    own = split_value(candidate.value)[0].partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] != own:
        return (
            f"install what {candidate.distribution.name} needs (pip check; the module is `{error.name}`), or {without}"
        )
    return f"repair or upgrade it (pip install --upgrade {candidate.distribution.name}), or {without}"


def refusal(candidate: Candidate, fault: Fault | None = None) -> BackendError:
    """The error for somebody who asked for a backend that cannot be used: entry point, distribution, cause, way out."""
    if fault is None:
        text = f"{candidate.what} cannot be used: it is {candidate.state}: {candidate.cause}"
        todo = candidate.todo
    else:
        happened = f"FAILED {fault.stage}" if fault.state == State.FAILED else f"is {fault.state}"
        text = f"{candidate.what} cannot be used: it {happened}: {fault.cause}"
        todo = fault.todo
    notes = [
        f"entry point: {candidate.entry_point}",
        f"distribution: {candidate.distribution} in {candidate.distribution.location}",
        f"Python: {sys.version.split()[0]}",
    ]
    if fault is not None and fault.place:
        notes.insert(0, f"raised at {fault.place}")
    return BackendError(text, hint=todo, notes=notes)
