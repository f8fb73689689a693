"""The target kind `opencl`: attributes, levels of cooperation, limits, capabilities.

A cta is a work-group, a thread a work-item. A warp is `width` work-items with consecutive numbers in their work-group: a sub-group
where the device has sub-groups of that size (`subgroups`), else nothing that the hardware knows; then values that its threads
exchange travel through local memory (see `transform/warps.py`). So kernels written for warps of 32 run on every device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tirx.target import Attribute, Capabilities, ScopeLevel, ScopeModel, TargetKind

if TYPE_CHECKING:
    from tirx.target import Target

__all__ = ["OPENCL"]

_AXES = ("x", "y", "z")
_BARRIERS = "tirx_opencl.barriers:"
_INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
# Stored, and computed with in float32: OpenCL C has no type for them, or only where the device has it.
_STORED = ("bfloat16", "float8_e4m3fn", "float8_e5m2")
_CONSTRUCTS = (
    "while", "asserts", "atomics", "barriers", "shuffles", "vectors", "dynamic_shared", "pointers", "calls", "printf",
    "async_copy",
)  # fmt: skip


def _positive(value: int) -> str | None:
    return None if value > 0 else f"{value} is not positive"


def _power_of_two(value: int) -> str | None:
    return None if value > 0 and value & (value - 1) == 0 else f"{value} is not a power of two"


_ATTRIBUTES = {
    "width": Attribute(int, 32, "work-items of one warp", _power_of_two, label="warp"),
    "subgroups": Attribute(
        bool, False, "whether the device has sub-groups of `width` that shuffle", label="sub-groups"
    ),
    "max_threads": Attribute(int, 1024, "work-items of one work-group", _positive, label="threads/cta"),
    "local_bytes": Attribute(
        int, 64 * 1024, "local memory of one work-group", _positive, label="local/cta", unit="bytes"
    ),
    "half": Attribute(bool, False, "whether the device computes in float16 (cl_khr_fp16); else float16 is only stored"),
    "double": Attribute(bool, True, "whether the device has float64 (cl_khr_fp64)"),
    "contract": Attribute(bool, False, "whether a * b + c may be rounded once; off, results are those of NumPy"),
}


def _axes(level: str) -> tuple[str, ...]:
    return tuple(f"{level}.{axis}" for axis in _AXES)


def _scope_model(target: Target, attrs: Mapping[str, Any]) -> ScopeModel:
    return ScopeModel(
        (
            ScopeLevel("kernel"),
            ScopeLevel("cta", axes={"kernel": _axes("cta")}, uniform=True, barrier=_BARRIERS + "cta"),
            ScopeLevel("warp", uniform=True, barrier=_BARRIERS + "warp"),
            ScopeLevel("thread", widths={"warp": target["width"]}, axes={"cta": _axes("thread")}),
        ),
        limits={("cta", "thread"): target["max_threads"]},
    )


def _capabilities(target: Target) -> Capabilities:
    double = ("float64",) if target["double"] else ()
    half = ("float16",) if target["half"] else ()
    computed = ("bool", *_INTEGERS, "float32", *double, *half)
    return Capabilities(("bool", *_INTEGERS, "float16", "float32", *double, *_STORED), _CONSTRUCTS, arithmetic=computed)


def _limits(target: Target) -> Mapping[str, int]:
    return {
        "threads_per_cta": target["max_threads"],
        "shared_bytes": target["local_bytes"],
        "registers_per_thread": 256,
        "vector_bytes": 16,
    }


OPENCL = TargetKind(
    "opencl",
    doc="devices with an OpenCL driver; CPUs through PoCL",
    attributes=_ATTRIBUTES,
    scope_model=_scope_model,
    capabilities=_capabilities,
    limits=_limits,
    parent="generic",
)
