"""Running a sample on the simulator or a device, and holding it against what must come out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...driver import simulate
from ...ir import IRModule, PrimFunc
from ...runtime.row import DeviceRow
from ...support.errors import TirxError
from ...support.late import load_object
from ...target import Target
from .sample import Sample
from .subject import Subject

__all__ = ["compare", "lacking", "no_device", "simulated"]


def no_device(row: DeviceRow) -> str:
    """Why kernels cannot be run on devices of this row here; empty where they can."""
    try:
        count = load_object(row.open)().count()
    except Exception as error:  # noqa: BLE001 - drivers fail in any way
        message = error.message if isinstance(error, TirxError) else f"{type(error).__name__}: {error}"
        return f"kind `{row.kind}` cannot run here: {str(message).splitlines()[0]}; {row.install}"
    return "" if count else f"no device of kind `{row.kind}` is present"


def lacking(sample: Sample, subject: Subject, target: Target) -> str:
    """Why a sample is not for this target; empty when it is."""
    if sample.target:
        other = Target(sample.target)
        return "" if other.kind.name == target.kind.name else f"it is for {sample.target}"
    if not subject.has_threads(target):
        return f"kind `{target.kind.name}` has no threads; give samples of your own"
    has = target.capabilities
    missing = [item for item in sample.needs if item not in has.constructs and item not in has.dtypes]
    return f"kind `{target.kind.name}` does not declare {', '.join(missing)}" if missing else ""


def simulated(
    sample: Sample, kernel: PrimFunc | IRModule, target: Target, extensions: tuple[str, ...] = ()
) -> list[str]:
    """What is wrong with a sample in the simulator."""
    before = tuple(sample.arguments(np.random.default_rng(0)))
    after = _copies(before)
    report = simulate(kernel, *after, target=target, extensions=extensions)
    if report.verdict != "clean":
        return [f"{sample.name} on {target}: the simulator says {report.verdict}: {_short(report)}"]
    return compare(sample, kernel, before, after, f"on {target}, simulated")


def compare(
    sample: Sample, kernel: PrimFunc | IRModule, before: tuple[Any, ...], after: tuple[Any, ...], where: str
) -> list[str]:
    """Where the arrays after a run are not what was expected."""
    func = kernel if isinstance(kernel, PrimFunc) else next(iter(kernel))
    problems = []
    for name, wanted in sample.expected(*_copies(before)).items():
        got, right = (np.asarray(item, np.float64) for item in (after[func.names.index(name)], wanted))
        error = float(np.max(np.abs(got - right), initial=0.0) / max(1.0, float(np.max(np.abs(right), initial=0.0))))
        if not error <= sample.tolerance:
            problems.append(f"{sample.name} {where}: `{name}` is off by {error:.2g} of {sample.tolerance:g} allowed")
    return problems


def _copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item.copy() if isinstance(item, np.ndarray) else item for item in arguments)


def _short(report: Any) -> str:
    lines = [line.strip() for line in str(report).splitlines() if line.strip()]
    return "; ".join(lines[:4])
