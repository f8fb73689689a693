"""Intrinsics: each can be written in the target's source, and has a meaning for the simulator."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from string import Formatter

from ...analysis.verify.requirements import emission_of
from ...backend import registry
from ...driver import compile as compile_kernel
from ...intrinsic import Emission, Intrinsic
from ...ir import Alloc, Attr, Buffer, Call, Evaluate, PrimFunc, ScopeIdDef, Seq, Var, const, walk
from ...support.errors import TargetError, TirxError
from ...support.late import load_object
from ...target import Target
from ..rows import sample_call
from .agreement import offered
from .cases import compilable
from .check import COMPILED, ConformanceCheck, Gap
from .subject import Subject

__all__ = ["CHECKS"]


def _rules(subject: Subject) -> Iterator[str]:
    intrinsics = registry().rows("intrinsics")
    for emission in subject.rows("emissions"):
        row = intrinsics.get(emission.intrinsic)
        if row is None:
            yield f"an emission for {emission.kind} writes `{emission.intrinsic}`, which nobody has"
        elif isinstance(emission.rule, str):
            yield from (f"emission of `{row.name}` {problem}" for problem in _fields(emission, row))


def _fields(emission: Emission, row: Intrinsic) -> Iterator[str]:
    """Fields of a format that no call can fill."""
    for _, field, _, _ in Formatter().parse(str(emission.rule)):
        if not field:
            continue
        name = field.partition(".")[0].partition("[")[0]
        if name.isdigit():
            if int(name) >= len(row.operands) and not row.variadic:
                yield f"names operand {name}, and it has {len(row.operands)}"
        elif name not in row.attrs and name not in {item.name for item in row.operands} and name != "dtype":
            yield f"names `{name}`, which is no attribute of it"


def _emittable(subject: Subject) -> Iterator[str]:
    rows = offered(subject)
    if not rows:
        yield Gap("it has no intrinsics")
    writes = registry().rows("codegens")
    targets = [target for target in subject.every_target if target.kind.name in writes]
    shown = _shown(subject)
    reasons: dict[str, list[str]] = {}
    for row in rows if targets else ():
        for line in _written(subject, row, targets, shown):
            if isinstance(line, Gap):
                reasons.setdefault(line, []).append(row.name)
            else:
                yield line
    yield from (Gap(f"{reason}: {', '.join(names)}") for reason, names in reasons.items())


def _written(subject: Subject, row: Intrinsic, targets: list[Target], shown: set[str]) -> Iterator[str]:
    able = [target for target in targets if _holds(row, target)]
    reason = subject.gap("intrinsics.emittable", row.name)
    if not able or reason is not None:
        yield Gap(reason or "no plain or named target has what it needs")
        return
    try:
        call, without = (_sample(row, able[0], subject.has_threads(able[0]), called=called) for called in (True, False))
    except Exception as error:  # noqa: BLE001 - rows that take more than operands refuse a made-up call in their own ways
        if row.name not in shown:
            yield Gap(f"the kit cannot make up a call ({_words(error)}), give a sample that has one")
        return
    yield from _compiled(row, able[0], call, without, shown)


def _compiled(row: Intrinsic, target: Target, call: PrimFunc, without: PrimFunc, shown: set[str]) -> Iterator[str]:
    try:
        text = compile_kernel(call, target).source.text
        if row.effect.kind not in ("pure", "read") and text == compile_kernel(without, target).source.text:
            yield f"nothing is written for `{row.name}`: the source is the same without the call"
    except (TirxError, AssertionError) as error:
        if row.name in shown:
            return
        if isinstance(error, TargetError) and emission_of(row.name, target) is None and _emits(target):
            yield f"nothing writes `{row.name}` for {target.kind.name}: {_words(error)}"
        else:
            yield Gap(f"a made-up call is refused ({_words(error)}), give a sample that has one")
    except Exception as error:  # noqa: BLE001 - that is what this is about
        yield f"writing `{row.name}` raises {type(error).__name__}: {error}"


def _words(error: BaseException) -> str:
    text = error.message if isinstance(error, TirxError) else f"{type(error).__name__}: {error}"
    return (str(text).strip().splitlines() or [type(error).__name__])[0].rstrip(": ")


def _emits(target: Target) -> bool:
    """Whether the kind's source is written by emissions at all."""
    return any(kind == target.kind.name for _, kind in registry().rows("emissions"))


def _shown(subject: Subject) -> set[str]:
    """The intrinsics that a kernel which compiles calls, as its author wrote it or as it was lowered."""
    written, lowered = _called(subject)
    return written | lowered


def _called(subject: Subject) -> tuple[set[str], set[str]]:
    """What kernels call before and after `lower`."""
    found: tuple[set[str], set[str]] = set(), set()
    for case in compilable(subject):
        made = subject.compiled(case.kernel, case.target)
        for names, module in zip(found, (made.module, made.lowered), strict=True):
            for func in module:
                names |= {node.op.name for node in walk(func.body, Call.BIT) if isinstance(node, Call)}
    return found


def _holds(row: Intrinsic, target: Target) -> bool:
    emission = emission_of(row.name, target)
    return all(item.holds(target) for item in (row.requires, emission and emission.requires) if item)


def _sample(row: Intrinsic, target: Target, threads: bool, *, called: bool) -> PrimFunc:
    """A kernel that calls a row once, or the same one without the call."""
    made, buffers, count = sample_call(row)
    tx = Var("tx", count.dtype)
    ids = [ScopeIdDef((tx,), (const(64),), "cta", "thread", None)] if threads else []
    allocated = [Alloc(item) for item in buffers if item.scope_name != "global"]
    body = Attr("tirx.device_entry", const(True), Seq((*ids, *allocated, *([Evaluate(made)] if called else []))))
    params: list[Buffer | Var] = [item for item in buffers if item.scope_name == "global"]
    if any(node is count for node in walk(made)):
        params.append(count)
    return PrimFunc("conform_call", params, body, {"global_symbol": "conform_call"})


def _meanings(subject: Subject) -> Iterator[str]:
    written, lowered = _called(subject)
    replaced = written - lowered  # passes write something else for them: nothing is left to simulate
    without = [row.name for row in subject.rows("intrinsics") if row.meaning is None and row.name not in replaced]
    if without:
        yield Gap(f"kernels that call these are not simulated, they have no meaning: {', '.join(without)}")
    for row in subject.rows("intrinsics"):
        if row.meaning is None:
            continue
        try:
            signature = inspect.signature(load_object(row.meaning))
        except (ImportError, AttributeError, ValueError, TypeError):
            continue  # `rows.places` reports it
        needed = 1 + sum(item.kind != "guard" and item.default is item.REQUIRED for item in row.operands)
        positional = [
            item
            for item in signature.parameters.values()
            if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)
        ]
        open_ended = any(item.kind is item.VAR_POSITIONAL for item in signature.parameters.values())
        if not open_ended and len(positional) < needed:
            yield f"the meaning of `{row.name}` takes {len(positional)} arguments; it is given the context and {needed - 1} operands"


CHECKS = (
    ConformanceCheck(
        "intrinsics.rules",
        _rules,
        "emissions name intrinsics and operands that are there",
        "correct the fields of the format, or the name",
    ),
    ConformanceCheck(
        "intrinsics.emittable",
        _emittable,
        "every intrinsic can be written in the target's source",
        "give an Emission for the kind, or let the code generator write it",
        after=(*COMPILED, "intrinsics.rules"),
    ),
    ConformanceCheck(
        "intrinsics.meanings",
        _meanings,
        "meanings take the context and the operands",
        "give the function (ctx, *operands) as parameters",
        after=COMPILED,
    ),
)
