"""Kernels with arguments and results, by which a backend is tried beyond the neutral ones.

A sample is a Python file as the examples of the documentation are: `KERNEL` (or `kernel(width)`), `arguments(rng)`,
`expected(*arguments)` with the arrays that must come out by name, `TARGET`, and `TOLERANCE` where results are not exact. A
file may also say `GAPS = {"check.name: item": "reason"}`: what the backend knowingly lacks.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...ir import IRModule, PrimFunc
from ...support.errors import ArgumentError

__all__ = ["Sample", "load_samples"]


class Sample:
    """One kernel: `make(width)` gives it for machines whose innermost group has that many threads.

    `needs` are the constructs and dtypes that it uses, `target` where it runs (empty: on every kind of the backend).
    """

    __slots__ = ("arguments", "expected", "make", "name", "needs", "target", "tolerance")

    def __init__(
        self,
        name: str,
        make: Callable[[int], PrimFunc | IRModule],
        arguments: Callable[[Any], Sequence[Any]],
        expected: Callable[..., Mapping[str, Any]],
        *,
        needs: Sequence[str] = (),
        target: str = "",
        tolerance: float = 0.0,
    ) -> None:
        self.name = name
        self.make = make
        self.arguments = arguments
        self.expected = expected
        self.needs = tuple(needs)
        self.target = target
        self.tolerance = tolerance


def load_samples(paths: Sequence[str | Path]) -> tuple[list[Sample], dict[str, str]]:
    """The samples of Python files, and the gaps that they declare."""
    found: list[Sample] = []
    gaps: dict[str, str] = {}
    for path in map(Path, paths):
        module = _module(path)
        gaps.update(getattr(module, "GAPS", {}))
        if hasattr(module, "KERNEL") or hasattr(module, "kernel"):
            found.append(_sample(path.stem, module))
    return found, gaps


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"tirx_sample_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ArgumentError(
            f"{path} is no Python file", hint="samples are files with KERNEL, arguments() and expected()"
        )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _sample(name: str, module: Any) -> Sample:
    missing = [part for part in ("arguments", "expected") if not hasattr(module, part)]
    if missing:
        raise ArgumentError(
            f"sample {name} has no `{missing[0]}`", hint="it says what the kernel takes and what comes out"
        )
    make = getattr(module, "kernel", None) or (lambda width: module.KERNEL)
    return Sample(
        name,
        make,
        module.arguments,
        module.expected,
        target=getattr(module, "TARGET", ""),
        tolerance=getattr(module, "TOLERANCE", 0.0),
    )
