"""The verifier: one topic a file, all problems collected, each at the author's line.

`check_module` raises one `VerifyError` that holds them all; `verify_module` lists them. Without a target only the
rules of the language apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...backend import registry
from ...ir import IRModule, PrimFunc
from ...support.errors import Diagnostic, VerifyError
from ...target import Target
from . import (
    arithmetic,
    attributes,
    barriers,
    bounds,
    calls,
    capabilities,
    definitions,
    dtypes,
    entry,
    layouts,
    loops,
    parameters,
    requirements,
    scope_ids,
    storage,
    tile_calls,
)  # fmt: skip
from .facts import Facts
from .requirements import emission_of, requirement_problem

__all__ = ["check_lowered", "check_module", "check_well_formed", "emission_of", "requirement_problem", "verify_module"]

Topic = Callable[[Facts], Iterator[Diagnostic]]

# In reading order: a later topic often only repeats an earlier one on the same line.
_WELL_FORMED: tuple[Topic, ...] = (definitions.check, dtypes.check, lambda facts: tile_calls.check_function(facts.func))
_RULES: tuple[Topic, ...] = (
    entry.check, attributes.check, parameters.check, loops.check, calls.check, arithmetic.check, storage.check, layouts.check,
    scope_ids.check, tile_calls.check, capabilities.check, requirements.check, bounds.check, barriers.check,
)  # fmt: skip


def verify_module(module: IRModule, target: Target | None = None, stage: str = "script") -> list[Diagnostic]:
    """All problems of a module; each function is read against its own target, or else `target`.

    A function made with `check_well_formed=False` is left out: its author answers for it.
    """
    found: list[Diagnostic] = []
    for func in module:
        if func.attrs.get("tirx.unchecked"):
            continue
        facts = Facts(func, module, _target_of(func, target))
        found += sorted(_problems(facts, _WELL_FORMED) or _problems(facts, _RULES), key=_line)
    return found + [problem for item in _targets(module, target) for problem in _further(module, item, stage)]


def check_module(module: IRModule, target: Target | None = None, stage: str = "script") -> None:
    """Raise `VerifyError` with all problems of a module, if there are any."""
    found = verify_module(module, target, stage)
    if found:
        raise VerifyError(diagnostics=found)


def check_well_formed(module: IRModule) -> None:
    """Raise `VerifyError` when definitions, uses or types do not fit: true of every program, at every stage."""
    found: list[Diagnostic] = []
    for func in module:
        for check in (definitions.check_function, dtypes.check_function, tile_calls.check_function):
            found += check(func)
    if found:
        raise VerifyError(diagnostics=found)


def check_lowered(module: IRModule) -> None:
    """Raise `VerifyError` when tile operations are left in a module that is about to be split."""
    found = [problem for func in module for problem in tile_calls.survivors(func)]
    if found:
        raise VerifyError(diagnostics=found)


def _problems(facts: Facts, topics: tuple[Topic, ...]) -> list[Diagnostic]:
    return [problem for topic in topics for problem in topic(facts)]


def _line(problem: Diagnostic) -> int:
    return problem.span.line if problem.span is not None else 0


def _target_of(func: PrimFunc, default: Target | None) -> Target | None:
    own = func.attrs.get("target")
    return own if isinstance(own, Target) else default


def _targets(module: IRModule, default: Target | None) -> list[Target]:
    found = [target for func in module if (target := _target_of(func, default)) is not None]
    return list({str(target): target for target in found}.values())


def _further(module: IRModule, target: Target, stage: str) -> Iterator[Diagnostic]:
    """The rules that backends add for their kinds."""
    for row in registry().rows("checks").values():
        if row.kind == target.kind.name and row.stage == stage:
            yield from row.run(module, target)
