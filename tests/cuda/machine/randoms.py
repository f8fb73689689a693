"""Random structured kernels as executables: those of the simulator's tests, lowered already, for target CUDA."""

from __future__ import annotations

from tests.core.sim.random_programs import Program
from tirx.ir import IRModule, PrimFunc
from tirx.runtime.executable import Executable
from tirx.target import Target
from tirx.transform.launch import Bounds, Launch
from tirx.transform.pipeline import PassContext

TARGET = Target("cuda -arch=sm_90a")


def executable_of(program: Program) -> Executable:
    """The kernel as lowering leaves it, with the record that says how it is launched."""
    host, device = program.module()
    launch = Launch(
        ("cta.x", "thread.x"), (program.ctas, program.threads), bounds=Bounds(program.threads),
        levels={("kernel", "cta"): program.ctas, ("cta", "thread"): program.threads},
    )  # fmt: skip
    found = PrimFunc(device.name, device.params, device.body, {**device.attrs, "launch": launch, "target": TARGET})
    module = IRModule([host, found])
    return Executable(module, module, PassContext(TARGET))
