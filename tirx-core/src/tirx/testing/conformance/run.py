"""All checks in order, and how one is judged."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterable

from ...support.errors import TirxError
from . import (
    agreement,
    codegen,
    dispatch,
    execution,
    facts,
    importing,
    intrinsics,
    loading,
    manifest,
    namespaces,
    pipelines,
    rows,
    targets,
)
from .check import LOADED, ConformanceCheck, Gap, Outcome
from .report import ConformanceReport
from .subject import Subject

__all__ = ["ALL", "check_backend", "judge"]

_TOPICS = (
    manifest,
    importing,
    loading,
    rows,
    namespaces,
    targets,
    pipelines,
    codegen,
    intrinsics,
    dispatch,
    execution,
    facts,
    agreement,
)


def _samples(subject: Subject) -> Iterable[str]:
    subject.samples  # noqa: B018 - a file that cannot be read says why
    return ()


def _declared_gaps(subject: Subject) -> Iterable[str]:
    yield from (f"declared gap {name!r} is none: nothing had to be left out" for name in subject.unused_gaps)


ALL: tuple[ConformanceCheck, ...] = (
    *(check for topic in _TOPICS for check in topic.CHECKS),
    ConformanceCheck(
        "samples.read",
        lambda subject: iter(_samples(subject)),
        "the sample files can be read",
        "correct the file: KERNEL, arguments(rng), expected(*arrays)",
        after=("load.loads",),
    ),
    ConformanceCheck(
        "samples.gaps",
        lambda subject: iter(_declared_gaps(subject)),
        "gaps are declared only for what is missing",
        "take the entry out of GAPS",
        after=(*LOADED, "targets.dtypes", "intrinsics.emittable", "dispatch.selected"),  # they ask for declared gaps
    ),
)
"""Every check, in the order in which they run."""


_BY_NAME = {item.name: item for item in ALL}


def judge(check: ConformanceCheck, subject: Subject) -> Outcome:
    """The outcome of one check, found once for each subject. What it raises counts against the backend, with the place."""
    if check.name not in subject.outcomes:
        failed = next((name for name in check.after if judge(_BY_NAME[name], subject).state == "failed"), None)
        held_up = failed or next((name for name in check.after if judge(_BY_NAME[name], subject).held_up), None)
        subject.outcomes[check.name] = _held_up(check, held_up) if held_up else _run(check, subject)
    outcome: Outcome = subject.outcomes[check.name]
    return outcome


def _held_up(check: ConformanceCheck, other: str) -> Outcome:
    return Outcome(check, [], [f"not tried, since `{other}` does not hold"], held_up=True)


def _run(check: ConformanceCheck, subject: Subject) -> Outcome:
    problems: list[str] = []
    gaps: list[str] = []
    start = time.perf_counter()
    try:
        for line in check.run(subject):
            (gaps if isinstance(line, Gap) else problems).append(str(line))
    except TirxError as error:
        problems.append(str(error.message))
    except Exception as error:  # noqa: BLE001 - the backend's, or a check that it did not expect; the place tells
        last = traceback.extract_tb(error.__traceback__)[-1]
        problems.append(f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})")
    return Outcome(check, list(dict.fromkeys(problems)), list(dict.fromkeys(gaps)), time.perf_counter() - start)


def check_backend(name: str, samples: Iterable[str] = (), only: Iterable[str] = ()) -> ConformanceReport:
    """Check an installed backend in this process; `only` are names of checks, or topics (`import`). Needs no pytest."""
    subject, wanted = Subject(name, tuple(samples)), tuple(only)
    chosen = [item for item in ALL if not wanted or item.name in wanted or item.name.partition(".")[0] in wanted]
    return ConformanceReport(subject, [judge(item, subject) for item in chosen])
