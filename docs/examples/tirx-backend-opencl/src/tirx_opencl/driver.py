"""One OpenCL device through pyopencl: its context, its queue, and the compiler of its driver."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import pyopencl

from tirx.support.errors import TargetError

__all__ = ["Driver", "default_driver"]

VARIABLE = "TIRX_OPENCL_DEVICE"


class Driver:
    """A device with a context and a queue of its own."""

    def __init__(self, device: Any) -> None:
        self.cl: Any = pyopencl
        self.device = device
        self.context = pyopencl.Context([device])
        self.queue = pyopencl.CommandQueue(self.context)

    @property
    def version(self) -> str:
        """What a binary depends on."""
        return f"{self.device.platform.version.strip()}, {self.device.name.strip()} {self.device.version}"

    def options(self) -> list[str]:
        """Division and square roots are rounded correctly where the device can: then they are those of NumPy."""
        exact = bool(self.device.single_fp_config & self.cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)
        return ["-cl-std=CL1.2", *(["-cl-fp32-correctly-rounded-divide-sqrt"] if exact else [])]

    def build(self, text: str, options: Sequence[str] = ()) -> tuple[Any, str]:
        """A built program and what the compiler said; pyopencl's `Error` where it refuses."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pyopencl.CompilerWarning)  # they are part of the log
            program = pyopencl.Program(self.context, text).build([*self.options(), *options], cache_dir=False)
        return program, str(program.get_build_info(self.device, pyopencl.program_build_info.LOG)).strip()

    def binary(self, program: Any) -> bytes:
        """The device's binary of a built program."""
        return bytes(program.get_info(pyopencl.program_info.BINARIES)[0])

    def load(self, binary: bytes) -> Any:
        """The program of a binary."""
        return pyopencl.Program(self.context, [self.device], [binary]).build(self.options())


@cache
def default_driver() -> Driver | None:
    """The first device, or the one that `TIRX_OPENCL_DEVICE` numbers; None without a device."""
    found = _devices()
    wanted = os.environ.get(VARIABLE, "0")
    if not found:
        return None
    if not wanted.isdecimal() or int(wanted) >= len(found):
        listed = ", ".join(f"{number}: {device.name.strip()}" for number, device in enumerate(found))
        raise TargetError(f"{VARIABLE}={wanted}: there is no such device", hint=f"the devices are {listed}")
    return Driver(found[int(wanted)])


def _devices() -> list[Any]:
    try:
        return [device for platform in pyopencl.get_platforms() for device in platform.get_devices()]
    except pyopencl.LogicError:  # no platform at all
        return []
