"""The corpus of faulty kernels: each builder makes a kernel with the fault (`bad=True`) and its corrected twin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

PAIRS: dict[str, tuple[str, Callable[[bool], tuple[Any, ...]]]] = {}


def fault(kind: str) -> Callable[[Any], Any]:
    """Register a builder `bad -> (kernel, *arguments)`; the faulty one must show a finding of `kind`."""

    def register(build: Callable[[bool], tuple[Any, ...]]) -> Callable[[bool], tuple[Any, ...]]:
        PAIRS[build.__name__] = (kind, build)
        return build

    return register


def grid(*shape: int) -> Any:
    """Distinct floats in an array of a shape."""
    return np.arange(np.prod(shape), dtype="f4").reshape(shape) + 1
