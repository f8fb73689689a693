"""Running kernels through AWS's `nki`: on a NeuronCore where there is one, else in its simulator. Imported when a kernel is run."""

from __future__ import annotations

import ast
import atexit
import importlib.util
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tirx.ir import DType
from tirx.runtime.row import Binary
from tirx.support.errors import TirxError

from .toolchain import import_nki

__all__ = ["DeviceError", "Kernel", "NkiDevice", "open_device"]

_NEURON = Path("/dev/neuron0")
_PLATFORM = re.compile(r"# NKI source for NeuronCore-v\d \((\w+)\)")
_ORDER = re.compile(r"# The author's parameters: ([\w, ]+)\n@nki\.jit\ndef (\w+)\(")
_numbers = itertools.count()


class DeviceError(TirxError):
    """NKI refused a kernel, or the kernel did something wrong."""


class Kernel:
    """A kernel of a loaded file: its function, the names of its tensors in the author's order, and which of them it returns."""

    __slots__ = ("function", "inputs", "name", "order", "outputs", "platform")

    def __init__(
        self,
        name: str,
        function: Any,
        inputs: Sequence[str],
        outputs: Sequence[str],
        order: Sequence[str],
        platform: str,
    ) -> None:
        self.name = name
        self.function = function
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.order = tuple(order)
        self.platform = platform


class NkiDevice:
    """The device interface of the runtime over the `nki` package. Memory is the host's: arrays by number."""

    def __init__(self, nki: ModuleType) -> None:
        self.nki = nki
        self.arrays: dict[int, Any] = {}
        self._next = 1

    def count(self) -> int:
        """One: a NeuronCore, or the simulator."""
        return 1

    def describe(self, index: int) -> Mapping[str, Any]:
        """Where kernels run."""
        name = "NeuronCore" if has_neuron_core() else "NKI simulator"
        return {"name": name, "nki": str(getattr(self.nki, "__version__", "unknown"))}

    def upload(self, host: Any, index: int) -> int:
        """A copy of a NumPy array; its number."""
        number, self._next = self._next, self._next + 1
        self.arrays[number] = np.array(host)
        return number

    def download(self, address: int, host: Any, index: int) -> None:
        """Copy back into a NumPy array."""
        np.copyto(host, self.arrays[address])

    def free(self, address: int, index: int) -> None:
        """Forget an array."""
        del self.arrays[address]

    def load(self, binary: Binary, index: int) -> Mapping[str, Kernel]:
        """The kernels of a file."""
        folder = tempfile.mkdtemp(prefix="tirx-nki-")
        atexit.register(
            shutil.rmtree, folder, ignore_errors=True
        )  # until then: NKI reads the file again when it compiles
        text = binary.data.decode()
        module = _imported(text, Path(folder))
        return {kernel.name: kernel for kernel in _kernels(text, module)}

    def launch(
        self,
        kernel: Kernel,
        args: Sequence[tuple[Any, DType]],
        geometry: Mapping[str, int],
        resources: Mapping[str, int],
        flags: Sequence[str],
        stream: Any,
    ) -> None:
        """Run a kernel; sizes are read from the arrays, so that only pointers count."""
        addresses = dict(zip(kernel.order, (value for value, dtype in args if dtype.is_handle), strict=True))
        inputs = [self.arrays[addresses[name]] for name in kernel.inputs]
        run = _on_neuron_core if has_neuron_core() else self._in_simulator
        try:
            results = run(kernel, inputs)
        except TirxError:
            raise
        except Exception as error:  # whatever NKI raises is about the kernel
            raise DeviceError(f"NKI refused kernel `{kernel.name}`: {error}") from error
        for name, result in zip(
            kernel.outputs, results if isinstance(results, tuple | list) else (results,), strict=True
        ):
            np.copyto(self.arrays[addresses[name]], np.asarray(result))

    def _in_simulator(self, kernel: Kernel, inputs: Sequence[Any]) -> Any:
        with _environment("NEURON_PLATFORM_TARGET_OVERRIDE", kernel.platform):
            return self.nki.simulate(kernel.function)(*inputs)

    def synchronize(self, index: int) -> None:
        """Launches wait until they are done."""

    def time(self, index: int) -> Any:
        """`DeviceError`: neither NKI's simulator nor a call through it measures time."""
        raise DeviceError(
            "NKI keeps no time here", hint="estimate it: tirx_trn.cost.cost(kernel, target), or use AWS's profiler"
        )


def has_neuron_core() -> bool:
    """Whether the Neuron driver shows a device."""
    return _NEURON.exists()


def _on_neuron_core(kernel: Kernel, inputs: Sequence[Any]) -> Any:
    """Through PyTorch on the XLA device; where that is not installed with NumPy arrays, which `nki.jit` takes since 0.5."""
    try:
        torch, xla = importlib.import_module("torch"), importlib.import_module("torch_xla.core.xla_model")
    except ImportError:
        return kernel.function(*inputs)
    device = xla.xla_device()
    results = kernel.function(*(_tensor(torch, array).to(device) for array in inputs))
    many = results if isinstance(results, tuple | list) else (results,)
    return tuple(_array(torch, result.cpu()) for result in many)


def _tensor(torch: Any, array: Any) -> Any:
    """A torch tensor; bfloat16, which NumPy lacks, goes as its bits."""
    if array.dtype.name != "bfloat16":
        return torch.from_numpy(array)
    return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)


def _array(torch: Any, tensor: Any) -> Any:
    if tensor.dtype is not torch.bfloat16:
        return tensor.numpy()
    import ml_dtypes  # only where it is needed

    return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """An environment variable for the length of a block; what the user set stays."""
    if name in os.environ or not value:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def _imported(text: str, folder: Path) -> ModuleType:
    path = folder / f"tirx_kernel_{next(_numbers)}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _kernels(text: str, module: ModuleType) -> Iterator[Kernel]:
    """The `@nki.jit` functions of a file that TIRx wrote."""
    platform = _PLATFORM.search(text)
    orders = {name: words.split(", ") for words, name in _ORDER.findall(text)}
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef):
            continue
        inputs, outputs = [arg.arg for arg in node.args.args], _returned(node)
        function: Callable[..., Any] = getattr(module, node.name)
        order = orders.get(node.name, [*inputs, *outputs])
        yield Kernel(node.name, function, inputs, outputs, order, platform[1] if platform else "")


def _returned(node: ast.FunctionDef) -> list[str]:
    value = next(item.value for item in node.body if isinstance(item, ast.Return))
    items = value.elts if isinstance(value, ast.Tuple) else [value]
    return [item.id for item in items if isinstance(item, ast.Name)]


def open_device() -> NkiDevice:
    """The interface over the installed `nki`; `ImportError` where there is none."""
    return NkiDevice(import_nki())
