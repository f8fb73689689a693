"""The hooks of the OpenCL backend; each answers rows that stand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.codegen import Codegen
from tirx.intrinsic import Emission, Intrinsic
from tirx.runtime.row import DeviceRow, Toolchain
from tirx.script.row import Namespace
from tirx.sim.row import Simulator
from tirx.target import TargetKind, TargetTag
from tirx.tile import Variant
from tirx.transform.pipeline import Pipeline

from .codegen.emissions import CORE_EMISSIONS
from .kind import OPENCL
from .op import EMISSIONS, INTRINSICS
from .pipeline import PIPELINE
from .target_tags import TAGS
from .tile_primitive import VARIANTS

INSTALL = 'pip install "tirx-backend-opencl[cpu]"'


@hookimpl
def tirx_target_kinds() -> Iterable[TargetKind]:
    """`opencl`."""
    return (OPENCL,)


@hookimpl
def tirx_target_tags() -> Iterable[TargetTag]:
    """Devices by name."""
    return TAGS


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.opencl`."""
    return (Namespace("opencl", "tirx_opencl.script", doc="functions of OpenCL C"),)


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """Rows behind `Tx.opencl`."""
    return INTRINSICS


@hookimpl
def tirx_emissions() -> Iterable[Emission]:
    """How OpenCL C writes them, and core's."""
    return (*CORE_EMISSIONS, *EMISSIONS)


@hookimpl
def tirx_dispatch_variants() -> Iterable[Variant]:
    """How OpenCL runs tile operations; core's neutral variants apply besides."""
    return VARIANTS


@hookimpl
def tirx_pipelines() -> Iterable[Pipeline]:
    """The passes of kind `opencl`."""
    return (PIPELINE,)


@hookimpl
def tirx_codegens() -> Iterable[Codegen]:
    """OpenCL C."""
    return (Codegen("opencl", "tirx_opencl.codegen.generate:generate"),)


@hookimpl
def tirx_toolchains() -> Iterable[Toolchain]:
    """The compiler that every OpenCL driver brings."""
    return (
        Toolchain(
            "opencl",
            "opencl",
            find="tirx_opencl.toolchain:find",
            compile="tirx_opencl.toolchain:compile_source",
            install=INSTALL,
        ),
    )


@hookimpl
def tirx_devices() -> Iterable[DeviceRow]:
    """What pyopencl finds."""
    return (DeviceRow("opencl", "tirx_opencl.device:open_device", INSTALL),)


@hookimpl
def tirx_simulators() -> Iterable[Simulator]:
    """Threads."""
    return (Simulator("opencl", "simt"),)
