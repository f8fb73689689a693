"""Running: what is declared works, what is not is refused, in the simulator and on a device where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...backend import registry
from ...driver import compile as compile_kernel
from ...ir import IRModule, PrimFunc, dtype_names
from ...runtime.toolchains import installed_toolchains
from ...support.errors import TirxError, VerifyError
from ...target import CONSTRUCTS, Target
from .cases import Case, cases, compilable
from .check import COMPILED, ConformanceCheck, Gap
from .constructs import CONSTRUCT_SAMPLES, copy_of, too_much
from .kernels import NEUTRAL_SAMPLES
from .running import compare, lacking, no_device, simulated
from .sample import Sample
from .subject import Subject

__all__ = ["CHECKS"]


def _construct(name: str) -> Callable[[Subject], Iterator[str]]:
    def run(subject: Subject) -> Iterator[str]:
        for target in subject.targets:
            if name not in target.capabilities.constructs:
                yield from _refused(CONSTRUCT_SAMPLES[name].make(subject.width(target)), target, f"construct `{name}`")
                yield Gap(f"kind `{target.kind.name}` does not declare {CONSTRUCTS[name]}, and refuses them")
            elif subject.has_threads(target):
                yield from _works(subject, CONSTRUCT_SAMPLES[name], target)
            else:
                yield Gap(f"kind `{target.kind.name}` has no threads: neutral kernels do not show it")

    return run


def _works(subject: Subject, sample: Sample, target: Target) -> Iterator[str]:
    """A kernel that must compile, be written, and give the right values."""
    kernel = sample.make(subject.width(target))
    try:
        executable = subject.compiled(kernel, target)
        if target.kind.name in registry().rows("codegens"):
            assert executable.source.text
        yield from simulated(sample, kernel, target, subject.extensions)
    except TirxError as error:
        yield f"{sample.name} on {target}: {error.message}"


def _refused(kernel: PrimFunc | IRModule, target: Target, what: str) -> Iterator[str]:
    """A kernel that must be refused at a line of its own, before source is written."""
    try:
        compile_kernel(kernel, target)
    except VerifyError as error:
        if not any(item.span for item in error.diagnostics):
            yield f"{what} is refused on {target} without a place: {error.message}"
    except TirxError:
        return
    except Exception as error:  # noqa: BLE001 - that is what this is about
        yield f"{what} raises {type(error).__name__} on {target}: {error}"
    else:
        yield f"{what} is not declared by kind `{target.kind.name}`, and taken all the same"


def _dtypes(subject: Subject) -> Iterator[str]:
    for target in subject.targets:
        if not subject.has_threads(target):
            yield Gap(f"kind `{target.kind.name}` has no threads: neutral kernels do not show its dtypes")
            continue
        for name in (*dtype_names(), *registry().rows("dtypes")):
            if name in target.capabilities.dtypes:
                yield from _stored(subject, name, target)
            elif name not in ("handle", "void", "tensormap"):
                yield from _refused(copy_of(name), target, f"dtype `{name}`")


def _stored(subject: Subject, dtype: str, target: Target) -> Iterator[str]:
    try:
        executable = subject.compiled(copy_of(dtype), target)
        if target.kind.name in registry().rows("codegens"):
            assert executable.source.text
    except TirxError as error:
        reason = subject.gap("targets.dtypes", dtype)
        yield (
            Gap(f"{dtype}: {reason}")
            if reason
            else f"dtype `{dtype}` is declared, and copying it on {target} fails: {error.message}"
        )


def _limits(subject: Subject) -> Iterator[str]:
    for target in subject.targets:
        most, room = target.limits.get("threads_per_cta"), target.limits.get("shared_bytes")
        if subject.has_threads(target) and most is not None:
            yield from _refused(too_much(threads=most + 1), target, f"a cta of {most + 1} threads")
        if subject.has_threads(target) and room is not None:
            yield from _refused(too_much(shared=room + 4), target, f"{room + 4} bytes of shared memory")


def _without_threads(subject: Subject) -> Iterator[str]:
    for target in subject.targets:
        if not subject.has_threads(target):
            yield from _refused(copy_of("int32"), target, "a kernel that counts threads")


def _kernel(sample: Sample) -> Callable[[Subject], Iterator[str]]:
    def run(subject: Subject) -> Iterator[str]:
        for target in subject.targets:
            reason = lacking(sample, subject, target)
            if reason:
                yield Gap(reason)
            else:
                yield from _works(subject, sample, target)

    return run


def _samples(subject: Subject) -> Iterator[str]:
    if not subject.samples:
        yield Gap("it brings no kernels of its own: `--samples FILE`")
    own = {sample.name for sample in subject.samples}
    for case in cases(subject):
        if case.sample.name in own:
            yield from _works(subject, case.sample, case.target)


def _simulator(subject: Subject) -> Iterator[str]:
    rows = registry().rows("simulators")
    yield from (
        f"kind `{kind.name}` says nothing of how it is simulated" for kind in subject.kinds if kind.name not in rows
    )


def _toolchain(subject: Subject) -> Iterator[str]:
    for case in compilable(subject):
        found = installed_toolchains(case.target.kind.name)
        if not any(version for _, version in found):
            what = "; ".join(row.install for row, _ in found) or "it has none"
            yield Gap(f"no toolchain of kind `{case.target.kind.name}` is installed: {what}")
            return
        try:
            if not subject.compiled(case.kernel, case.target).binary.data:
                yield f"{case}: the binary is empty"
        except TirxError as error:
            yield f"{case}: {error.message}"


def _device(subject: Subject) -> Iterator[str]:
    rows = [row for row in subject.rows("devices") if row.kind in {kind.name for kind in subject.kinds}]
    if not rows:
        yield Gap("it has no devices")
    for row in rows:
        reason = no_device(row)
        if reason:
            yield Gap(reason)
            continue
        for case in compilable(subject):
            if case.target.kind.name == row.kind:
                yield from _on_device(subject, case)


def _on_device(subject: Subject, case: Case) -> Iterator[str]:
    before = tuple(case.sample.arguments(np.random.default_rng(0)))
    after = tuple(item.copy() if isinstance(item, np.ndarray) else item for item in before)
    try:
        subject.compiled(case.kernel, case.target)(*after)
    except TirxError as error:
        yield f"{case}: {error.message}"
        return
    yield from compare(case.sample, case.kernel, before, after, f"on {case.target}, on the device")


_DECLARE = "declare in Capabilities what the kind has, and nothing else; give emissions for what is declared"

CHECKS = (
    *(
        ConformanceCheck(
            f"construct.{name}",
            _construct(name),
            f"{CONSTRUCTS[name]} work where they are declared and are refused elsewhere",
            _DECLARE,
            after=COMPILED,
        )
        for name in CONSTRUCT_SAMPLES
    ),
    ConformanceCheck(
        "targets.dtypes",
        _dtypes,
        "elements of declared types can be copied, others are refused",
        _DECLARE,
        after=COMPILED,
    ),
    ConformanceCheck(
        "targets.refuses_too_much",
        _limits,
        "kernels beyond the kind's limits are refused at their line",
        "let the pipeline run `verify` after `bind_target`, and give limits",
        after=COMPILED,
    ),
    ConformanceCheck(
        "targets.refuses_threads",
        _without_threads,
        "a kind without threads refuses kernels that count them",
        "let the pipeline run `verify` after `bind_target`",
        after=COMPILED,
    ),
    ConformanceCheck(
        "simulator.declared", _simulator, "each kind can be simulated", "give a Simulator row: simt or sequential"
    ),
    *(
        ConformanceCheck(
            f"kernel.{sample.name}",
            _kernel(sample),
            f"the neutral kernel `{sample.name}` gives what NumPy gives",
            "run `tirx.simulate` on it with this target, and read the report",
            after=COMPILED,
        )
        for sample in NEUTRAL_SAMPLES
    ),
    ConformanceCheck(
        "kernel.samples",
        _samples,
        "the backend's own kernels give what they expect",
        "run `tirx run FILE`, and read the report",
        after=COMPILED,
    ),
    ConformanceCheck(
        "toolchain.compiles",
        _toolchain,
        "an installed toolchain takes the source of every kernel",
        "read the toolchain's message: the source is what is wrong",
        after=COMPILED,
    ),
    ConformanceCheck(
        "device.runs",
        _device,
        "a device gives what NumPy gives",
        "compare with the simulator: `tirx run --device`",
        after=COMPILED,
    ),
)
