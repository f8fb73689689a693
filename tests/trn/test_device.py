"""Calling a compiled kernel: through `nki` where it is installed (our NumPy one here), else an error that says what to install."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.trn.build import kernel, sbuf
from tests.trn.nki_numpy import installed
from tests.trn.test_kernels import add_kernel, floats, softmax, softmax_kernel
from tirx.ir import Buffer, PrimFunc
from tirx.support.errors import TargetError, ToolchainError
from tirx_trn import device
from tirx_trn import script as nki
from tirx_trn.toolchain import find_nki


def test_without_nki_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nki", None)
    executable = tirx.compile(add_kernel(128, 8), "trn")
    a, b, c = (np.zeros((128, 8), np.float32) for _ in range(3))
    with pytest.raises(TargetError, match="no device for `trn`") as caught:
        executable(a, b, c)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("install AWS's nki, 0.3 or newer, from AWS's own package index")
    assert "tirx.simulate(kernel, ...)" in caught.value.hint
    with pytest.raises(ToolchainError, match="no compiler for `trn` is installed"):
        _ = executable.binary


def test_a_placeholder_is_not_taken_for_nki(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nki", ModuleType("nki"))
    assert find_nki() is None


def test_a_call_runs_through_nki() -> None:
    rng = np.random.default_rng(0)
    x, y = floats(rng, 256, 1000), np.zeros((256, 1000), np.float32)
    with installed():
        executable = tirx.compile(softmax_kernel(), "trn")
        executable(x, y)
        assert executable.binary.toolchain == "nki 0.6.0+numpy"
    np.testing.assert_allclose(y, softmax(x), rtol=1e-5, atol=1e-7)


def mixed() -> PrimFunc:
    """Results between the inputs."""
    a, r, b, s = (Buffer(name, (4, 8)) for name in "arbs")
    x, y = sbuf("x", 4, 8), sbuf("y", 4, 8)
    loads = [nki.load(x, a), nki.load(y, b), nki.tensortensor(x, x, y, "sub")]
    return kernel("mixed", [a, r, b, s], x, y, *loads, nki.store(r, x), nki.store(s, y))


def test_results_may_stand_between_inputs() -> None:
    rng = np.random.default_rng(0)
    a, b = floats(rng, 4, 8), floats(rng, 4, 8)
    r, s = np.zeros_like(a), np.zeros_like(a)
    executable = tirx.compile(mixed(), "trn")
    assert "# The author's parameters: a, r, b, s\n@nki.jit\ndef mixed_kernel(a, b):" in executable.source.text
    with installed():
        executable(a, r, b, s)
    np.testing.assert_array_equal(r, a - b)
    np.testing.assert_array_equal(s, b)


def test_what_nki_refuses_is_told() -> None:
    executable = tirx.compile(add_kernel(128, 8), "trn")
    a, b, c = (np.zeros((128, 8), np.float32) for _ in range(3))
    with installed():
        sys.modules["nki"].simulate = lambda function: lambda *_: 1 / 0  # type: ignore[attr-defined]
        with pytest.raises(device.DeviceError, match="NKI refused kernel `add_kernel`: division by zero"):
            executable(a, b, c)


def test_the_generation_goes_to_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv("NEURON_PLATFORM_TARGET_OVERRIDE", raising=False)
    seen: list[str | None] = []
    with installed("v2"):

        def simulate(function: Any) -> Any:
            seen.append(os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE"))
            return function

        sys.modules["nki"].simulate = simulate  # type: ignore[attr-defined]
        a, b, c = (np.ones((128, 8), np.float32) for _ in range(3))
        tirx.compile(add_kernel(128, 8), "aws/trn1/trn1.2xlarge")(a, b, c)
    assert seen == ["trn1"]
    assert (c == 2).all()
    assert "NEURON_PLATFORM_TARGET_OVERRIDE" not in os.environ


class FakeTensor:
    """As much of a torch tensor as a launch touches."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def dtype(self) -> Any:
        return "bfloat16" if self.array.dtype == ml_dtypes.bfloat16 else self.array.dtype

    def to(self, place: str) -> FakeTensor:
        assert place == "xla:0"
        return self

    def view(self, kind: Any) -> FakeTensor:
        return FakeTensor(self.array.view(ml_dtypes.bfloat16 if kind == "bfloat16" else np.int16))

    def cpu(self) -> FakeTensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.array


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_neuron_core_is_reached_through_torch(dtype: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    torch = ModuleType("torch")
    torch.from_numpy, torch.bfloat16, torch.int16 = FakeTensor, "bfloat16", "int16"  # type: ignore[attr-defined]
    model = SimpleNamespace(xla_device=lambda: "xla:0")
    for name, module in {"torch": torch, "torch_xla.core.xla_model": model}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(device, "_NEURON", tmp_path)
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.float32
    a, b = np.ones((4, 8), kind), np.zeros((4, 8), kind)
    source, target, tile = Buffer("a", (4, 8), dtype), Buffer("b", (4, 8), dtype), sbuf("t", 4, 8, dtype=dtype)
    func = kernel(
        "twice",
        [source, target],
        tile,
        nki.load(tile, source),
        nki.tensorscalar(tile, tile, 2.0, "mul"),
        nki.store(target, tile),
    )
    with installed():
        jit = sys.modules["nki"].jit

        def on_tensors(function: Any) -> Any:
            return lambda *tensors: FakeTensor(jit(function)(*(tensor.array for tensor in tensors)))

        sys.modules["nki"].jit = on_tensors  # type: ignore[attr-defined]
        api = device.open_device()
        assert api.describe(0) == {"name": "NeuronCore", "nki": "0.6.0+numpy"}
        tirx.compile(func, "trn")(a, b)
    assert (b.astype(np.float32) == 2).all()


def test_nobody_measures_time() -> None:
    with installed():
        api = device.open_device()
        assert (api.count(), api.describe(0)["name"]) == (1, "NKI simulator")
        api.synchronize(0)
        with pytest.raises(device.DeviceError, match="NKI keeps no time here"):
            api.time(0)
