"""The errors that users meet: what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .span import Span

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 4 ms at start-up
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "ArgumentError",
    "BackendError",
    "Diagnostic",
    "DispatchError",
    "LayoutError",
    "ScriptError",
    "SimulationError",
    "TargetError",
    "TirxError",
    "ToolchainError",
    "VerifyError",
    "format_diagnostic",
]


class Diagnostic:
    """One problem: a message, the place, a hint that says what to write instead, and further notes."""

    __slots__ = ("hint", "message", "notes", "span")

    def __init__(
        self, message: str, span: Span | None = None, hint: str | None = None, notes: Sequence[str] = ()
    ) -> None:
        self.message = message
        self.span = span
        self.hint = hint
        self.notes = tuple(notes)

    def __str__(self) -> str:
        return format_diagnostic(self)


class TirxError(Exception):
    """Base of every error that TIRx raises for a user's mistake.

    `diagnostics` holds all problems that were collected; `message`, `span` and `hint` are those of the first.
    """

    def __init__(
        self,
        message: str = "",
        *,
        span: Span | None = None,
        hint: str | None = None,
        notes: Sequence[str] = (),
        diagnostics: Iterable[Diagnostic] = (),
    ) -> None:
        found = tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = found or (Diagnostic(message, span, hint, notes),)
        super().__init__(self.diagnostics[0].message)

    def placed(self, span: Span | None) -> Self:
        """The same error, at `span` if it has no place of its own."""
        if self.span is None:
            first, *rest = self.diagnostics
            self.diagnostics = (Diagnostic(first.message, span, first.hint, first.notes), *rest)
        return self

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        return self.diagnostics[0].message

    @property
    def span(self) -> Span | None:
        """Where the first problem is."""
        return self.diagnostics[0].span

    @property
    def hint(self) -> str | None:
        """What to do about the first problem."""
        return self.diagnostics[0].hint

    def __str__(self) -> str:
        return "\n".join(format_diagnostic(item) for item in self.diagnostics)


class ScriptError(TirxError):
    """A kernel's text cannot be understood, or builds IR that makes no sense."""


class VerifyError(TirxError):
    """A well-formed kernel breaks a rule of the language or of its target."""


class DispatchError(TirxError):
    """No variant of a tile operation fits a call."""


class LayoutError(TirxError):
    """A layout is malformed, or an operation on it is not expressible."""


class TargetError(TirxError):
    """A target, kind, tag or attribute is unknown or wrong."""


class BackendError(TirxError):
    """A backend is missing, disabled, incompatible or broken."""


class ToolchainError(TirxError):
    """A vendor's compiler is missing or refuses the source."""


class ArgumentError(TirxError):
    """A kernel was called with arguments that its signature does not accept."""


class SimulationError(TirxError):
    """A simulation cannot go on (it found no verdict; findings of a finished run are no exception)."""


def format_diagnostic(item: Diagnostic) -> str:
    """Text of one problem: place, message, the source line with a caret, hint, notes, callers."""
    lines = [f"{item.span}: error: {item.message}" if item.span else item.message]
    if item.span is not None:
        lines += _excerpt(item.span)
    if item.hint:
        lines.append(f"  help: {item.hint}")
    lines += [f"  note: {note}" for note in item.notes]
    caller = item.span.called_from if item.span else None
    while caller is not None:
        lines.append(f"  called from {caller}")
        lines += _excerpt(caller)
        caller = caller.called_from
    return "\n".join(lines)


_WIDEST = 160  # columns of a line that are shown; generated files have longer ones


def _excerpt(span: Span) -> list[str]:
    import linecache  # only when an error is shown

    text = linecache.getline(span.path, span.line).rstrip("\n")
    if not text.strip():
        return []
    number = str(span.line)
    if span.column is None:
        return [f"  {number} | {_cut(text, 0)[0]}"]
    column = len(text.encode()[: span.column].decode(errors="replace"))
    one_line = span.end_line == span.line and span.end_column is not None
    end = len(text.encode()[: span.end_column].decode(errors="replace")) if one_line else len(text)
    shown, left = _cut(text, column)
    marks = "^" * max(1, min(end, left + len(shown)) - column)
    return [f"  {number} | {shown.expandtabs(1)}", f"  {' ' * len(number)} | {' ' * (column - left)}{marks}"]


def _cut(text: str, column: int) -> tuple[str, int]:
    """What is shown of a long line, around a column, and how many columns it moved to the left."""
    if len(text) <= _WIDEST:
        return text, 0
    start = max(0, min(column - _WIDEST // 3, len(text) - _WIDEST))
    part = text[start : start + _WIDEST]
    before, after = start > 0, start + _WIDEST < len(text)
    shown = f"{'...' if before else ''}{part[3:] if before else part}"
    return (f"{shown[:-3]}..." if after else shown), start
