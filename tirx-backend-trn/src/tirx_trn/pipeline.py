"""The passes of this target in order.

There are no threads: no scope ids to resolve, and buffers keep their dimensions, as instructions work on boxes of them.
"""

from __future__ import annotations

from tirx.transform.bind_target import bind_target
from tirx.transform.pipeline import Anchor, Pipeline
from tirx.transform.split_host_device import split_host_device
from tirx.transform.verify import verify

from .transform.allocate import allocate
from .transform.constant_bias import constant_bias
from .transform.expand_tiles import expand_tiles
from .transform.legalise import legalise
from .transform.lower_tiles import lower_tiles
from .transform.single_turns import single_turns

__all__ = ["PIPELINE"]

PIPELINE = Pipeline(
    "trn",
    lower=(
        bind_target,
        verify,
        Anchor("trn:after_verify"),
        expand_tiles,
        Anchor("trn:after_lower_tile"),
        legalise,
        constant_bias,
        Anchor("trn:before_allocate"),
        allocate,
        lower_tiles,
        single_turns,
        Anchor("trn:after_lower_tiles"),
        split_host_device,
    ),
)
