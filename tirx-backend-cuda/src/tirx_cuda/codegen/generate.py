"""The code generator: a lowered module in, CUDA C++ out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tirx.backend import find
from tirx.codegen import Source
from tirx.codegen.function import CGenerator
from tirx.ir import IRModule, PrimFunc

from ..flags import PROGRAMMATIC, asked_for
from .dialect import cuda_dialect

if TYPE_CHECKING:
    from tirx.intrinsic import Emission

__all__ = ["CudaGenerator", "generate"]


class CudaGenerator(CGenerator):
    """CUDA C++; adds what a kernel promises about its launch."""

    def attributes(self, func: PrimFunc) -> str:
        """`__launch_bounds__(threads, blocks, clusters)`, or `__maxnreg__(n)`, which excludes it."""
        launch = func.attrs["launch"]
        if launch.max_registers is not None:
            return f"__maxnreg__({launch.max_registers}) "
        bounds = launch.bounds
        if bounds.threads_per_cta is None:
            return ""
        figures = [bounds.threads_per_cta, bounds.min_ctas_per_multiprocessor, bounds.max_ctas_per_cluster]
        if figures[2] is not None and figures[1] is None:
            figures[1] = 1
        return f"__launch_bounds__({', '.join(str(figure) for figure in figures if figure is not None)}) "

    def is_noalias(self, func: PrimFunc) -> bool:
        """Not of a kernel that may start before the one that writes its inputs has ended: loads must not be cached for good."""
        return super().is_noalias(func) and PROGRAMMATIC not in asked_for(func.attrs["launch"].flags)


def _emission(name: str) -> Emission | None:
    found: Emission | None = find("emissions", (name, "cuda"))
    return found


def generate(module: IRModule, target: Any, config: Mapping[str, Any]) -> Source:
    """CUDA C++ of the device functions of `module`."""
    generator = CudaGenerator(
        cuda_dialect(),
        _emission,
        target,
        directives=bool(config.get("line_directives", False)),
        noalias=bool(config.get("noalias", True)),
    )
    return generator.module(module, "cuda", ".cu")
