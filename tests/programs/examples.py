"""The example kernels, at sizes that tests can afford."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tirx
from tirx.ir import PrimFunc
from tirx.runtime.row import Binary
from tirx.support.errors import ToolchainError

EXAMPLES = Path(__file__).parents[2] / "docs/examples/kernels"
NEUTRAL = Path(__file__).parent / "neutral"


def load(path: Path) -> ModuleType:
    """The module of one kernel file."""
    spec = importlib.util.spec_from_file_location(f"program_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copies(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as they are before the kernel runs."""
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


def largest_error(module: ModuleType, kernel: PrimFunc, before: tuple[Any, ...], after: tuple[Any, ...]) -> float:
    """The largest difference from NumPy, relative to the size of the values."""
    errors = []
    for name, value in module.expected(*before).items():
        got, wanted = (np.asarray(array, np.float64) for array in (after[kernel.names.index(name)], value))
        errors.append(float(np.max(np.abs(got - wanted)) / max(1.0, float(np.max(np.abs(wanted))))))
    return max(errors)


def binary_or_skip(kernel: PrimFunc, target: Any) -> Binary:
    """What the compiler makes of a kernel; a skip where there is no compiler."""
    try:
        return tirx.compile(kernel, target).binary
    except ToolchainError as error:
        if "is installed" not in error.message:
            raise
        return pytest.skip(f"{error.message}: {error.hint}")
