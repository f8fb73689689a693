"""GPUs through the driver API of cuda-bindings. Imported when a kernel is run."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from tirx.codegen.names import identifier
from tirx.ir import DType
from tirx.runtime.row import Binary
from tirx.support.errors import TirxError

from .launch import LaunchShape, launch_shape, packed, stream_handle

__all__ = ["CudaDevice", "DeviceError", "Kernel", "Kernels", "Timer", "open_device"]


class DeviceError(TirxError):
    """The driver refused something, or a kernel did something wrong."""


class Kernel:
    """A loaded kernel: its name, the driver's function, the device it is on."""

    __slots__ = ("function", "index", "name")

    def __init__(self, name: str, function: Any, index: int) -> None:
        self.name = name
        self.function = function
        self.index = index


class Kernels(dict[str, Kernel]):
    """Kernels by name; a name that is no C identifier finds the one that source was generated for."""

    def __missing__(self, name: str) -> Kernel:
        spelled = identifier(name)
        if spelled == name:
            raise KeyError(name)
        return self[spelled]


class CudaDevice:
    """The device interface of the runtime over a driver module (`cuda.bindings.driver`, or one that tests give)."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver
        self._contexts: dict[int, Any] = {}
        self._call("cuInit", 0)

    # ---- devices and memory -----------------------------------------------------------------------------------

    def count(self) -> int:
        """Number of GPUs."""
        return int(self._call("cuDeviceGetCount"))

    def describe(self, index: int) -> Mapping[str, Any]:
        """Name, architecture and memory of a GPU."""
        device = self._call("cuDeviceGet", index)
        kind = self.driver.CUdevice_attribute
        major = self._call("cuDeviceGetAttribute", kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
        minor = self._call("cuDeviceGetAttribute", kind.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
        name = self._call("cuDeviceGetName", 128, device)
        return {
            "name": name.rstrip(b"\0").decode(),
            "arch": f"sm_{major}{minor}",
            "multiprocessors": int(
                self._call("cuDeviceGetAttribute", kind.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)
            ),
            "memory_bytes": int(self._call("cuDeviceTotalMem", device)),
        }

    def upload(self, host: Any, index: int) -> int:
        """A copy of a NumPy array on the device; its address."""
        self._enter(index)
        address = self._call("cuMemAlloc", max(host.nbytes, 1))
        if host.nbytes:
            self._call("cuMemcpyHtoD", address, host.ctypes.data, host.nbytes)
        return int(address)

    def download(self, address: int, host: Any, index: int) -> None:
        """Copy back into a NumPy array."""
        self._enter(index)
        if host.nbytes:
            self._call("cuMemcpyDtoH", host.ctypes.data, self.driver.CUdeviceptr(address), host.nbytes)

    def free(self, address: int, index: int) -> None:
        """Give memory back."""
        self._enter(index)
        self._call("cuMemFree", self.driver.CUdeviceptr(address))

    # ---- kernels ----------------------------------------------------------------------------------------------

    def load(self, binary: Binary, index: int) -> Mapping[str, Kernel]:
        """The kernels of a cubin."""
        self._enter(index)
        module = self._call("cuModuleLoadData", binary.data)
        return Kernels(
            {
                name: Kernel(name, self._call("cuModuleGetFunction", module, name.encode()), index)
                for name in binary.resources
            }
        )

    def launch(
        self,
        kernel: Kernel,
        args: Sequence[tuple[Any, DType]],
        geometry: Mapping[str, int],
        resources: Mapping[str, int],
        flags: Sequence[str],
        stream: Any,
    ) -> None:
        """Queue a launch on `stream`; an empty grid is nothing to do."""
        shape = launch_shape(geometry, resources, flags)
        if shape.is_empty:
            return
        self._enter(kernel.index)
        self._allow(kernel, shape)
        values = [ctypes.create_string_buffer(item, len(item)) for item in packed(args)]
        pointers = (ctypes.c_void_p * max(len(values), 1))(*(ctypes.addressof(value) for value in values))
        config = self._config(shape, stream_handle(stream))
        self._call("cuLaunchKernelEx", config, kernel.function, ctypes.addressof(pointers), 0)

    def _allow(self, kernel: Kernel, shape: LaunchShape) -> None:
        """What a kernel may use only after asking."""
        names = self.driver.CUfunction_attribute
        if shape.needs_large_shared:
            attribute = names.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", kernel.function, attribute, shape.dynamic_bytes)
        if shape.needs_large_cluster:
            attribute = names.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            self._call("cuFuncSetAttribute", kernel.function, attribute, 1)

    def _config(self, shape: LaunchShape, stream: int) -> Any:
        config = self.driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = shape.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = shape.block
        config.sharedMemBytes = shape.dynamic_bytes
        config.hStream = stream
        attributes = self._attributes(shape)
        config.attrs, config.numAttrs = attributes, len(attributes)
        return config

    def _attributes(self, shape: LaunchShape) -> list[Any]:
        names = self.driver.CUlaunchAttributeID
        found = []
        if shape.cluster is not None:
            found.append(self._dims(names.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, "clusterDim", shape.cluster))
        if shape.preferred_cluster is not None:
            found.append(
                self._dims(
                    names.CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                    "preferredClusterDim",
                    shape.preferred_cluster,
                )
            )
        if shape.cooperative:
            found.append(self._flag(names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "cooperative"))
        if shape.programmatic:
            found.append(
                self._flag(
                    names.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                    "programmaticStreamSerializationAllowed",
                )
            )
        return found

    def _dims(self, identity: Any, field: str, dims: tuple[int, int, int]) -> Any:
        attribute = self.driver.CUlaunchAttribute()
        attribute.id = identity
        place = getattr(attribute.value, field)
        place.x, place.y, place.z = dims
        return attribute

    def _flag(self, identity: Any, field: str) -> Any:
        attribute = self.driver.CUlaunchAttribute()
        attribute.id = identity
        setattr(attribute.value, field, 1)
        return attribute

    # ---- waiting ----------------------------------------------------------------------------------------------

    def synchronize(self, index: int) -> None:
        """Wait for all work of the device; `DeviceError` when a kernel failed."""
        self._enter(index)
        self._call("cuCtxSynchronize")

    def time(self, index: int) -> Timer:
        """A context manager: `.milliseconds` is the device time between its ends."""
        self._enter(index)
        return Timer(self._call)

    # ---- the driver -------------------------------------------------------------------------------------------

    def _enter(self, index: int) -> None:
        if index not in self._contexts:
            self._contexts[index] = self._call("cuDevicePrimaryCtxRetain", self._call("cuDeviceGet", index))
        self._call("cuCtxSetCurrent", self._contexts[index])

    def _call(self, name: str, *args: Any) -> Any:
        """The value of a driver function, which answers `(error, values...)`."""
        error, *values = getattr(self.driver, name)(*args)
        if int(error) != 0:
            text = self.driver.cuGetErrorString(error)[1]
            said = text.decode() if isinstance(text, bytes) else str(text)
            raise DeviceError(
                f"{name}: {said}", hint="run the kernel under tirx.simulate(...), which says what it does wrong"
            )
        return values[0] if values else None


class Timer:
    """Two events on the default stream."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._start = call("cuEventCreate", 0)
        self._stop = call("cuEventCreate", 0)
        self.milliseconds = 0.0

    def __enter__(self) -> Timer:
        self._call("cuEventRecord", self._start, 0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._call("cuEventRecord", self._stop, 0)
        self._call("cuEventSynchronize", self._stop)
        self.milliseconds = float(self._call("cuEventElapsedTime", self._start, self._stop))
        for event in (self._start, self._stop):
            self._call("cuEventDestroy", event)


def open_device() -> CudaDevice:
    """The devices of this machine; ImportError without cuda-bindings, `DeviceError` without a driver."""
    from cuda.bindings import driver  # an extra: only those who run kernels need it

    try:
        return CudaDevice(driver)
    except RuntimeError as error:  # the driver library cannot be loaded
        raise DeviceError(f"the CUDA driver cannot be used: {error}", hint="install NVIDIA's driver") from None
