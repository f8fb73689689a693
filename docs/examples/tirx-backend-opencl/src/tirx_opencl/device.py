"""The device interface of the runtime, over pyopencl. Imported when a kernel is run."""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from tirx.codegen.names import identifier
from tirx.ir import DType
from tirx.ir.numpy_types import numpy_dtype
from tirx.runtime.row import Binary
from tirx.support.errors import TirxError

from .driver import Driver, default_driver

__all__ = ["DeviceError", "Kernel", "OpenCLDevice", "Timer", "attributes", "open_device"]

_PAGE = 4096
_FAILURE = 512  # bytes: a flag, then the text of the assertion that failed first
_AXES = ("x", "y", "z")


class DeviceError(TirxError):
    """The driver refused something."""


class Kernel:
    """A loaded kernel."""

    __slots__ = ("function", "name")

    def __init__(self, name: str, function: Any) -> None:
        self.name = name
        self.function = function


class Kernels(dict[str, Kernel]):
    """Kernels by name; a name that is no C identifier finds the one that source was generated for."""

    def __missing__(self, name: str) -> Kernel:
        spelled = identifier(name)
        if spelled == name:
            raise KeyError(name)
        return self[spelled]


class OpenCLDevice:
    """Memory objects of OpenCL have no addresses: the runtime gets numbers of ours, one range for each object."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.cl = driver.cl
        self._starts: list[int] = []  # rising
        self._objects: dict[int, Any] = {}
        self._next = _PAGE
        self._failures: list[tuple[str, Any]] = []  # of launches that nobody has waited for: kernel, its memory

    # ---- devices and memory -----------------------------------------------------------------------------------

    def count(self) -> int:
        """The one device that the driver stands for."""
        return 1

    def describe(self, index: int) -> Mapping[str, Any]:
        """Name and figures of the device."""
        device = self.driver.device
        return {"name": device.name.strip(), "driver": self.driver.version, "memory_bytes": int(device.global_mem_size)}

    def upload(self, host: Any, index: int) -> int:
        """A copy of a NumPy array on the device; its address."""
        memory = self.cl.Buffer(self.driver.context, self.cl.mem_flags.READ_WRITE, size=max(host.nbytes, 1))
        address, self._next = self._next, self._next + _PAGE * (host.nbytes // _PAGE + 2)  # a gap behind each
        if host.nbytes:
            self.cl.enqueue_copy(self.driver.queue, memory, np.ascontiguousarray(host))
        self._starts.append(address)
        self._objects[address] = memory
        return address

    def download(self, address: int, host: Any, index: int) -> None:
        """Copy back into a NumPy array."""
        if not host.nbytes:
            return
        if host.flags.c_contiguous:
            self.cl.enqueue_copy(self.driver.queue, host, self._objects[address])
            return
        dense = np.empty(host.shape, host.dtype)
        self.cl.enqueue_copy(self.driver.queue, dense, self._objects[address])
        host[...] = dense

    def free(self, address: int, index: int) -> None:
        """Give memory back."""
        self._starts.remove(address)
        self._objects.pop(address).release()

    def _memory(self, address: int) -> Any:
        """The memory object at an address, or the part of one that begins there; 0 is no object."""
        if address == 0:
            return None
        position = bisect_right(self._starts, address) - 1
        start = self._starts[position] if position >= 0 else address
        memory = self._objects.get(start)
        if memory is None or address - start >= memory.size:
            raise DeviceError(f"{address:#x} is no address on this device", hint="pass arrays, not numbers")
        return memory if address == start else memory.get_sub_region(address - start, memory.size - (address - start))

    # ---- kernels ----------------------------------------------------------------------------------------------

    def load(self, binary: Binary, index: int) -> Mapping[str, Kernel]:
        """The kernels of a binary."""
        program = self._checked(self.driver.load, binary.data)
        return Kernels({name: Kernel(name, self.cl.Kernel(program, name)) for name in binary.resources})

    def launch(
        self,
        kernel: Kernel,
        args: Sequence[tuple[Any, DType]],
        geometry: Mapping[str, int],
        resources: Mapping[str, int],
        flags: Sequence[str],
        stream: Any,
    ) -> None:
        """Queue a launch on `stream` (a `pyopencl.CommandQueue`; None: the device's own); an empty grid is nothing to do."""
        group = [geometry.get(f"thread.{axis}", 1) for axis in _AXES]
        total = [geometry.get(f"cta.{axis}", 1) * size for axis, size in zip(_AXES, group, strict=True)]
        if 0 in total:
            return
        values = [self._argument(value, dtype) for value, dtype in args]
        values += self._further(kernel, kernel.function.num_args - len(values), resources)
        queue = stream or self.driver.queue
        self._checked(kernel.function.set_args, *values)
        self._checked(self.cl.enqueue_nd_range_kernel, queue, kernel.function, total, group)

    def _further(self, kernel: Kernel, count: int, resources: Mapping[str, int]) -> list[Any]:
        """What the generator has added: memory for a failed assertion, then local memory that the launch sizes."""
        local = [
            self.cl.LocalMemory(max(size, 1)) for name, size in resources.items() if name == "dynamic_shared_bytes"
        ]
        if count <= len(local):
            return local[:count]
        flags = self.cl.mem_flags
        memory = self.cl.Buffer(
            self.driver.context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=np.zeros(_FAILURE, np.uint8)
        )
        self._failures.append((kernel.name, memory))
        return [memory, *local]

    def _argument(self, value: Any, dtype: DType) -> Any:
        return self._memory(int(value)) if dtype.is_handle else np.asarray(value).astype(numpy_dtype(dtype))[()]

    # ---- waiting ----------------------------------------------------------------------------------------------

    def synchronize(self, index: int) -> None:
        """Wait for all work of the device; `DeviceError` tells of an assertion that failed in it."""
        self._checked(self.driver.queue.finish)
        failures, self._failures = self._failures, []
        for name, memory in failures:
            found = np.zeros(_FAILURE, np.uint8)
            self._checked(self.cl.enqueue_copy, self.driver.queue, found, memory)
            if found[:4].any():
                raise DeviceError(
                    f"in kernel `{name}`: {_text(found[4:])}",
                    hint="tirx.simulate(...) stops there, and shows the values",
                )

    def time(self, index: int) -> Timer:
        """A context manager: `.milliseconds` is the time until what was queued inside is done."""
        return Timer(self.driver.queue)

    def _checked(self, function: Any, *args: Any) -> Any:
        try:
            return function(*args)
        except self.cl.Error as error:
            hint = "run the kernel under tirx.simulate(...), which says what it does wrong"
            raise DeviceError(f"{self.driver.device.name.strip()}: {error}", hint=hint) from None


def _text(found: Any) -> str:
    """What a kernel has left; values are where the driver prints."""
    text = bytes(found).partition(b"\0")[0].decode("utf-8", "replace").strip()
    return re.sub(r"%[-+ #0-9.]*[a-zA-Z]+", "...", text)


class Timer:
    """The host's clock between two moments at which the queue is empty: every driver has that."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._start = 0.0
        self.milliseconds = 0.0

    def __enter__(self) -> Timer:
        self._queue.finish()
        self._start = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue.finish()
        self.milliseconds = 1000 * (time.perf_counter() - self._start)


def open_device() -> OpenCLDevice:
    """The device of this machine; ImportError without pyopencl, `DeviceError` without a driver."""
    driver = default_driver()
    if driver is None:
        raise DeviceError("no OpenCL device is present", hint='pip install "tirx-backend-opencl[cpu]"')
    return OpenCLDevice(driver)


def attributes() -> dict[str, Any]:
    """Attributes of a target that is the device of this machine: `tirx.Target({"kind": "opencl", **attributes()})`."""
    device = open_device().driver.device
    extensions = device.extensions.split()
    return {
        "max_threads": int(device.max_work_group_size),
        "local_bytes": int(device.local_mem_size),
        "half": "cl_khr_fp16" in extensions,
        "double": "cl_khr_fp64" in extensions,
    }
