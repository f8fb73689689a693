"""What this distribution adds to TIRx; its entry points name this module."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.codegen.row import Codegen
from tirx.intrinsic import Intrinsic
from tirx.layout.axis import Axis
from tirx.layout.row import LayoutConstructor
from tirx.runtime.row import CostModel, DeviceRow, Toolchain
from tirx.script.row import Namespace
from tirx.sim.row import Simulator
from tirx.target.kind import StorageScope, TargetKind, TargetTag
from tirx.tile import Variant
from tirx.transform.pipeline import Pipeline
from tirx.transform.row import Check

from .check import CHECKS
from .kind import KIND, SCOPES
from .layout import AXES, CONSTRUCTORS
from .op import INTRINSICS
from .pipeline import PIPELINE
from .target_tags import TAGS
from .toolchain import INSTALL

__all__ = [
    "tirx_checks", "tirx_codegens", "tirx_cost_models", "tirx_devices", "tirx_dispatch_variants", "tirx_intrinsics",
    "tirx_layout_axes", "tirx_layout_constructors", "tirx_namespaces", "tirx_pipelines",
    "tirx_simulators", "tirx_storage_scopes", "tirx_target_kinds", "tirx_target_tags", "tirx_toolchains",
]  # fmt: skip


@hookimpl
def tirx_target_kinds() -> Iterable[TargetKind]:
    """The kind `trn`."""
    return (KIND,)


@hookimpl
def tirx_target_tags() -> Iterable[TargetTag]:
    """Instances and chips by name."""
    return TAGS


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.nki`."""
    return (Namespace("nki", "tirx_trn.script", doc="instructions of a NeuronCore"),)


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """What `Tx.nki` calls, and what lowering makes of it."""
    return INTRINSICS


@hookimpl
def tirx_dispatch_variants() -> Iterable[Variant]:
    """How instructions carry out tile operations."""
    from .tile_primitive import VARIANTS  # brings the language along, which only kernels need

    return VARIANTS


@hookimpl
def tirx_pipelines() -> Iterable[Pipeline]:
    """From a kernel as written to device functions on partitions and free elements."""
    return (PIPELINE,)


@hookimpl
def tirx_layout_axes() -> Iterable[Axis]:
    """P, F and Bank."""
    return AXES


@hookimpl
def tirx_layout_constructors() -> Iterable[LayoutConstructor]:
    """Layouts by letters: `"PF"`."""
    return CONSTRUCTORS


@hookimpl
def tirx_storage_scopes() -> Iterable[StorageScope]:
    """SBUF and PSUM."""
    return SCOPES


@hookimpl
def tirx_checks() -> Iterable[Check]:
    """What the hardware lacks, refused before any source is written."""
    return CHECKS


@hookimpl
def tirx_codegens() -> Iterable[Codegen]:
    """NKI source."""
    return (Codegen("trn", "tirx_trn.codegen.generate:generate"),)


@hookimpl
def tirx_simulators() -> Iterable[Simulator]:
    """One agent that runs instruction after instruction."""
    return (Simulator("trn", "sequential"),)


@hookimpl
def tirx_cost_models() -> Iterable[CostModel]:
    """Engine occupancy from the documented cycles of each instruction."""
    return (CostModel("trn", "tirx_trn.cost:cost", doc="engines, cycles and bytes of each instruction"),)


@hookimpl
def tirx_toolchains() -> Iterable[Toolchain]:
    """AWS's `nki`, which compiles a kernel when it runs it."""
    return (
        Toolchain(
            "nki",
            "trn",
            find="tirx_trn.toolchain:find_nki",
            compile="tirx_trn.toolchain:compile_with_nki",
            install=INSTALL,
        ),
    )


@hookimpl
def tirx_devices() -> Iterable[DeviceRow]:
    """A NeuronCore, or NKI's simulator."""
    return (DeviceRow("trn", "tirx_trn.device:open_device", INSTALL),)
