"""Calling on a device: bind, copy what lives on the host, run the host function, copy back what was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..backend import find
from ..ir import DType, Launch, PointerType, PrimFunc
from ..sim.host import run_host
from ..support.errors import ArgumentError, TargetError
from ..support.late import load_object
from .arrays import ArrayView
from .bind import Bound, bind_arguments, written_buffers
from .device import DeviceApi, KernelHandle

if TYPE_CHECKING:
    from .executable import Executable

__all__ = ["Launcher", "open_device"]


def open_device(kind: str) -> DeviceApi:
    """The device interface of a target kind; `TargetError` says what is missing."""
    row = find("devices", kind)
    if row is None:
        raise TargetError(f"targets of kind `{kind}` cannot run here", hint="use tirx.simulate(...)")
    try:
        api: DeviceApi = load_object(row.open)()
    except ImportError as error:
        raise TargetError(f"no device for `{kind}`: {error}", hint=row.install) from None
    if api.count() == 0:
        raise TargetError(f"no device for `{kind}` is present", hint="use tirx.simulate(...)")
    return api


class Launcher:
    """One host function, ready to run: the binary is loaded once per device."""

    __slots__ = ("_api", "_kernels", "executable", "func")

    def __init__(self, func: PrimFunc, executable: Executable) -> None:
        self.func = func
        self.executable = executable
        self._api: DeviceApi | None = None
        self._kernels: dict[int, Mapping[str, KernelHandle]] = {}

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], stream: Any) -> None:
        """Check the arguments, run, wait for host arrays."""
        bound = bind_arguments(
            self.func_as_written(), args, kwargs, noalias=bool(self.executable.context.config["noalias"])
        )
        if self._api is None:
            self._api = open_device(self.executable.target.kind.name)
        index = 0 if bound.device == "cpu" else int(bound.device.rpartition(":")[2] or 0)
        with _OnDevice(self._api, index, bound, written_buffers(self.func_as_written())) as environment:
            run_host(self.func, environment, self._launching(index, stream))
            if bound.device == "cpu":
                self._api.synchronize(index)

    def func_as_written(self) -> PrimFunc:
        """The author's function: its body says which buffers are written."""
        return self.executable.module[self.func.name]

    def _launching(self, index: int, stream: Any) -> Any:
        assert self._api is not None
        api = self._api
        if index not in self._kernels:
            self._kernels[index] = api.load(self.executable.binary, index)
        kernels = self._kernels[index]

        def launch(node: Launch, args: Sequence[Any], extents: Sequence[int], resources: Mapping[str, int]) -> None:
            self._check_alignment(node.kernel, args)
            typed = [(self._encoded(value, arg.dtype), arg.dtype) for value, arg in zip(args, node.args, strict=True)]
            geometry = dict(zip(node.axes, extents, strict=True))
            api.launch(kernels[node.kernel], typed, geometry, resources, node.flags, stream)

        return launch

    def _encoded(self, value: Any, dtype: DType) -> Any:
        """Records that the host encodes, as the bytes that the kernel takes."""
        if not dtype.by_value:
            return value
        assert isinstance(dtype, PointerType)
        row = find("argument_kinds", str(dtype.pointee))
        return load_object(row.encode)(value, self.executable.target)

    def _check_alignment(self, kernel: str, args: Sequence[Any]) -> None:
        """Vector accesses fault on addresses that are no multiple of their size: refuse them before the launch."""
        device = self.executable.prepared[kernel]
        wanted = device.attrs["launch"].alignments
        for param, address in zip(device.params, args, strict=True):
            bytes_needed = wanted.get(param.name, 1)
            if bytes_needed > 1 and address % bytes_needed:
                raise ArgumentError(
                    f"argument `{param.name}` of {self.func.name}: expected data aligned to {bytes_needed} bytes, got address {address:#x}",
                    hint="the kernel reads or writes it in vectors; pass an array that starts at such an address",
                )


class _OnDevice:
    """Environment of a call whose pointers are device addresses; host arrays travel there and back."""

    def __init__(self, api: DeviceApi, index: int, bound: Bound, written: set[int]) -> None:
        self.api, self.index, self.bound, self.written = api, index, bound, written
        self.copies: list[tuple[int, ArrayView, bool]] = []

    def __enter__(self) -> dict[int, Any]:
        environment = self.bound.environment()
        for key, value in environment.items():
            if isinstance(value, ArrayView):
                environment[key] = value.pointer if value.device != "cpu" else self._upload(key, value)
        return environment

    def _upload(self, key: int, view: ArrayView) -> int:
        address = self.api.upload(view.host, self.index)
        self.copies.append((address, view, key in self.written))
        return address

    def __exit__(self, kind: Any, *_: object) -> None:
        for address, view, written in self.copies:
            if written and kind is None:
                self.api.download(address, view.host, self.index)
            self.api.free(address, self.index)
