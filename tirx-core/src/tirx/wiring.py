"""All kinds of rows in one place, and core as a plugin among plugins.

Each layer that owns a kind of row brings its record and its check; this module names the hook, the key and the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .backend import hookimpl
from .backend.rows import Owner, RowKind
from .codegen.row import Codegen, check_codegen
from .core_rows import (
    core_axes,
    core_dtypes,
    core_intrinsics,
    core_kinds,
    core_pipelines,
    core_scopes,
    core_simulators,
    core_tags,
    core_tile_ops,
    core_variants,
)  # fmt: skip
from .intrinsic import Emission, Intrinsic, check_emission, check_intrinsic
from .layout.axis import Axis, check_axis
from .layout.row import LayoutConstructor, check_constructor
from .runtime.row import (
    ArgumentKind,
    ArrayAdapter,
    CostModel,
    DeviceRow,
    Toolchain,
    check_adapter,
    check_argument_kind,
    check_cost_model,
    check_device,
    check_toolchain,
)  # fmt: skip
from .script.row import Namespace, check_namespace
from .sim.row import Simulator, check_simulator
from .support.version import VERSION as CORE_VERSION
from .target.kind import DTypeRow, StorageScope, TargetKind, TargetTag, check_dtype, check_kind, check_scope, check_tag
from .tile import TileOp, Variant, check_tile_op, check_variant
from .transform.extensions import check_order
from .transform.pipeline import PassRow, Pipeline, check_pass, check_pipeline
from .transform.row import Check, check_check

__all__ = ["CORE", "CORE_VERSION", "ROW_KINDS"]


def _by(check: Callable[[Any], None]) -> Callable[[Any, Owner], None]:
    return lambda row, owner: check(row)


def _name(row: Any) -> Any:
    return row.name


def _kind(row: Any) -> Any:
    return row.kind


ROW_KINDS = (
    RowKind("target_kinds", "tirx_target_kinds", doc="kinds of targets", record=TargetKind, key=_name,
            validate=_by(check_kind), provides=("kind",)),
    RowKind("target_tags", "tirx_target_tags", doc="named targets", record=TargetTag, key=_name,
            validate=_by(check_tag), provides=("tags",), promise=lambda name: name.partition("/")[0]),
    RowKind("namespaces", "tirx_namespaces", doc="names of the language", record=Namespace, key=_name,
            validate=_by(check_namespace), provides=("namespace", "name")),
    RowKind("intrinsics", "tirx_intrinsics", doc="instructions and functions that kernels call", record=Intrinsic, key=_name,
            validate=_by(check_intrinsic)),
    RowKind("emissions", "tirx_emissions", doc="how a target writes an intrinsic", record=Emission,
            key=lambda row: (row.intrinsic, row.kind), validate=_by(check_emission)),
    RowKind("tile_ops", "tirx_tile_ops", doc="operations on tiles", record=TileOp, key=_name,
            validate=_by(check_tile_op), provides=("tile",)),
    RowKind("dispatch_variants", "tirx_dispatch_variants", doc="ways to run a tile operation", record=Variant,
            key=lambda row: (row.operation, row.kind, row.name), validate=_by(check_variant), multi=True, opt_in=True,
            order=lambda row: (row.operation, row.kind, -row.priority, row.name)),
    RowKind("pipelines", "tirx_pipelines", doc="the passes of a target kind", record=Pipeline, key=_kind,
            validate=_by(check_pipeline)),
    RowKind("passes", "tirx_passes", doc="passes at anchors of a pipeline", record=PassRow,
            key=lambda row: (row.anchor, row.step.name), validate=_by(check_pass), multi=True, opt_in=True, verify=check_order),
    RowKind("layout_axes", "tirx_layout_axes", doc="axes of layouts", record=Axis, key=_name, validate=_by(check_axis),
            provides=("axis",)),
    RowKind("layout_constructors", "tirx_layout_constructors", record=LayoutConstructor,
            doc="named builders of layouts, and operations on them (`method=True`)",
            key=_name, validate=_by(check_constructor), provides=("layout",)),
    RowKind("storage_scopes", "tirx_storage_scopes", doc="memories", record=StorageScope, key=_name,
            validate=_by(check_scope), provides=("scope",)),
    RowKind("dtypes", "tirx_dtypes", doc="data types", record=DTypeRow, key=_name, validate=_by(check_dtype),
            provides=("dtype",)),
    RowKind("checks", "tirx_checks", doc="further rules of a target kind", record=Check,
            key=lambda row: (row.kind, row.name), validate=_by(check_check)),
    RowKind("codegens", "tirx_codegens", doc="source generators", record=Codegen, key=_kind, validate=_by(check_codegen)),
    RowKind("toolchains", "tirx_toolchains", doc="compilers of target source", record=Toolchain,
            key=lambda row: (row.kind, row.name), validate=_by(check_toolchain), order=lambda row: (row.kind, -row.priority)),
    RowKind("devices", "tirx_devices", doc="devices that run binaries", record=DeviceRow, key=_kind,
            validate=_by(check_device)),
    RowKind("argument_kinds", "tirx_argument_kinds", doc="host-side encoders of arguments", record=ArgumentKind, key=lambda row: row.dtype,
            validate=_by(check_argument_kind)),
    RowKind("array_adapters", "tirx_array_adapters", doc="foreign arrays", record=ArrayAdapter, key=_name,
            validate=_by(check_adapter)),
    RowKind("cost_models", "tirx_cost_models", doc="what kernels cost, by documented figures", record=CostModel, key=_kind,
            validate=_by(check_cost_model)),
    RowKind("simulators", "tirx_simulators", doc="how a target kind is simulated", record=Simulator, key=_kind,
            validate=_by(check_simulator)),
)  # fmt: skip


class _Core:
    """Core's own rows, given through the same hooks as everybody's."""

    @staticmethod
    @hookimpl
    def tirx_target_kinds() -> Iterable[TargetKind]:
        return core_kinds()

    @staticmethod
    @hookimpl
    def tirx_target_tags() -> Iterable[TargetTag]:
        return core_tags()

    @staticmethod
    @hookimpl
    def tirx_intrinsics() -> Iterable[Intrinsic]:
        return core_intrinsics()

    @staticmethod
    @hookimpl
    def tirx_tile_ops() -> Iterable[TileOp]:
        return core_tile_ops()

    @staticmethod
    @hookimpl
    def tirx_dispatch_variants() -> Iterable[Variant]:
        return core_variants()

    @staticmethod
    @hookimpl
    def tirx_pipelines() -> Iterable[Pipeline]:
        return core_pipelines()

    @staticmethod
    @hookimpl
    def tirx_layout_axes() -> Iterable[Axis]:
        return core_axes()

    @staticmethod
    @hookimpl
    def tirx_storage_scopes() -> Iterable[StorageScope]:
        return core_scopes()

    @staticmethod
    @hookimpl
    def tirx_dtypes() -> Iterable[DTypeRow]:
        return core_dtypes()

    @staticmethod
    @hookimpl
    def tirx_simulators() -> Iterable[Simulator]:
        return core_simulators()


CORE = _Core()
