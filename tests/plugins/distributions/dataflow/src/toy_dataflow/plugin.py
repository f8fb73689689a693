"""The hooks; each answers rows that stand elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.codegen import Codegen
from tirx.intrinsic import Intrinsic
from tirx.script.row import Namespace
from tirx.sim.row import Simulator
from tirx.target import StorageScope, TargetKind
from tirx.transform.pipeline import Pipeline

from . import kind, op


@hookimpl
def tirx_target_kinds() -> Iterable[TargetKind]:
    """`dataflow`."""
    return [kind.DATAFLOW]


@hookimpl
def tirx_storage_scopes() -> Iterable[StorageScope]:
    """Banks of words."""
    return [kind.BANK]


@hookimpl
def tirx_pipelines() -> Iterable[Pipeline]:
    """Buffers keep their dimensions; instructions work on boxes of them."""
    return [kind.PIPELINE]


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.flow`."""
    return [Namespace("flow", "toy_dataflow.script", doc="instructions of the machine")]


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """Behind `Tx.flow`."""
    return op.INTRINSICS


@hookimpl
def tirx_codegens() -> Iterable[Codegen]:
    """A listing."""
    return [Codegen("dataflow", "toy_dataflow.codegen:generate")]


@hookimpl
def tirx_simulators() -> Iterable[Simulator]:
    """One agent that runs instruction after instruction."""
    return [Simulator("dataflow", "sequential")]
