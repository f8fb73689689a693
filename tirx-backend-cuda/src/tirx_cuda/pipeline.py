"""The passes of a CUDA kernel, in order, with the places where extensions may add theirs."""

from __future__ import annotations

from tirx.transform.pipeline import Anchor, Pipeline
from tirx.transform.simt import SIMT_LOWER, SIMT_PREPARE

from .transform.iket import lower_iket

__all__ = ["PIPELINE"]

PIPELINE = Pipeline(
    "cuda",
    lower=(Anchor("cuda:before_lower"), *SIMT_LOWER, Anchor("cuda:after_lower")),
    prepare=(Anchor("cuda:before_prepare"), lower_iket, *SIMT_PREPARE, Anchor("cuda:after_prepare")),
)
