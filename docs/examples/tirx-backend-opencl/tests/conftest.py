"""Kernels run twice: on the device of this machine, and in the simulator. Both must agree, and with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirx

Agree = Callable[..., tuple[Any, ...]]


def missing() -> str:
    """Why nothing runs natively here; empty where it does."""
    try:
        from tirx_opencl.driver import default_driver
    except ImportError as error:
        return f'{error}: pip install "tirx-backend-opencl[cpu]"'
    return "" if default_driver() is not None else "no OpenCL device is present"


@pytest.fixture(scope="session")
def device() -> Any:
    """The device; a skip, with the reason, where there is none."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    from tirx_opencl.device import open_device

    return open_device()


@pytest.fixture
def agree(device: Any) -> Agree:
    """`agree(kernel, *arguments, ulp=0)`: run natively and simulated, compare, and give the arrays of the native run."""
    return both


def both(kernel: Any, *args: Any, target: Any = "opencl", ulp: int = 0, checks: str = "all") -> tuple[Any, ...]:
    """Both runs; differences of more than `ulp` steps of the last place are failures."""
    native, simulated = (tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in args) for _ in range(2))
    report = tirx.simulate(kernel, *simulated, target=target, checks=checks)
    assert report.verdict == "clean", str(report)
    tirx.compile(kernel, target)(*native)
    for name, got, wanted in zip(kernel.names, native, simulated, strict=True):
        if isinstance(got, np.ndarray):
            compare(name, got, wanted, ulp)
    return native


def compare(name: str, got: Any, wanted: Any, ulp: int) -> None:
    """Equal bits, NaN for NaN, or so many steps apart."""
    assert got.dtype == wanted.dtype, name
    if ulp == 0 or got.dtype.kind != "f":
        left, right = (
            np.asarray(value, np.float64) if value.dtype.kind not in "iub" else value for value in (got, wanted)
        )
        np.testing.assert_array_equal(left, right, err_msg=name)
        return
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        steps = np.abs(got - wanted) / np.spacing(np.abs(wanted).astype(got.dtype))
    assert (same | (steps <= ulp)).all(), f"{name}: {np.nanmax(np.where(same, 0, steps)):.1f} steps of the last place"
