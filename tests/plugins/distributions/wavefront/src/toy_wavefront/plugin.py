"""The hooks; each answers rows that stand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.codegen import Codegen
from tirx.intrinsic import Emission, Intrinsic
from tirx.layout.axis import Axis
from tirx.script.row import Namespace
from tirx.sim.row import Simulator
from tirx.target import StorageScope, TargetKind, TargetTag
from tirx.tile import TileOp, Variant
from tirx.transform.pipeline import Pipeline

from . import kind, op, tile


@hookimpl
def tirx_target_kinds() -> Iterable[TargetKind]:
    """`wavefront`."""
    return [kind.WAVEFRONT]


@hookimpl
def tirx_target_tags() -> Iterable[TargetTag]:
    """Machines by name."""
    return [TargetTag("toy/big", "wavefront", {"compute_units": 60}, source="made up")]


@hookimpl
def tirx_storage_scopes() -> Iterable[StorageScope]:
    """The memory of one group of threads."""
    return [kind.LDS]


@hookimpl
def tirx_layout_axes() -> Iterable[Axis]:
    """Position in a wave."""
    return [Axis("wavelane", level="thread", within="warp", doc="index of a thread in its wave of 64")]


@hookimpl
def tirx_pipelines() -> Iterable[Pipeline]:
    """Core's passes for machines with threads, with a place for extensions."""
    return [kind.PIPELINE]


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.wave`."""
    return [Namespace("wave", "toy_wavefront.script", doc="what a wave does together")]


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """Behind `Tx.wave`."""
    return [op.SUM]


@hookimpl
def tirx_emissions() -> Iterable[Emission]:
    """How Wave C writes them."""
    return op.EMISSIONS


@hookimpl
def tirx_dispatch_variants() -> Iterable[Variant]:
    """How a wave runs tile operations."""
    return tile.VARIANTS


@hookimpl
def tirx_tile_ops() -> Iterable[TileOp]:
    """What only waves do."""
    return tile.OPERATIONS


@hookimpl
def tirx_codegens() -> Iterable[Codegen]:
    """Wave C."""
    return [Codegen("wavefront", "toy_wavefront.codegen:generate")]


@hookimpl
def tirx_simulators() -> Iterable[Simulator]:
    """Threads."""
    return [Simulator("wavefront", "simt")]
