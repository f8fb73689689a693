"""Which kernels a backend is tried with: the neutral ones that its kinds can run, and its own."""

from __future__ import annotations

from ...backend import registry
from ...ir import IRModule, PrimFunc
from ...support.errors import TirxError
from ...target import Target
from .constructs import CONSTRUCT_SAMPLES
from .kernels import NEUTRAL_SAMPLES
from .running import lacking
from .sample import Sample
from .subject import Subject

__all__ = ["Case", "cases", "compilable", "lowerable"]


class Case:
    """A kernel on a target."""

    __slots__ = ("kernel", "sample", "target")

    def __init__(self, sample: Sample, kernel: PrimFunc | IRModule, target: Target) -> None:
        self.sample = sample
        self.kernel = kernel
        self.target = target

    def __str__(self) -> str:
        return f"{self.sample.name} on {self.target}"


def cases(subject: Subject) -> list[Case]:
    """Every kernel on every target that declares what it needs."""
    every = (*CONSTRUCT_SAMPLES.values(), *NEUTRAL_SAMPLES, *subject.samples)
    return [
        Case(sample, sample.make(subject.width(target)), Target(sample.target) if sample.target else target)
        for target in subject.targets
        for sample in every
        if not lacking(sample, subject, target)
    ]


def lowerable(subject: Subject) -> list[Case]:
    """Those that can be lowered: why others cannot is told by the checks of constructs and kernels."""
    found = []
    for case in cases(subject):
        try:
            subject.compiled(case.kernel, case.target)
        except TirxError:
            continue
        found.append(case)
    return found


def compilable(subject: Subject) -> list[Case]:
    """Those whose source can be written too."""
    found = []
    for case in lowerable(subject):
        try:
            executable = subject.compiled(case.kernel, case.target)
            if case.target.kind.name in registry().rows("codegens"):
                executable.source  # noqa: B018 - made at the first need, and kept
        except TirxError:
            continue
        found.append(case)
    return found
