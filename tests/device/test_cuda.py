"""Kernels on a GPU against the simulator. Skipped, with the reason, where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tests.device import kernels
from tirx.runtime.launcher import open_device
from tirx.support.errors import TirxError

pytestmark = [pytest.mark.device, pytest.mark.needs("cuda-bindings", "tirx-backend-cuda")]

RNG = np.random.default_rng(0)


def both(kernel: Any, *args: Any) -> list[tuple[Any, Any]]:
    """Arguments after a run on the device, and after one in the simulator."""
    device, simulated = [np.copy(arg) for arg in args], [np.copy(arg) for arg in args]
    tirx.compile(kernel, "cuda")(*(a if a.ndim else a.item() for a in device))
    report = tirx.simulate(kernel, *(a if a.ndim else a.item() for a in simulated), target="cuda")
    assert report.verdict == "clean", str(report)
    return list(zip(device, simulated, strict=True))


@pytest.mark.parametrize("n", [1, 255, 256, 10000])
def test_scale(n: int) -> None:
    for device, simulated in both(kernels.scale, RNG.random(n, np.float32), np.zeros(n, np.float32), np.float32(1.5)):
        assert np.array_equal(device, simulated)


def test_a_reduction_is_equal_to_the_last_bit() -> None:
    for device, simulated in both(kernels.row_sums, RNG.random((64, 1024), np.float32), np.zeros(64, np.float32)):
        assert np.array_equal(device, simulated)


def test_half_precision_vectors() -> None:
    a = RNG.standard_normal(4096).astype(np.float16)
    for device, simulated in both(kernels.silu, a, np.zeros(4096, np.float16)):
        assert np.allclose(device, simulated, rtol=2e-3, atol=1e-6)


def test_dynamic_shared_memory_beyond_48_kilobytes() -> None:
    for device, simulated in both(kernels.pooled, RNG.random(20000, np.float32), np.zeros(20000, np.float32)):
        assert np.array_equal(device, simulated)


def test_atomics() -> None:
    for device, simulated in both(
        kernels.histogram, RNG.integers(0, 64, 4096).astype(np.int32), np.zeros(64, np.int32)
    ):
        assert np.array_equal(device, simulated)


def test_waiting_for_another_cta() -> None:
    for device, simulated in both(kernels.handshake, np.zeros(1, np.uint32), np.zeros(2, np.uint32)):
        assert np.array_equal(device, simulated)


def test_a_cooperative_launch() -> None:
    for device, simulated in both(kernels.cooperative, np.zeros(8, np.int32), np.zeros(8, np.int32)):
        assert np.array_equal(device, simulated)


def test_clusters() -> None:
    arch = open_device("cuda").describe(0)["arch"]
    if int(arch[3:]) < 90:
        pytest.skip(f"{arch} has no clusters")
    for device, simulated in both(kernels.clusters, np.zeros((8, 64), np.int32)):
        assert np.array_equal(device, simulated)


def test_time_passes() -> None:
    device, executable = open_device("cuda"), tirx.compile(kernels.scale, "cuda")
    a = RNG.random(1 << 20, np.float32)
    with device.time(0) as timer:
        executable(a, np.zeros_like(a), 2.0)
    assert timer.milliseconds > 0


def test_arrays_of_torch_are_used_in_place() -> None:
    torch = pytest.importorskip("torch")
    a = torch.arange(1000, dtype=torch.float32, device="cuda")
    b = torch.zeros_like(a)
    tirx.compile(kernels.scale, "cuda")(a, b, 3.0, stream=torch.cuda.current_stream())
    torch.cuda.synchronize()
    assert torch.equal(b, a * 3)


def test_a_fault_is_an_error() -> None:  # last: the context does not survive it
    with pytest.raises(TirxError, match="illegal memory access") as caught:
        tirx.compile(kernels.out_of_bounds, "cuda")(np.zeros(64, np.int32), 2_000_000_000)
    assert "tirx.simulate" in (caught.value.hint or "")
