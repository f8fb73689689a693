"""Decisions as text and as data: what was chosen, why each other candidate was not, nearest miss first."""

from __future__ import annotations

from textwrap import wrap

from ..ir.tiles import call_name
from ..support.errors import DispatchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..support.span import Span
    from .dispatch import Decision, Trial
    from .verdict import Verdict

__all__ = ["decision_data", "decision_text", "failure"]

WIDTH = 100


def failure(decision: Decision, kind: str) -> DispatchError:
    """The error of a call that no variant fits: it is the report."""
    call = decision.call
    who = _who(decision)
    name = call_name(call)
    if not decision.trials:
        return DispatchError(
            f"there is no variant of {name} for kind {kind}", span=call.span, hint=_hint(decision, kind)
        )
    hint = None
    if call.dispatch is not None:
        hint = f"without dispatch= it would get `{decision.instead.variant.name}`" if decision.instead else None
        message = f"variant `{call.dispatch}` of {name} does not fit this call on {kind}, {who}"
    else:
        message = f"no variant of {name} fits this call on {kind}, {who}"
    notes = [_note(trial) for trial in nearest_first(decision)]
    return DispatchError(message, span=call.span, hint=hint, notes=notes)


def _hint(decision: Decision, kind: str) -> str:
    return f"kind {kind} and its parents offer none; an extension can add one (hook tirx_dispatch_variants)"


def _who(decision: Decision) -> str:
    if decision.call.scope == "thread":
        return "each thread for itself"
    count = decision.threads
    if not count:
        return f"a {decision.call.scope} together"
    return f"{count} thread{'s' if count != 1 else ''} of a {decision.call.scope} together"


def nearest_first(decision: Decision) -> list[Trial]:
    """Candidates that were not taken, those with the fewest refusals first."""
    return sorted((item for item in decision.trials if item is not decision.chosen), key=lambda item: item.misses)


def _note(trial: Trial) -> str:
    """One refused variant: its name and owner, then each reason on a line of its own."""
    head = f"{_title(trial)}:"
    reasons = [f"{name}: {verdict}" for name, verdict in trial.refusals]
    lines = [line for reason in reasons for line in _wrapped(reason, 10)]
    return "\n".join([head, *lines])


def _title(trial: Trial) -> str:
    return (
        f"`{trial.variant.name}` of {trial.owner.distribution} {trial.owner.version}, priority {trial.variant.priority}"
    )


def _wrapped(text: str, indent: int) -> list[str]:
    space = " " * indent
    return wrap(text, WIDTH, initial_indent=space, subsequent_indent=space + "  ", break_on_hyphens=False)


def decision_text(decision: Decision) -> str:
    """A paragraph about one call for people, as `tirx explain` prints it."""
    call = decision.call
    line = f"line {call.span.line}: " if call.span is not None else ""
    lines = [f"{line}{call_name(call)}, {_who(decision)}"]
    if decision.parent is not None and decision.parent.chosen is not None:
        lines += _wrapped(f"(made by `{decision.parent.chosen.variant.name}` of {call_name(decision.parent.call)})", 2)
    if decision.note:
        lines += _wrapped(decision.note, 2)
    if decision.chosen is not None:
        lines.append(f"  -> {_title(decision.chosen)}")
    elif not decision.note:
        lines += _failed(decision)
    if decision.instead is not None:
        lines += _wrapped(f"without dispatch= it would get `{decision.instead.variant.name}`", 5)
    ties = decision.ties
    if ties:
        names = ", ".join(f"`{item.variant.name}` of {item.owner.distribution}" for item in ties)
        lines += _wrapped(f"a tie with {names}: equal priority, decided by the name of the distribution", 4)
    for trial in nearest_first(decision):
        lines += _about(trial)
    return "\n".join(lines)


def _failed(decision: Decision) -> list[str]:
    """What stands where a chosen variant would."""
    error = decision.error
    if error is None or decision.trials:
        return ["  -> nothing fits"]
    first, *rest = _wrapped(error.message, 5)
    hint = _wrapped(error.hint, 5) if error.hint else []
    return [f"  -> {first.strip()}", *rest, *hint]


def _about(trial: Trial) -> list[str]:
    if trial.fits:
        return [f"     {_title(trial)}: fits too"]
    lines = [f"     {_title(trial)}"]
    for name, verdict in trial.refusals:
        lines += _wrapped(f"{name}: {verdict}", 9)
    return lines


def _column(span: Span | None) -> int | None:
    """Counted from 1, as in the messages of errors."""
    return None if span is None or span.column is None else span.column + 1


def decision_data(decision: Decision) -> dict[str, Any]:
    """One call as plain data for machines."""
    call = decision.call
    span = call.span
    return {
        "function": decision.function,
        "operation": call.op.name,
        "scope": call.scope,
        "threads": decision.threads,
        "file": span.path if span is not None else None,
        "line": span.line if span is not None else None,
        "column": _column(span),
        "requested": call.dispatch,
        "made_by": _made_by(decision),
        "chosen": _trial_data(decision.chosen) if decision.chosen is not None else None,
        "instead": _trial_data(decision.instead) if decision.instead is not None else None,
        "ties": [_trial_data(item) for item in decision.ties],
        "others": [_trial_data(item) for item in nearest_first(decision)],
        "note": decision.note or None,
        "error": decision.error.message if decision.error is not None else None,
    }


def _made_by(decision: Decision) -> str | None:
    parent = decision.parent
    return parent.chosen.variant.name if parent is not None and parent.chosen is not None else None


def _trial_data(trial: Trial) -> dict[str, Any]:
    return {
        "variant": trial.variant.name,
        "kind": trial.variant.kind,
        "priority": trial.variant.priority,
        "distribution": trial.owner.distribution,
        "version": trial.owner.version,
        "fits": trial.fits,
        "verdicts": [_verdict_data(name, item) for name, item in trial.results],
    }


def _verdict_data(name: str, verdict: Verdict) -> dict[str, Any]:
    reason = "" if verdict.fits else verdict.reason  # which says what is wrong where something is
    return {"predicate": name, "fits": verdict.fits, "reason": reason, "measured": _plain(verdict.measured)}


def _plain(measured: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value if isinstance(value, bool | int | float | None) else str(value) for name, value in measured.items()
    }
