"""What this distribution adds to the backend `wavefront`."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.intrinsic import Emission, Intrinsic
from tirx.ir import IRModule
from tirx.script.row import Namespace
from tirx.tile import Variant
from tirx.transform.pipeline import Pass, PassContext, PassRow

from .op import DOUBLE
from .tile import VARIANTS


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.wave_fast`."""
    return [Namespace("wave_fast", "toy_wavefront_fast.op", doc="more of what a wave does")]


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """Behind `Tx.wave_fast`."""
    return [DOUBLE]


@hookimpl
def tirx_emissions() -> Iterable[Emission]:
    """How Wave C writes it."""
    return [Emission("wave_fast.double", "wavefront", "({0} + {0})")]


@hookimpl
def tirx_dispatch_variants() -> Iterable[Variant]:
    """A faster copy, when it is enabled."""
    return VARIANTS


def _mark(module: IRModule, context: PassContext) -> IRModule:
    return module.map(lambda func: func.with_attr("toy.marked", True))


@hookimpl
def tirx_passes() -> Iterable[PassRow]:
    """A pass that leaves a mark."""
    return [PassRow("wavefront:after_lower", Pass("mark", _mark))]
