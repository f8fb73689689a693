"""The passes of an OpenCL kernel, in order, with the places where extensions may add theirs."""

from __future__ import annotations

from tirx.transform.pipeline import Anchor, Pipeline
from tirx.transform.simt import SIMT_LOWER, SIMT_PREPARE

from .transform.warps import warps_through_local_memory

__all__ = ["PIPELINE"]

PIPELINE = Pipeline(
    "opencl",
    lower=(Anchor("opencl:before_lower"), *SIMT_LOWER, Anchor("opencl:after_lower")),
    prepare=(
        Anchor("opencl:before_prepare"),
        warps_through_local_memory,
        *SIMT_PREPARE,
        Anchor("opencl:after_prepare"),
    ),
)
