"""Running on a device: arguments travel there and back, what a kernel cannot take is refused before the launch."""

# ruff: noqa: F821 - symbolic dimensions are names inside a kernel
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import tirx
from tirx import backend
from tirx import script as Tx
from tirx.backend import hookimpl
from tirx.codegen import Source
from tirx.codegen.row import Codegen
from tirx.runtime import ArrayAdapter, ArrayView, Binary, DeviceRow, Resources, Toolchain
from tirx.support.errors import ArgumentError, TargetError, ToolchainError
from tirx.target.generic import GENERIC
from tirx.target.kind import TargetKind
from tirx.transform import SIMT_LOWER, SIMT_PREPARE, Pipeline

HERE = __name__


@Tx.prim_func
def double(x: Tx.Buffer(("n",), "float32"), y: Tx.Buffer(("n",), "float32"), a: Tx.float32):
    Tx.device_entry()
    bx = Tx.cta_id([Tx.ceildiv(n, 64)])
    tx = Tx.thread_id([64])
    i: Tx.let = (bx * 64 + tx) * 4
    if i + 3 < n:
        for v in Tx.vectorized(4):
            y[i + v] = a * x[i + v]


class Driver:
    """A device whose memory is the process's own; its only kernel multiplies."""

    present = True
    calls: ClassVar[list[str]] = []
    memory: ClassVar[dict[int, Any]] = {}
    launched: ClassVar[list[dict[str, Any]]] = []

    def count(self) -> int:
        return int(self.present)

    def upload(self, host: Any, index: int) -> int:
        copy = host.copy()
        self.memory[copy.ctypes.data] = copy
        self.calls.append("upload")
        return int(copy.ctypes.data)

    def download(self, address: int, host: Any, index: int) -> None:
        host[...] = self.memory[address]
        self.calls.append("download")

    def free(self, address: int, index: int) -> None:
        del self.memory[address]
        self.calls.append("free")

    def load(self, binary: Binary, index: int) -> dict[str, str]:
        self.calls.append("load")
        return {"double_kernel": "double_kernel"}

    def launch(self, kernel: Any, args: Any, geometry: Any, resources: Any, flags: Any, stream: Any) -> None:
        self.launched.append({"kernel": kernel, "geometry": dict(geometry), "types": [str(dtype) for _, dtype in args]})
        x, y = (np.ctypeslib.as_array((ctypes.c_float * 256).from_address(int(args[i][0]))) for i in (0, 1))
        y[...] = x * args[2][0]

    def synchronize(self, index: int) -> None:
        self.calls.append("synchronize")


class DeviceArray:
    """Memory of that device, as another library would hand it out."""

    def __init__(self, array: Any) -> None:
        self.array = array


def recognise(value: Any) -> ArrayView | None:
    if not isinstance(value, DeviceArray):
        return None
    a = value.array
    return ArrayView(
        pointer=a.ctypes.data, shape=a.shape, strides=(1,), dtype=tirx.ir.DType("float32"), device="toydev:0", owner=a
    )


def generate(module: Any, target: Any, config: Any) -> Source:
    return Source("multiply", "toy", ".toy", ["double_kernel"])


def find_compiler() -> str | None:
    return "1.0"


def compile_source(source: Source, target: Any, options: Any) -> Binary:
    return Binary(b"toy", "toy", {"double_kernel": Resources(4, 0, 0, 0)}, "toycc")


class Plugin:
    @hookimpl
    def tirx_target_kinds(self) -> list[TargetKind]:
        return [
            TargetKind(
                "toydev",
                doc="a device for tests",
                attributes=GENERIC.attributes,
                scope_model=GENERIC.scope_model,
                capabilities=GENERIC.capabilities,
                limits=GENERIC.limits,
                parent="generic",
            )
        ]

    @hookimpl
    def tirx_pipelines(self) -> list[Pipeline]:
        return [Pipeline("toydev", lower=SIMT_LOWER, prepare=SIMT_PREPARE)]

    @hookimpl
    def tirx_codegens(self) -> list[Codegen]:
        return [Codegen("toydev", f"{HERE}:generate")]

    @hookimpl
    def tirx_toolchains(self) -> list[Toolchain]:
        return [
            Toolchain(
                "toycc", "toydev", find=f"{HERE}:find_compiler", compile=f"{HERE}:compile_source", install="get toycc"
            )
        ]

    @hookimpl
    def tirx_devices(self) -> list[DeviceRow]:
        return [DeviceRow("toydev", f"{HERE}:Driver", "get a toy")]

    @hookimpl
    def tirx_array_adapters(self) -> list[ArrayAdapter]:
        return [ArrayAdapter("toydev", f"{HERE}:recognise")]


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TIRX_CACHE", "0")
    Driver.calls.clear()
    Driver.launched.clear()
    backend.register("toydev", Plugin(), provides=("kind.toydev",))
    yield
    backend.unload("toydev")


def arrays() -> tuple[Any, Any]:
    return np.arange(256, dtype=np.float32), np.zeros(256, np.float32)


def test_host_arrays_travel_and_only_written_ones_come_back(device: None) -> None:
    x, y = arrays()
    executable = tirx.compile(double, "toydev")
    executable(x, y, 3.0)
    assert (y == 3 * x).all()
    assert Driver.calls.count("upload") == 2
    assert Driver.calls.count("download") == 1
    assert Driver.calls.count("free") == 2
    assert not Driver.memory
    assert Driver.launched == [
        {
            "kernel": "double_kernel",
            "geometry": {"cta.x": 4, "thread.x": 64},
            "types": ["handle", "handle", "float32", "int32"],
        }
    ]


def test_the_binary_is_loaded_once(device: None) -> None:
    executable = tirx.compile(double, "toydev")
    for _ in range(3):
        executable(*arrays(), 2.0)
    assert Driver.calls.count("load") == 1


def test_device_arrays_are_not_copied(device: None) -> None:
    x, y = arrays()
    tirx.compile(double, "toydev")(DeviceArray(x), DeviceArray(y), 2.0)
    assert (y == 2 * x).all()
    assert "upload" not in Driver.calls


def test_devices_do_not_mix(device: None) -> None:
    x, y = arrays()
    with pytest.raises(ArgumentError, match="`y` is on toydev:0 and `x` on cpu"):
        tirx.compile(double, "toydev")(x, DeviceArray(y), 2.0)


def test_addresses_that_vector_accesses_cannot_take(device: None) -> None:
    x, y = np.zeros(260, np.float32), np.zeros(260, np.float32)
    start = (-x.ctypes.data % 16) // 4 + 1
    with pytest.raises(ArgumentError, match="argument `x` of double: expected data aligned to 16 bytes"):
        tirx.compile(double, "toydev")(DeviceArray(x[start : start + 256]), DeviceArray(y[:256]), 2.0)


def test_no_device(device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver, "present", False)
    with pytest.raises(TargetError, match="no device for `toydev` is present"):
        tirx.compile(double, "toydev")(*arrays(), 2.0)


def test_a_kernel_runs_by_being_called_under_its_target(device: None) -> None:
    x, y = arrays()
    with tirx.Target("toydev"):
        double(x, y, 4.0)
    assert (y == 4 * x).all()


def test_simulation_does_not_take_device_arrays(device: None) -> None:
    x, y = arrays()
    with pytest.raises(ArgumentError, match="the arrays are on toydev:0; the simulator takes arrays in host memory"):
        tirx.simulate(double, DeviceArray(x), DeviceArray(y), 2.0, target="toydev")


def test_resources_and_provenance(device: None) -> None:
    executable = tirx.compile(double, "toydev")
    assert executable.resources["double_kernel"].registers == 4
    assert executable.binaries == {"toy": b"toy"}
    assert ("tirx-core", tirx.__version__) in executable.provenance


def test_a_compiler_that_is_not_installed(device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setattr(sys.modules[HERE], "find_compiler", lambda: None)
    executable = tirx.compile(double, "toydev")
    assert executable.source.text == "multiply"
    with pytest.raises(ToolchainError, match="no compiler for `toydev` is installed") as caught:
        executable.binary
    assert caught.value.hint == "toycc: get toycc"


def test_resources_show_their_figures() -> None:
    shown = "<Resources registers=4, shared_bytes=16, spill_bytes=0, stack_bytes=8>"
    assert repr(Resources(4, 0, 8, 16)) == shown
