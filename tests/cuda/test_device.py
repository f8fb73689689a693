"""The device's pure parts, and its calls of the driver, with a driver that only takes notes."""

from __future__ import annotations

import ctypes
import enum
import types
from typing import Any

import numpy as np
import pytest

from tirx import backend
from tirx.ir import Buffer, DType, Evaluate, PointerType, PrimFunc, const
from tirx.runtime.bind import bind_arguments
from tirx.runtime.row import Binary, Resources
from tirx.support.errors import ArgumentError, TargetError
from tirx_cuda.arrays import recognise, view_of_interface
from tirx_cuda.device import CudaDevice, DeviceError, Kernels
from tirx_cuda.launch import launch_shape, packed, stream_handle

# ---- shapes -------------------------------------------------------------------------------------------------------


def test_a_launch_shape() -> None:
    shape = launch_shape(
        {"cta.x": 8, "cta.y": 2, "thread.x": 128, "cta_in_cluster.x": 2},
        {"dynamic_shared_bytes": 60000},
        ["cooperative"],
    )
    assert (shape.grid, shape.block, shape.cluster, shape.preferred_cluster) == (
        (8, 2, 1),
        (128, 1, 1),
        (2, 1, 1),
        None,
    )
    assert (shape.cooperative, shape.programmatic, shape.needs_large_shared, shape.needs_large_cluster) == (
        True,
        False,
        True,
        False,
    )


def test_flags_of_the_published_language() -> None:
    shape = launch_shape({}, {}, ["blockIdx.x", "tirx.use_dyn_shared_memory", "tirx.use_programtic_dependent_launch"])
    assert shape.programmatic
    assert not shape.is_empty


def test_an_unknown_flag() -> None:
    with pytest.raises(TargetError, match="CUDA has no launch flag `cooperativ`") as caught:
        launch_shape({}, {}, ["cooperativ"])
    assert caught.value.hint == "did you mean `cooperative`?"


def test_a_grid_that_clusters_do_not_divide() -> None:
    with pytest.raises(TargetError, match="9 ctas along x are no multiple of the cluster's 2"):
        launch_shape({"cta.x": 9, "cta_in_cluster.x": 2}, {}, [])


def test_large_clusters_and_empty_grids() -> None:
    assert launch_shape({"cta.x": 16, "cta_in_cluster.x": 16}, {}, []).needs_large_cluster
    assert launch_shape({"cta.x": 0}, {}, []).is_empty


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (5, "int32", b"\x05\0\0\0"),
        (-1, "int8", b"\xff"),
        (2**63, "uint64", b"\0" * 7 + b"\x80"),
        (1.0, "float16", b"\x00\x3c"),
        (1.0, "bfloat16", b"\x80\x3f"),
        (1.0, "float64", b"\0" * 6 + b"\xf0\x3f"),
        (True, "bool", b"\x01"),
    ],
)
def test_arguments_as_bytes(value: Any, dtype: str, expected: bytes) -> None:
    assert packed([(value, DType(dtype))]) == [expected]


def test_addresses_as_bytes() -> None:
    assert packed([(0x7F0000001000, PointerType("float32"))]) == [b"\x00\x10\0\0\0\x7f\0\0"]


def test_streams() -> None:
    assert stream_handle(None) == 0
    assert stream_handle(7) == 7
    assert stream_handle(types.SimpleNamespace(cuda_stream=9)) == 9
    assert stream_handle(types.SimpleNamespace(__cuda_stream__=lambda: (0, 11))) == 11
    with pytest.raises(ArgumentError, match="a str is no stream"):
        stream_handle("x")


# ---- the driver ---------------------------------------------------------------------------------------------------


class Status(enum.IntEnum):
    SUCCESS = 0
    BROKEN = 700


class Names:
    """Stands for the driver's enumerations: any attribute is its own name."""

    def __getattr__(self, name: str) -> str:
        return name


class Record(types.SimpleNamespace):
    """A structure: fields come into being when they are touched."""

    def __getattr__(self, name: str) -> Any:
        made = Record()
        setattr(self, name, made)
        return made


class FakeDriver:
    """Notes every call; `answers` gives values by function."""

    CUdevice_attribute = CUfunction_attribute = CUlaunchAttributeID = Names()
    CUlaunchConfig = CUlaunchAttribute = Record

    def __init__(self, **answers: Any) -> None:
        self.answers = {
            "cuDeviceGetCount": 1,
            "cuDeviceGet": 0,
            "cuMemAlloc": 4096,
            "cuEventElapsedTime": 1.5,
            **answers,
        }
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.broken = ""
        self.parameters: list[bytes] = []

    @staticmethod
    def CUdeviceptr(address: int) -> int:
        return address

    def cuGetErrorString(self, error: Any) -> tuple[Status, bytes]:
        return Status.SUCCESS, b"an illegal memory access was encountered"

    def cuLaunchKernelEx(self, config: Any, function: Any, pointers: int, extra: int) -> tuple[Status]:
        self.calls.append(("cuLaunchKernelEx", (config, function)))
        slots = (ctypes.c_void_p * 2).from_address(pointers)
        self.parameters = [ctypes.string_at(slots[0], 8), ctypes.string_at(slots[1], 4)]
        return (Status.SUCCESS,)

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> tuple[Any, ...]:
            self.calls.append((name, args))
            if name == self.broken:
                return (Status.BROKEN, None)
            return (Status.SUCCESS, self.answers[name]) if name in self.answers else (Status.SUCCESS,)

        return call

    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def test_memory_goes_there_and_back() -> None:
    driver = FakeDriver()
    device = CudaDevice(driver)
    array = np.zeros(16, np.float32)
    assert device.count() == 1
    assert device.upload(array, 0) == 4096
    device.download(4096, array, 0)
    device.free(4096, 0)
    assert ("cuMemcpyHtoD", (4096, array.ctypes.data, 64)) in driver.calls
    assert ("cuMemcpyDtoH", (array.ctypes.data, 4096, 64)) in driver.calls
    assert ("cuMemFree", (4096,)) in driver.calls
    assert driver.names().count("cuDevicePrimaryCtxRetain") == 1


def test_nothing_is_copied_of_an_empty_array() -> None:
    driver = FakeDriver()
    CudaDevice(driver).upload(np.zeros(0, np.float32), 0)
    assert ("cuMemAlloc", (1,)) in driver.calls
    assert "cuMemcpyHtoD" not in driver.names()


def loaded(driver: FakeDriver) -> tuple[CudaDevice, Any]:
    driver.answers |= {"cuModuleLoadData": "module", "cuModuleGetFunction": "function"}
    device = CudaDevice(driver)
    return device, device.load(Binary(b"cubin", "cubin", {"k": Resources(8, 0, 0, 0)}, "nvrtc"), 0)["k"]


def test_a_launch() -> None:
    driver = FakeDriver()
    device, kernel = loaded(driver)
    args = [(4096, PointerType("float32")), (7, DType("int32"))]
    geometry = {"cta.x": 32, "thread.x": 64, "cta_in_cluster.x": 16}
    device.launch(kernel, args, geometry, {"dynamic_shared_bytes": 100000}, ["cooperative"], 3)
    config = dict(driver.calls)["cuLaunchKernelEx"][0]
    assert (config.gridDimX, config.blockDimX, config.sharedMemBytes, config.hStream, config.numAttrs) == (
        32,
        64,
        100000,
        3,
        2,
    )
    cluster, cooperative = config.attrs
    assert (cluster.id, cluster.value.clusterDim.x) == ("CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION", 16)
    assert (cooperative.id, cooperative.value.cooperative) == ("CU_LAUNCH_ATTRIBUTE_COOPERATIVE", 1)
    assert driver.parameters == [b"\x00\x10" + b"\0" * 6, b"\x07\0\0\0"]
    allowed = [args[1] for name, args in driver.calls if name == "cuFuncSetAttribute"]
    assert allowed == [
        "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
        "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED",
    ]


def test_an_empty_grid_is_not_launched() -> None:
    driver = FakeDriver()
    device, kernel = loaded(driver)
    device.launch(kernel, [], {"cta.x": 0}, {}, [], None)
    assert "cuLaunchKernelEx" not in driver.names()


def test_a_failure_says_what_the_driver_said() -> None:
    driver = FakeDriver()
    driver.broken = "cuCtxSynchronize"
    with pytest.raises(DeviceError, match="cuCtxSynchronize: an illegal memory access was encountered") as caught:
        CudaDevice(driver).synchronize(0)
    assert "tirx.simulate" in (caught.value.hint or "")


def test_time() -> None:
    driver = FakeDriver(cuEventCreate="event")
    with CudaDevice(driver).time(0) as timer:
        assert timer.milliseconds == 0.0
    assert timer.milliseconds == 1.5
    assert driver.names()[-4:] == ["cuEventSynchronize", "cuEventElapsedTime", "cuEventDestroy", "cuEventDestroy"]


def test_description() -> None:
    driver = FakeDriver(cuDeviceGetName=b"H200\0\0", cuDeviceGetAttribute=9, cuDeviceTotalMem=1 << 37)
    found = CudaDevice(driver).describe(0)
    assert found == {"name": "H200", "arch": "sm_99", "multiprocessors": 9, "memory_bytes": 1 << 37}


def test_kernels_are_found_by_the_authors_name() -> None:
    kernels = Kernels({"grou00dfe": "handle"})  # type: ignore[dict-item]
    assert kernels["große"] == "handle"
    with pytest.raises(KeyError):
        kernels["missing"]


# ---- arrays of other libraries ------------------------------------------------------------------------------------


def test_the_cuda_array_interface() -> None:
    interface = {"shape": (4, 8), "typestr": "<f4", "data": (4096, True), "strides": (64, 4), "version": 3}
    view = view_of_interface(interface, types.SimpleNamespace(device=types.SimpleNamespace(index=2)))
    assert (view.pointer, view.shape, view.strides, view.dtype) == (4096, (4, 8), (16, 1), DType("float32"))
    assert (view.device, view.readonly) == ("cuda:2", True)


def test_a_contiguous_array_says_no_strides() -> None:
    view = recognise(
        types.SimpleNamespace(__cuda_array_interface__={"shape": (4, 8), "typestr": "<i8", "data": (0, False)})
    )
    assert view is not None
    assert (view.strides, view.dtype, view.device) == ((8, 1), DType("int64"), "cuda:0")


class OnDevice:
    """A NumPy array whose capsule claims to be on a GPU."""

    def __init__(self, array: Any, kind: int = 2) -> None:
        self.array = array
        self.kind = kind

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.kind, 1

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()


def test_dlpack_is_read_without_copying() -> None:
    array = np.arange(12, dtype=np.int16).reshape(3, 4).T
    view = recognise(OnDevice(array))
    assert view is not None
    assert (view.pointer, view.shape, view.strides) == (array.ctypes.data, (4, 3), (1, 4))
    assert (view.dtype, view.device) == (DType("int16"), "cuda:1")


class NeedsGradients(OnDevice):
    """One whose library will not share it."""

    def __dlpack__(self) -> Any:
        raise BufferError("it needs gradients: detach it")


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        (NeedsGradients(np.zeros(4)), "the NeedsGradients does not hand out its data: BufferError: it needs gradients"),
        (
            types.SimpleNamespace(__cuda_array_interface__={"shape": (4,)}),
            "the SimpleNamespace does not hand out its data: KeyError: 'typestr'",
        ),
    ],
)
def test_an_array_that_is_not_shared_is_named(value: Any, cause: str) -> None:
    backend.load("cuda")
    func = PrimFunc("f", [Buffer("X", (4,), "float64")], Evaluate(const(0)))
    with pytest.raises(ArgumentError) as caught:
        bind_arguments(func, [value])
    assert caught.value.message.startswith(f"argument `X` of f: {cause}")


def test_arrays_elsewhere_are_not_ours() -> None:
    assert recognise(OnDevice(np.zeros(4), kind=1)) is None
    assert recognise(object()) is None
