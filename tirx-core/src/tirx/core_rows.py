"""Core's own rows, joined from the layers that own them."""

from __future__ import annotations

from collections.abc import Iterable

from .intrinsic import Intrinsic
from .intrinsic.core import ALL
from .intrinsic.internal import INTERNAL
from .layout.axis import Axis
from .layout.names import CORE_AXES
from .sim.row import Simulator
from .target import DTypeRow, StorageScope, TargetKind, TargetTag
from .target.generic import GENERIC, SIMT_SCOPES
from .tile import TileOp, Variant
from .tile.ops import ALL as TILE_OPS
from .transform.pipeline import Pipeline
from .transform.simt import SIMT_LOWER, SIMT_PREPARE
from .variants import neutral_variants

__all__ = [
    "core_axes", "core_dtypes", "core_intrinsics", "core_kinds", "core_pipelines", "core_scopes", "core_simulators",
    "core_tags", "core_tile_ops", "core_variants",
]  # fmt: skip


def core_kinds() -> Iterable[TargetKind]:
    """The neutral kind."""
    return (GENERIC,)


def core_tags() -> Iterable[TargetTag]:
    """Core names no machine."""
    return ()


def core_axes() -> Iterable[Axis]:
    """The storage axis, and the axes of the levels that the language names."""
    return CORE_AXES


def core_dtypes() -> Iterable[DTypeRow]:
    """Core's dtypes are those of `tirx.ir.dtype`."""
    return ()


def core_intrinsics() -> Iterable[Intrinsic]:
    """The neutral functions of the language, and those that lowering introduces."""
    return (*ALL, *INTERNAL)


def core_tile_ops() -> Iterable[TileOp]:
    """The thirty of the language."""
    return TILE_OPS


def core_variants() -> Iterable[Variant]:
    """How the neutral kind does them."""
    return neutral_variants()


def core_pipelines() -> Iterable[Pipeline]:
    """The way of the neutral kind: lowered and prepared, never printed."""
    return (Pipeline("generic", lower=SIMT_LOWER, prepare=SIMT_PREPARE),)


def core_scopes() -> Iterable[StorageScope]:
    """Memories of machines with threads."""
    return SIMT_SCOPES


def core_simulators() -> Iterable[Simulator]:
    """How the neutral kind is simulated."""
    return (Simulator("generic", "simt"),)
