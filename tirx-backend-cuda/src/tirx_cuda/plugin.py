"""The hooks of the CUDA backend; each answers rows that stand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.codegen import Codegen
from tirx.intrinsic import Emission, Intrinsic
from tirx.layout.axis import Axis
from tirx.layout.row import LayoutConstructor
from tirx.runtime.row import ArgumentKind, ArrayAdapter, DeviceRow, Toolchain
from tirx.script.row import Namespace
from tirx.sim.row import Simulator
from tirx.target import StorageScope, TargetKind, TargetTag
from tirx.tile import Variant
from tirx.transform.pipeline import Pipeline
from tirx.transform.row import Check

from . import op_nvshmem as nvshmem
from . import op_tensor_map as tensor_map
from .codegen.core_emissions import CORE_EMISSIONS
from .kind import CHECKS, CUDA
from .layout.rows import AXES, CONSTRUCTORS
from .op import EMISSIONS, INTRINSICS
from .pipeline import PIPELINE
from .ptx import rows as ptx
from .scopes import SCOPES
from .target_tags import TAGS
from .tile_primitive import VARIANTS
from .toolchain_rows import TOOLCHAINS


@hookimpl
def tirx_target_kinds() -> Iterable[TargetKind]:
    """`cuda`."""
    return (CUDA,)


@hookimpl
def tirx_target_tags() -> Iterable[TargetTag]:
    """Boards and chips."""
    return TAGS


@hookimpl
def tirx_storage_scopes() -> Iterable[StorageScope]:
    """Tensor memory."""
    return SCOPES


@hookimpl
def tirx_checks() -> Iterable[Check]:
    """What only CUDA asks of a kernel."""
    return (*CHECKS, *tensor_map.CHECKS)


_FRAGMENTS = {
    "wg_reg_tile": "a tile in registers, a row for each thread of a warpgroup",
    "alloc_tcgen05_ldst_frag": "a tile in registers as tcgen05.ld fills them",
    "alloc_cast_frag": "a tile in registers like another, of another type",
    "tmem": "a buffer in tensor memory",
}


_HOST = {
    "tensormap_encode_tiled": "describes a tensor for copies of boxes, on the host",
    "tvm_stack_alloca": "room for a tensor map, on the host",
}


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.cuda` and the pool of shared memory."""
    return (
        Namespace("cuda", "tirx_cuda.script", doc="functions of CUDA"),
        Namespace("ptx", "tirx_cuda.ptx.chain:ptx", doc="instructions of PTX"),
        Namespace(
            "ptx_legacy", "tirx_cuda.namespaces.ptx_legacy", doc="instructions with the arguments of older kernels"
        ),
        Namespace("nvshmem", "tirx_cuda.namespaces.nvshmem", doc="memory of other processing elements"),
        Namespace("SMEMPool", "tirx_cuda.lang.pool:SMEMPool", doc="allocates parts of one dynamic shared buffer"),
        Namespace("TMEMPool", "tirx_cuda.lang.tmem_pool:TMEMPool", doc="allocates columns of tensor memory"),
        *(Namespace(name, f"tirx_cuda.lang.fragments:{name}", doc=doc) for name, doc in _FRAGMENTS.items()),
        *(Namespace(name, f"tirx_cuda.namespaces.tensor_maps:{name}", doc=doc) for name, doc in _HOST.items()),
    )


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """Rows behind `Tx.cuda`, `Tx.nvshmem` and `Tx.ptx`."""
    return (*INTRINSICS, *nvshmem.INTRINSICS, *tensor_map.INTRINSICS, *ptx.INTRINSICS)


@hookimpl
def tirx_emissions() -> Iterable[Emission]:
    """How CUDA C++ writes them, and core's."""
    return (*CORE_EMISSIONS, *EMISSIONS, *nvshmem.EMISSIONS, *ptx.EMISSIONS)


@hookimpl
def tirx_layout_axes() -> Iterable[Axis]:
    """Lanes and columns of tensor memory."""
    return AXES


@hookimpl
def tirx_layout_constructors() -> Iterable[LayoutConstructor]:
    """Layouts of tensor memory, fragments, swizzled tiles and scale factors."""
    return CONSTRUCTORS


@hookimpl
def tirx_dispatch_variants() -> Iterable[Variant]:
    """How CUDA runs tile operations."""
    return VARIANTS


@hookimpl
def tirx_pipelines() -> Iterable[Pipeline]:
    """The passes of kind `cuda`."""
    return (PIPELINE,)


@hookimpl
def tirx_codegens() -> Iterable[Codegen]:
    """CUDA C++."""
    return (Codegen("cuda", "tirx_cuda.codegen.generate:generate"),)


@hookimpl
def tirx_toolchains() -> Iterable[Toolchain]:
    """NVRTC and nvcc."""
    return TOOLCHAINS


@hookimpl
def tirx_devices() -> Iterable[DeviceRow]:
    """GPUs, through cuda-bindings."""
    return (DeviceRow("cuda", "tirx_cuda.device:open_device", 'pip install "tirx-backend-cuda[gpu]"'),)


@hookimpl
def tirx_argument_kinds() -> Iterable[ArgumentKind]:
    """Tensor maps."""
    where = "tirx_cuda.arguments:"
    expected = "a tensor map (tirx_cuda.arguments.tensor_map(array, box=...))"
    yield ArgumentKind(
        "tensormap",
        "tensormap",
        f"{where}encode",
        simulate=f"{where}simulate",
        accept=f"{where}accept",
        expected=expected,
    )


@hookimpl
def tirx_array_adapters() -> Iterable[ArrayAdapter]:
    """Arrays of other libraries that live on a GPU."""
    return (ArrayAdapter("cuda", "tirx_cuda.arrays:recognise"),)


@hookimpl
def tirx_simulators() -> Iterable[Simulator]:
    """Threads in warps of 32."""
    return (Simulator("cuda", "simt"),)
