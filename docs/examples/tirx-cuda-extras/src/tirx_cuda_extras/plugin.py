"""What this distribution adds to the backend `cuda`."""

from __future__ import annotations

from collections.abc import Iterable

from tirx.backend import hookimpl
from tirx.intrinsic import Emission, Intrinsic
from tirx.script.row import Namespace
from tirx.tile import Variant
from tirx.transform.pipeline import PassRow

from .merge_barriers import merge_barriers
from .op import EMISSION, SATURATE
from .tile import STRIDED_FILL


@hookimpl
def tirx_namespaces() -> Iterable[Namespace]:
    """`Tx.cuda_extras`, from the moment that CUDA is loaded."""
    return (Namespace("cuda_extras", "tirx_cuda_extras.op", doc="more functions of CUDA"),)


@hookimpl
def tirx_intrinsics() -> Iterable[Intrinsic]:
    """Behind `Tx.cuda_extras`."""
    return (SATURATE,)


@hookimpl
def tirx_emissions() -> Iterable[Emission]:
    """How CUDA C++ writes it."""
    return (EMISSION,)


@hookimpl
def tirx_dispatch_variants() -> Iterable[Variant]:
    """Another way to fill tiles; acts where the extension is enabled."""
    return (STRIDED_FILL,)


@hookimpl
def tirx_passes() -> Iterable[PassRow]:
    """A pass at an anchor of CUDA's pipeline; acts where the extension is enabled."""
    return (PassRow("cuda:after_lower", merge_barriers),)
