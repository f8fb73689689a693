"""The code generator: a lowered module in, OpenCL C out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tirx.backend import find
from tirx.codegen import Source
from tirx.codegen.function import CGenerator
from tirx.ir import Assert, Call, IRModule, PrimFunc, walk
from tirx.support.errors import TargetError

from ..op import EVENT
from .dialect import opencl_dialect

if TYPE_CHECKING:
    from tirx.intrinsic import Emission

__all__ = ["OpenCLGenerator", "generate"]

_AXES = ("x", "y", "z")
_FAILURE = re.compile(r'fail\(failure, (?P<text>"(?:[^"\\]|\\.)*")(?P<values>, .*)?\);$', re.MULTILINE)


class OpenCLGenerator(CGenerator):
    """OpenCL C; adds what a kernel promises about its launch, the event that its copies share, and where assertions tell of failing."""

    def attributes(self, func: PrimFunc) -> str:
        """`__attribute__((reqd_work_group_size(x, y, z))) void`, where the size is known."""
        sizes = [func.attrs["launch"].extent(f"thread.{axis}") for axis in _AXES]
        promises = []
        if None not in sizes:
            promises.append(f"reqd_work_group_size({', '.join(map(str, sizes))})")
        if self.target["subgroups"] and any(name.startswith("tvm_warp_shuffle") for name in _called(func)):
            promises.append(f"intel_reqd_sub_group_size({self.target['width']})")
        return f"{''.join(f'__attribute__(({promise})) ' for promise in promises)}void "

    def further_parameters(self, func: PrimFunc) -> Iterable[str]:
        """Where the text of the first assertion that fails goes."""
        if not _asserts(func):
            return []
        self.prelude.helper("fail")
        return ["__global int* failure"]

    def opening(self, func: PrimFunc) -> Iterable[str]:
        """One event stands for all copies of the group."""
        inside = None if "launch" in func.attrs else next(iter(_asserts(func)), None)
        if inside is not None:
            hint = "assert in the kernel, before or behind the call"
            raise TargetError("OpenCL tells of assertions of kernels, not of functions", span=inside.span, hint=hint)
        return [f"event_t {EVENT} = 0;"] if "opencl.async_work_group_copy" in _called(func) else []


def _asserts(func: PrimFunc) -> list[Assert]:
    return [node for node in walk(func.body, Assert.BIT) if isinstance(node, Assert)]


def _told(failure: re.Match[str]) -> str:
    """The text goes to the host; values, which only `printf` can write, go where the driver prints."""
    text, values = failure["text"], failure["values"]
    return f"{f'printf({text}{values}); ' if values else ''}fail(failure, {text});"


def _called(func: PrimFunc) -> set[str]:
    """Names of what a function calls."""
    return {node.op.name for node in walk(func.body, Call.BIT) if isinstance(node, Call)}


def _emission(name: str) -> Emission | None:
    found: Emission | None = find("emissions", (name, "opencl"))
    return found


def generate(module: IRModule, target: Any, config: Mapping[str, Any]) -> Source:
    """OpenCL C of the device functions of `module`."""
    generator = OpenCLGenerator(
        opencl_dialect(bool(target["half"])),
        _emission,
        target,
        directives=bool(config.get("line_directives", False)),
        noalias=bool(config.get("noalias", True)),
    )
    if not target["contract"]:
        generator.prelude.define("FP_CONTRACT", "#pragma OPENCL FP_CONTRACT OFF")
    source = generator.module(module, "opencl", ".cl")
    source.text = _FAILURE.sub(_told, source.text)
    return source
