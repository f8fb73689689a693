"""The target kind `cuda`: attributes, levels of cooperation, limits, capabilities, memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

from tirx.ir import Alloc, Buffer, IRModule, PrimFunc, walk
from tirx.support.errors import Diagnostic, TargetError
from tirx.target import Attribute, Capabilities, ScopeLevel, ScopeModel, TargetKind
from tirx.transform.row import Check

from .arch import DEFAULT_ARCH, parse_arch
from .flags import asked_for

if TYPE_CHECKING:
    from tirx.target import Target

__all__ = ["CHECKS", "CUDA"]

WARP = 32
_BARRIERS = "tirx_cuda.barriers:"
_AXES = ("x", "y", "z")
_STATIC_LIMIT = 48 * 1024  # of shared memory that the source sizes; more must be dynamic on every architecture
_CONSTRUCTS = (
    "while", "atomics", "barriers", "shuffles", "vectors", "dynamic_shared", "pointers", "calls", "printf", "asserts",
    "async_copy",
)  # fmt: skip
_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
)  # fmt: skip


def _is_arch(value: str) -> str | None:
    try:
        parse_arch(value)
    except TargetError as error:
        return f"{error.message}; {error.hint}"
    return None


def _positive(value: int) -> str | None:
    return None if value > 0 else f"{value} is not positive"


def _is_warp(value: int) -> str | None:
    return None if value == WARP else f"warps have {WARP} threads, not {value}"


_ATTRIBUTES = {
    "arch": Attribute(
        str,
        None,
        f"architecture, such as sm_90a; default: that of the device present, else {DEFAULT_ARCH}",
        _is_arch,
        label="arch",
    ),
    "multiprocessors": Attribute(int, None, "number of multiprocessors, where it is known", _positive, label="SMs"),
    "max_shared_memory_per_block": Attribute(
        int, None, "bytes of shared memory of one cta; default: by arch", _positive, label="shared/cta", unit="bytes"
    ),
    "shared_memory_per_multiprocessor": Attribute(
        int, None, "bytes of shared memory of a multiprocessor; by arch", _positive, label="shared/SM", unit="bytes"
    ),
    "registers_per_block": Attribute(
        int, None, "32-bit registers of one cta; by arch", _positive, label="registers/cta"
    ),
    "max_threads_per_block": Attribute(int, 1024, "threads of one cta", _positive, label="threads/cta"),
    "max_threads_per_multiprocessor": Attribute(
        int, None, "threads that a multiprocessor keeps; by arch", _positive, label="threads/SM"
    ),
    "l2_cache_size_bytes": Attribute(
        int, None, "bytes of L2 cache, where they are known", _positive, label="L2", unit="bytes"
    ),
    "memory_bandwidth": Attribute(
        int, None, "of the device's memory in GB/s, where it is known", _positive, label="bandwidth", unit="GB/s"
    ),
    "tensor_core_dtypes": Attribute(tuple, None, "what its tensor cores multiply; by arch", label="tensor cores"),
    "thread_warp_size": Attribute(int, WARP, "threads that run in step", _is_warp, label="warp"),
    "max_num_threads": Attribute(int, 1024, "threads of one cta, by its older name", _positive, label="threads"),
}


def _complete(attrs: dict[str, Any]) -> dict[str, Any]:
    """Without an architecture, the device that is present decides; without a device, the documented default."""
    if "arch" not in attrs:
        from .detect import detect  # opens libraries: only where nobody says the architecture

        attrs = {**(detect() or {"arch": DEFAULT_ARCH}), **attrs}
    row = parse_arch(attrs["arch"])
    most = row.shared_bytes
    given = attrs.setdefault("max_shared_memory_per_block", most)
    if given > most:
        raise TargetError(
            f"max_shared_memory_per_block={given}: {attrs['arch']} has {most} bytes",
            hint="leave it out to use all of them",
        )
    attrs.setdefault("shared_memory_per_multiprocessor", row.multiprocessor_shared)
    attrs.setdefault("registers_per_block", row.registers)
    if row.threads is not None:
        attrs.setdefault("max_threads_per_multiprocessor", row.threads)
    attrs.setdefault("tensor_core_dtypes", row.tensor)
    return attrs


def _scope_model(target: Target, attrs: Mapping[str, Any]) -> ScopeModel:
    cluster = parse_arch(target["arch"]).cluster
    levels = [
        ScopeLevel("kernel"),
        ScopeLevel(
            "cluster", optional=True, reads={"kernel": _axes("cluster")}, uniform=True, barrier=_BARRIERS + "cluster"
        ),
        ScopeLevel("cta_pair", optional=True, requires="cluster", uniform=True),
        ScopeLevel(
            "cta",
            widths={"cta_pair": 2},
            axes={"kernel": _axes("cta"), "cluster": _axes("cta_in_cluster")},
            preferred="cluster",
            uniform=True,
            barrier=_BARRIERS + "cta",
        ),
        ScopeLevel("warpgroup", optional=True, uniform=True, barrier=_BARRIERS + "warpgroup"),
        ScopeLevel("warp", widths={"warpgroup": 4}, uniform=True, barrier=_BARRIERS + "warp"),
        ScopeLevel("thread", widths={"warp": WARP}, axes={"cta": _axes("thread")}),
    ]
    if not cluster:
        levels = [
            ScopeLevel("cta", axes={"kernel": _axes("cta")}, uniform=True, barrier=_BARRIERS + "cta")
            if level.name == "cta"
            else level
            for level in levels
            if level.name not in ("cluster", "cta_pair")
        ]
    limits = {("cta", "thread"): target["max_threads_per_block"]}
    if cluster:
        limits["cluster", "cta"] = cluster
    return ScopeModel(levels, limits, axis_limits=_AXIS_LIMITS, tags=_TAGS)


def _axes(level: str) -> tuple[str, ...]:
    return tuple(f"{level}.{axis}" for axis in _AXES)


_AXIS_LIMITS = {
    "cta.x": 2**31 - 1,
    "cta.y": 65535,
    "cta.z": 65535,
    "thread.x": 1024,
    "thread.y": 1024,
    "thread.z": 64,
}
# Names of launch axes in kernels that say `thread_binding(n, thread="threadIdx.x")`.
_TAGS = {
    f"{tag}.{axis}": f"{level}.{axis}"
    for tag, level in (("blockIdx", "cta"), ("threadIdx", "thread"), ("clusterCtaIdx", "cta_in_cluster"))
    for axis in _AXES
}


# Formats that CUDA C++ converts and stores, and has no arithmetic for.
_STORED_ONLY = ("float8_", "float6_", "float4_")


def _capabilities(target: Target) -> Capabilities:
    cluster = ("cluster",) if parse_arch(target["arch"]).cluster else ()
    computed = [name for name in _DTYPES if not name.startswith(_STORED_ONLY)]
    return Capabilities(_DTYPES, (*_CONSTRUCTS, *cluster), arithmetic=computed)


def _limits(target: Target) -> Mapping[str, int]:
    return {
        "threads_per_cta": target["max_threads_per_block"],
        "shared_bytes": target["max_shared_memory_per_block"],
        "static_shared_bytes": _STATIC_LIMIT,
        "registers_per_thread": parse_arch(target["arch"]).registers_per_thread,
        "registers_per_cta": target["registers_per_block"],
        "vector_bytes": 16,
    }


CUDA = TargetKind(
    "cuda",
    doc="GPUs of NVIDIA",
    attributes=_ATTRIBUTES,
    scope_model=_scope_model,
    capabilities=_capabilities,
    limits=_limits,
    complete=_complete,
)


def _static_shared(module: IRModule, target: Any) -> Iterable[Diagnostic]:
    """Static shared memory is limited below what the launch could give; say so where the last straw is allocated."""
    for func in module:
        total = 0
        for node in walk(func.body):
            if not (isinstance(node, Alloc) and node.buffer.scope_name == "shared"):
                continue
            total += _bytes(node.buffer)
            if total > _STATIC_LIMIT:
                yield Diagnostic(
                    f"{func.name} allocates {total} bytes of static shared memory; CUDA allows {_STATIC_LIMIT}",
                    node.span or func.span,
                    hint='allocate with scope="shared.dyn" or Tx.SMEMPool(), which the launch sizes',
                )
                break


def _bytes(buffer: Buffer) -> int:
    """Size of a buffer of constant shape; what is no constant is refused elsewhere."""
    sizes = [extent for extent in buffer.shape if isinstance(extent, int)]
    return -(-prod(sizes) * buffer.dtype.total_bits // 8) if len(sizes) == buffer.ndim else 0


def _launch_flags(module: IRModule, target: Any) -> Iterable[Diagnostic]:
    """What a function asks of its launch exists."""
    return [problem for func in module if (problem := _flag_problem(func)) is not None]


def _flag_problem(func: PrimFunc) -> Diagnostic | None:
    try:
        asked_for(func.attrs.get("tirx.kernel_launch_params", ()))
    except TargetError as error:
        return Diagnostic(error.message, func.span, error.hint)
    return None


def _tensor_memory(module: IRModule, target: Any) -> Iterable[Diagnostic]:
    """Buffers in tensor memory have a place there."""
    from .tensor_memory import check  # looks at layouts, which are loaded for kernels alone

    return check(module, target)


CHECKS = (
    Check("static_shared", "cuda", "bound", _static_shared),
    Check("launch_flags", "cuda", "bound", _launch_flags),
    Check("tensor_memory", "cuda", "bound", _tensor_memory),
)
