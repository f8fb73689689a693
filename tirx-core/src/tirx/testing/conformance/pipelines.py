"""The passes of each kind, watched while they lower real kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...analysis.verify import check_well_formed
from ...backend import registry
from ...driver import as_module
from ...ir import IRModule, ScopeIdDef, TileCall, walk
from ...script.printer import to_script
from ...support.errors import TirxError, VerifyError
from ...transform.extensions import extended
from ...transform.pipeline import Anchor, Pass, PassContext, Pipeline
from .cases import Case, lowerable
from .check import SOUND, ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS"]


def _pipeline(kind: str) -> Pipeline | None:
    found: Pipeline | None = registry().rows("pipelines").get(kind)
    return found


def _declared(subject: Subject) -> Iterator[str]:
    for kind in subject.kinds:
        row = _pipeline(kind.name)
        if row is None:
            yield f"kind `{kind.name}` has no pipeline"
            continue
        steps = [*row.lower, *row.prepare]
        anchors = [step.name for step in steps if isinstance(step, Anchor)]
        yield from (f"anchor `{name}` stands twice" for name in sorted({n for n in anchors if anchors.count(n) > 1}))
        yield from (
            f"anchor `{name}` does not begin with `{kind.name}:`"
            for name in anchors
            if not name.startswith(f"{kind.name}:")
        )
        if not anchors:
            yield f"the pipeline of `{kind.name}` has no anchor where others may add passes"
        others: list[object] = [step for step in steps if type(step) not in (Pass, Anchor)]
        yield from (f"{step!r} in the pipeline of `{kind.name}` is no Pass" for step in others)


def _contracts(subject: Subject) -> Iterator[str]:
    tried = lowerable(subject)
    if not tried:
        yield Gap("no kernel compiles for its kinds; give samples")
    broken: set[str] = set()
    for case in tried:
        for step, problem in _run(case, subject.extensions):
            if f"{step}: {problem}" not in broken:
                broken.add(f"{step}: {problem}")
                yield f"pass `{step}` {problem} ({case})"


def _run(case: Case, extensions: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(pass, what it did wrong) of one kernel."""
    row = _pipeline(case.target.kind.name)
    if row is None:
        return
    module, context = as_module(case.kernel), PassContext(case.target, extensions=extensions)
    for step in extended((*row.lower, *row.prepare), context.registry):
        before = to_script(module)
        made: Any = step.run(module, context)
        if to_script(module) != before:
            yield step.name, "changes the module that it is given"
            return
        if not isinstance(made, IRModule):
            yield step.name, f"answers {type(made).__name__}, no IRModule"
            return
        yield from ((step.name, problem) for problem in _after(step, module, made, context))
        module = made


def _after(step: Pass, module: IRModule, made: IRModule, context: PassContext) -> Iterator[str]:
    try:
        check_well_formed(made)
    except VerifyError as error:
        yield f"breaks the program: {error.diagnostics[0].message}"
        return
    if to_script(step.run(module, context)) != to_script(made):
        yield "answers something else when it runs again"


def _stages(subject: Subject) -> Iterator[str]:
    for case in lowerable(subject):
        lowered = subject.compiled(case.kernel, case.target).lowered
        roles = {func.attrs.get("role") for func in lowered}
        if not {"host", "device"} <= roles:
            yield f"{case}: after `lower` there are functions of {sorted(map(str, roles))}, not a host's and a device's"
        left = {
            type(node).__name__
            for func in lowered
            for node in walk(func.body)
            if isinstance(node, ScopeIdDef | TileCall)
        }
        yield from (f"{case}: a {name} is left after `lower`" for name in sorted(left))


def _readable(subject: Subject) -> Iterator[str]:
    from ..roundtrip import assert_round_trip  # needs the parser

    for case in lowerable(subject):
        try:
            assert_round_trip(subject.compiled(case.kernel, case.target).lowered)
        except (TirxError, AssertionError) as error:  # noqa: PERF203 - each kernel counts for itself
            yield f"{case}: the lowered text does not read back: {str(error).splitlines()[0]}"


CHECKS = (
    ConformanceCheck(
        "pipelines.declared",
        _declared,
        "each kind has a pipeline with anchors of its own name",
        'give a Pipeline row; put Anchor("kind:after_lower") where others may add passes',
    ),
    ConformanceCheck(
        "pipelines.contracts",
        _contracts,
        "each pass answers a well-formed module, leaves its argument alone, and answers the same again",
        "rebuild what changes (tirx.ir.rewrite) and keep no state in the pass",
        after=SOUND,
    ),
    ConformanceCheck(
        "pipelines.stages",
        _stages,
        "`lower` ends with host and device functions without ids and tile calls",
        "end `lower` with split_host_device; machines with threads take core's SIMT_LOWER",
        after=SOUND,
    ),
    ConformanceCheck(
        "pipelines.readable",
        _readable,
        "lowered kernels print as text that reads back",
        "give Intrinsic rows a `form` where the language's function takes its arguments in another order",
        after=SOUND,
    ),
)
