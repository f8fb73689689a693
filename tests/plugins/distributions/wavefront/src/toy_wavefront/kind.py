"""The target kind: waves of 64, one kind of memory between registers and the outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirx.target import Attribute, Capabilities, ScopeLevel, ScopeModel, StorageScope, Target, TargetKind
from tirx.transform.pipeline import Anchor, Pipeline
from tirx.transform.simt import SIMT_LOWER, SIMT_PREPARE

__all__ = ["LDS", "PIPELINE", "WAVEFRONT"]

WIDTH = 64
LDS_BYTES = 64 * 1024
_AXES = ("x", "y", "z")


def _scope_model(target: Target, attrs: Mapping[str, Any]) -> ScopeModel:
    return ScopeModel(
        (
            ScopeLevel("kernel"),
            ScopeLevel("cta", axes={"kernel": tuple(f"cta.{axis}" for axis in _AXES)}),
            ScopeLevel("warp"),
            ScopeLevel("thread", widths={"warp": WIDTH}, axes={"cta": tuple(f"thread.{axis}" for axis in _AXES)}),
        ),
        limits={("cta", "thread"): 1024},
    )


def _limits(target: Target) -> Mapping[str, int]:
    return {"threads_per_cta": 1024, "shared_bytes": LDS_BYTES, "registers_per_thread": 256, "vector_bytes": 16}


WAVEFRONT = TargetKind(
    "wavefront",
    doc="a machine with threads in waves of 64",
    attributes={"compute_units": Attribute(int, 20, "how many groups run at once")},
    scope_model=_scope_model,
    capabilities=lambda target: Capabilities(
        ("bool", "int32", "int64", "uint32", "uint64", "float32"),
        ("while", "barriers", "shuffles", "pointers", "calls"),
    ),
    limits=_limits,
)

LDS = StorageScope("lds", doc="memory of one cta", owner_level="cta", capacity=lambda target: LDS_BYTES)

PIPELINE = Pipeline(
    "wavefront",
    lower=(Anchor("wavefront:before_lower"), *SIMT_LOWER, Anchor("wavefront:after_lower")),
    prepare=SIMT_PREPARE,
)
