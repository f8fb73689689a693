"""Variants of tile operations: each can be taken, refuses with a reason, computes what the operation means, and keeps its keywords."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ...backend import find
from ...driver import explain
from ...ir import PrimFunc
from ...support.errors import DispatchError, ScriptError, TirxError
from ...target import Target
from ...tile import TileOp, Variant
from ...tile.dispatch import Decision
from ...tile.row import ConfigKey
from ..tiles import tile_meaning
from .cases import lowerable
from .check import COMPILED, ConformanceCheck, Gap
from .situations import THREADS, Situation, situations
from .subject import Subject

__all__ = ["CHECKS"]

ENOUGH = 54
"""Situations that each operation is tried in at most."""


PLAIN = 6
"""Situations that each operation is tried in at least, so that refusals are heard too."""


LATER = ("copy_async", "gemm_async")
"""Operations that go on by themselves: who reads the result has to wait for it first."""


class Trials:
    """What all variants of a backend said in all situations; found once for all checks of this file."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.fitting: dict[int, Situation | PrimFunc] = {}
        self.refusals: dict[int, str] = {}
        self.problems: list[str] = []
        self.known = {id(row): row for row in subject.rows("dispatch_variants")}
        for target in subject.targets:
            for name in sorted({row.operation for row in self.known.values() if row.kind == target.kind.name}):
                self._operation(find("tile_ops", name), target)
        self._samples()

    def _operation(self, row: TileOp | None, target: Target) -> None:
        if row is None:
            return
        own = {
            key: item
            for key, item in self.known.items()
            if item.operation == row.name and item.kind == target.kind.name
        }
        tried = [
            (item, kernel) for item in islice(situations(row, target), ENOUGH) if (kernel := item.kernel()) is not None
        ]
        for number, (situation, kernel) in enumerate(tried):
            if number >= PLAIN and own.keys() <= self.fitting.keys():
                return
            self._asked(situation, kernel)
        for key, variant in own.items():
            if variant.on_request:
                self._requested(key, variant, [situation for situation, _ in tried[:18]])

    def _requested(self, key: int, variant: Variant, where: list[Situation]) -> None:
        """What is only taken when a call names it."""
        for situation in where:
            kernel = situation.kernel(dispatch=variant.name)
            if key not in self.fitting and kernel is not None:
                self._asked(situation, kernel)

    def _asked(self, situation: Situation, kernel: PrimFunc) -> None:
        try:
            found = explain(kernel, situation.target, extensions=self.subject.extensions)
        except TirxError:
            return
        except Exception as error:  # noqa: BLE001 - a fault of a variant, which is what this is about
            self._fault(str(situation), error)
            return
        self._note(situation, found.decisions)

    def _note(self, where: Situation | PrimFunc, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            for trial in decision.trials:
                try:
                    fits, refusals = trial.fits, trial.refusals
                except Exception as error:  # noqa: BLE001
                    self._fault(f"{trial.variant.name} of {decision.call.op.name}", error)
                    continue
                self._said(where, trial.variant, fits, refusals)

    def _said(self, where: Any, variant: Variant, fits: bool, refusals: list[tuple[str, Any]]) -> None:
        key = id(variant)
        if isinstance(where, Situation) and where.row.name != variant.operation:
            return  # an operation that a variant is made of; it has situations of its own
        if fits:
            self.fitting.setdefault(key, where)
        for name, verdict in refusals:
            if not str(verdict.reason or "").strip() and key in self.known:
                self._say(f"{variant.operation} `{variant.name}`: `{name}` refuses without a reason")
            self.refusals.setdefault(key, f"`{name}`: {verdict.reason}")

    def _fault(self, what: str, error: BaseException) -> None:
        self._say(f"{what}: {type(error).__name__}: {error}")

    def _say(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _samples(self) -> None:
        own = {sample.name for sample in self.subject.samples}
        for case in lowerable(self.subject):
            if case.sample.name in own:
                kernel = case.kernel if isinstance(case.kernel, PrimFunc) else next(iter(case.kernel))
                self._note(kernel, self.subject.compiled(case.kernel, case.target).decisions)


def _trials(subject: Subject) -> Trials:
    made: Trials | None = getattr(subject, "_trials", None)
    if made is None:
        made = Trials(subject)
        subject._trials = made  # type: ignore[attr-defined]  # kept with what it is about
    return made


def _selected(subject: Subject) -> Iterator[str]:
    found = _trials(subject)
    if not found.known:
        yield Gap("it has no variants")
    for key, row in found.known.items():
        if key in found.fitting:
            continue
        item = f"{row.operation} {row.name}"
        reason = subject.gap("dispatch.selected", item)
        if reason:
            yield Gap(f"{item}: {reason}")
        elif key in found.refusals:
            yield f"`{row.name}` of {row.operation} fits nowhere; it said {found.refusals[key]}"
        else:
            yield Gap(f"{item}: no kernel of the kit or of the samples has this operation")


def _refusals(subject: Subject) -> Iterator[str]:
    found = _trials(subject)
    yield from found.problems
    silent = [f"{row.operation} {row.name}" for key, row in found.known.items() if key not in found.refusals]
    if silent:
        yield Gap(f"these refuse nothing of what they were asked: {', '.join(silent)}")


def _results(subject: Subject) -> Iterator[str]:
    found = _trials(subject)
    for key, row in found.known.items():
        where = found.fitting.get(key)
        if not isinstance(where, Situation) or not set(where.places) <= {"global", "shared"}:
            continue
        if row.operation in LATER:
            yield Gap(
                f"{row.operation} {row.name}: when it is done, the machine's own functions say; a sample shows it"
            )
        else:
            yield from _computed(subject, row, where)


def _computed(subject: Subject, variant: Variant, where: Situation) -> Iterator[str]:
    from ..operations import Place, check_tile_operation  # NumPy and the simulator

    threads = {"cta": THREADS, "warp": subject.width(where.target)}.get(where.scope, 1)  # those that do it together

    operands: dict[str, Any] = {
        item.name: Place(where.place(item), where.shape(item), where.dtype)
        for item in where.row.operands
        if item in where.tiles or ("tile" in item.kinds and item.default)
    }
    try:
        check_tile_operation(
            where.row.name, {**operands, **where.plain}, scope=where.scope, threads=threads, target=where.target,
            tolerance=0.05 if where.dtype == "float16" else 1e-4, dispatch=variant.name, extensions=subject.extensions,
        )  # fmt: skip
    except (TirxError, AssertionError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        yield f"`{variant.name}` of {where}: {'; '.join(lines[:3])}"


def _meanings(subject: Subject) -> Iterator[str]:
    for row in subject.rows("tile_ops"):
        situation = next(
            (item for target in subject.targets for item in situations(row, target) if item.kernel() is not None), None
        )
        if situation is None:
            yield Gap(f"tile operation {row.name} takes none of the kit's operands")
            continue
        arrays = {item.name: np.ones(situation.shape(item), "float32") for item in situation.tiles if not item.optional}
        answer = tile_meaning(row.name)(**arrays, **situation.plain)
        written = [item.name for item in row.operands if "w" in item.rw]
        for name, value in zip(written, answer if len(written) > 1 else (answer,), strict=False):
            if name in arrays and np.shape(value) != arrays[name].shape:
                yield f"tile operation {row.name}: its meaning gives `{name}` the shape {np.shape(value)}, not {arrays[name].shape}"


def _config(subject: Subject) -> Iterator[str]:
    found = _trials(subject)
    for key, row in found.known.items():
        for item in row.config:
            yield from (
                f"`{row.name}` of {row.operation}: keyword `{item.name}` {problem}" for problem in _schema(item)
            )
        where = found.fitting.get(key)
        if isinstance(where, Situation):
            yield from _keywords(row, where, subject.extensions)


def _schema(item: ConfigKey) -> Iterator[str]:
    types = item.type if isinstance(item.type, tuple) else (item.type,)
    if item.default is not None and object not in types and not isinstance(item.default, types):
        yield f"has the default {item.default!r}, no {' or '.join(one.__name__ for one in types)}"
    if item.choices and item.default is not None and item.default not in item.choices:
        yield f"has the default {item.default!r}, which is none of its choices"
    if not item.doc:
        yield "has no doc"


def _keywords(row: Variant, where: Situation, extensions: tuple[str, ...]) -> Iterator[str]:
    """Each allowed value is taken or declined; a wrong one and an unknown keyword are errors."""
    for item in row.config:
        for value in item.choices or ([item.default] if isinstance(item.default, int | str | float) else []):
            problem = _tried(where, row, extensions, **{item.name: value})
            if problem is not None and not isinstance(problem, DispatchError):
                yield f"`{row.name}` of {row.operation} with {item.name}={value!r}: {type(problem).__name__}: {problem}"
        plain = item.type in (int, bool) or (item.choices and all(isinstance(one, str) for one in item.choices))
        if plain and _tried(where, row, extensions, **{item.name: "no such value"}) is None:
            yield f"`{row.name}` of {row.operation} takes {item.name}='no such value'"
    if _tried(where, row, extensions, no_such_keyword=1) is None:
        yield f"`{row.name}` of {row.operation} takes a keyword that it does not declare"


def _tried(where: Situation, row: Variant, extensions: tuple[str, ...], **keywords: Any) -> BaseException | None:
    """What lowering with these keywords raised."""
    try:
        kernel = where.kernel(dispatch=row.name, **keywords)
        if kernel is None:
            return ScriptError("the operation itself refuses it")
        return explain(kernel, where.target, extensions=extensions).error
    except Exception as error:  # noqa: BLE001 - told to whoever asks
        return error


CHECKS = (
    ConformanceCheck(
        "dispatch.selected",
        _selected,
        "each variant fits somewhere",
        'give a sample kernel in which it is chosen, or declare why there is none: GAPS = {"dispatch.selected: copy fast": "..."}',
        after=COMPILED,
    ),
    ConformanceCheck(
        "dispatch.refusals",
        _refusals,
        "predicates answer or decline with a reason, and raise nothing else",
        "call decline(reason, measured=...) in the predicate; an exception there is a bug",
        after=COMPILED,
    ),
    ConformanceCheck(
        "dispatch.results",
        _results,
        "variants compute what the operation means",
        "compare with the operation's meaning: tirx.testing.operations.check_tile_operation",
        after=(*COMPILED, "dispatch.meanings"),
    ),
    ConformanceCheck(
        "dispatch.meanings",
        _meanings,
        "own tile operations mean something in NumPy",
        "answer the new value of the written operand, in its shape",
    ),
    ConformanceCheck(
        "dispatch.config",
        _config,
        "keywords are what they are declared to be",
        "correct ConfigKey: type, default, choices, doc",
        after=COMPILED,
    ),
)
