"""The road from a kernel to source, as the driver goes it, and the golden files."""

from __future__ import annotations

import importlib
from pathlib import Path

import tirx
from tirx.codegen import Source
from tirx.ir import IRModule, PrimFunc

GOLDEN = Path(__file__).parent / "golden"
TOPICS = ("basics", "types", "memory", "cooperation")
DEFAULT_TARGET = "cuda -arch=sm_90a"


def source_of(kernel: PrimFunc | IRModule, target: str = DEFAULT_TARGET, **config: object) -> Source:
    """CUDA C++ of a kernel."""
    return tirx.compile(kernel, target, config=config).source


def kernels() -> dict[str, PrimFunc]:
    """All kernels of `tests/cuda/kernels` by name."""
    found = {}
    for topic in TOPICS:
        module = importlib.import_module(f"tests.cuda.kernels.{topic}")
        found.update({name: value for name, value in vars(module).items() if isinstance(value, PrimFunc)})
    return found
