"""The neutral kind: a machine with threads, whose widths and limits are attributes. It has no toolchain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..backend import registry
from ..intrinsic.core.collective import tvm_storage_sync
from ..ir import Call, Expr, dtype_names
from .kind import Attribute, Capabilities, StorageScope, TargetKind
from .scope_model import ScopeLevel, ScopeModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .target import Target

__all__ = ["GENERIC", "SIMT_SCOPES", "cta_barrier", "warp_barrier"]

_AXES = ("x", "y", "z")
_HERE = f"{__name__}:"

CONSTRUCTS = (
    "while", "atomics", "barriers", "shuffles", "vectors", "dynamic_shared", "pointers", "calls", "printf", "asserts",
)  # fmt: skip


def _positive(value: int) -> str | None:
    return None if value > 0 else f"{value} is not positive"


def _power_of_two(value: int) -> str | None:
    return None if value > 0 and value & (value - 1) == 0 else f"{value} is not a power of two"


_ATTRIBUTES = {
    "width": Attribute(int, 32, "threads that run in step", _power_of_two),
    "max_threads": Attribute(int, 1024, "threads in one cta", _positive),
    "shared_bytes": Attribute(int, 64 * 1024, "shared memory of one cta, static and dynamic together", _positive),
    "registers": Attribute(int, 256, "32-bit registers of one thread", _positive),
}


def _scope_model(target: Target, attrs: Mapping[str, Any]) -> ScopeModel:
    grid, block = (tuple(f"{level}.{axis}" for axis in _AXES) for level in ("cta", "thread"))
    return ScopeModel(
        (
            ScopeLevel("kernel"),
            ScopeLevel("cta", axes={"kernel": grid}, barrier=_HERE + "cta_barrier"),
            ScopeLevel("warp", uniform=True, barrier=_HERE + "warp_barrier"),
            ScopeLevel("thread", widths={"warp": target["width"]}, axes={"cta": block}),
        ),
        limits={("cta", "thread"): target["max_threads"]},
    )


def cta_barrier(ids: Callable[[str, str], Expr]) -> Call:
    """The threads of a cta wait for each other."""
    return tvm_storage_sync("shared")


def warp_barrier(ids: Callable[[str, str], Expr]) -> Call:
    """The threads of a warp wait for each other."""
    return tvm_storage_sync("warp")


def _capabilities(target: Target) -> Capabilities:
    return Capabilities((*dtype_names(), *registry().rows("dtypes")), CONSTRUCTS)


def _limits(target: Target) -> Mapping[str, int]:
    return {
        "threads_per_cta": target["max_threads"],
        "shared_bytes": target["shared_bytes"],
        "registers_per_thread": target["registers"],
        "vector_bytes": 16,
    }


GENERIC = TargetKind(
    "generic",
    doc="a machine with threads; runs in the simulator only",
    attributes=_ATTRIBUTES,
    scope_model=_scope_model,
    capabilities=_capabilities,
    limits=_limits,
)


def _shared_capacity(target: Target) -> int | None:
    return target.limits.get("shared_bytes")


SIMT_SCOPES = (
    StorageScope("global", doc="memory of the device, given by the caller", owner_level="kernel", allocator="caller"),
    StorageScope(
        "shared", doc="memory of one cta, sized in the kernel", owner_level="cta", capacity=_shared_capacity
    ),
    StorageScope(
        "shared.dyn", doc="memory of one cta, sized by the launch", owner_level="cta", allocator="launch",
        capacity=_shared_capacity,
    ),
    StorageScope("local", doc="registers or memory of one thread", owner_level="thread"),
)  # fmt: skip
