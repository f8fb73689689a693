"""Simulating kernels in tests, also those that the verifier would refuse."""

from __future__ import annotations

from typing import Any

from tirx.backend import find
from tirx.ir import IRModule, PrimFunc
from tirx.runtime import bind_arguments
from tirx.sim import Report, simulate_module
from tirx.target import as_target
from tirx.transform.pipeline import PassContext, run_passes


def lowered(kernel: PrimFunc, target: Any = "generic") -> IRModule:
    """The module that the simulator runs, without static verification, so that its faults are left to the simulator."""
    context = PassContext(as_target(target))
    steps = [step for step in find("pipelines", context.target.kind.name).lower if step.name != "verify"]
    return run_passes(steps, IRModule([kernel]), context)


def simulate(kernel: PrimFunc, *args: Any, target: Any = "generic", **options: Any) -> Report:
    """Simulate without static verification."""
    environment = bind_arguments(kernel, args).environment()
    return simulate_module(lowered(kernel, target), environment, as_target(target), entry=kernel.name, **options)
