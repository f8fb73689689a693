"""Intrinsics that the target cannot run: those of somebody else, and those that need another model of the machine.

`requirement_problem` also serves the builder: inside `with target:` a call is refused where it is written.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...backend import registry
from ...intrinsic import Emission, Intrinsic
from ...ir import Call
from ...support.errors import Diagnostic, VerifyError
from ...target import Target
from .facts import Facts

__all__ = ["check", "emission_of", "refuse_call", "requirement_problem"]


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    target = facts.target
    if target is None:
        return
    for kernel in facts.kernels:
        seen: set[int] = set()
        for call in kernel.all(Call):
            if id(call.op) in seen:
                continue
            seen.add(id(call.op))
            problem = requirement_problem(call, target)
            if problem is not None:
                yield problem


def requirement_problem(call: Call, target: Target) -> Diagnostic | None:
    """Why `target` cannot run `call`, or None."""
    if not isinstance(call.op, Intrinsic):
        return None
    emission = emission_of(call.op.name, target)
    if emission is None:
        return _foreign(call, target)
    needed = next((item for item in (call.op.requires, emission.requires) if item and not item.holds(target)), None)
    if needed is None:
        return None
    listed = f"these have it: {', '.join(needed.available)}" if needed.available else None
    return Diagnostic(f"`{call.op.title(call)}` needs {needed.text}; the target is `{target}`", call.span, hint=listed)


def refuse_call(call: Call, target: Target) -> None:
    """Raise `VerifyError` when `target` cannot run `call`."""
    problem = requirement_problem(call, target)
    if problem is not None:
        raise VerifyError(diagnostics=[problem])


def emission_of(name: str, target: Target) -> Emission | None:
    """How a target's kind, or a kind that it specialises, writes an intrinsic."""
    rows = registry()
    kind = target.kind
    while True:
        found: Emission | None = rows.find("emissions", (name, kind.name))
        parent = rows.find("target_kinds", kind.parent) if found is None and kind.parent else None
        if parent is None:
            return found
        kind = parent


def _foreign(call: Call, target: Target) -> Diagnostic | None:
    """An intrinsic of another backend, for which this kind has no emission."""
    rows = registry()
    if rows.find("intrinsics", call.op.name) is None:
        return None
    owner = rows.owner("intrinsics", call.op.name)
    own = rows.owner("target_kinds", target.kind.name)
    if owner.is_core or owner.backend.partition(".")[0] == own.backend.partition(".")[0]:
        return None
    kinds = sorted({kind for name, kind in rows.rows("emissions") if name == call.op.name})
    return Diagnostic(
        f"`{call.op.name}` of {owner.distribution} does not exist on target `{target}`",
        call.span,
        hint=f"it exists on {', '.join(kinds)}" if kinds else None,
    )
