"""Meanings of special registers that say who a thread is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tirx.intrinsic import SimContext

__all__ = ["read"]

_AXES = {"tid": "thread", "ctaid": "cta", "cluster_ctaid": "cluster"}
_EXTENTS = {"ntid": "thread", "nctaid": "cta", "cluster_nctaid": "cta_in_cluster"}
_IDS = {"laneid": ("thread", "warp"), "warpid": ("warp", "cta"), "cluster_ctarank": ("cta", "cluster")}


def read(ctx: SimContext, *, register: str) -> Any:
    """The register of each active thread."""
    name, _, axis = register.partition(".")
    if name in _IDS:
        value = ctx.id(*_IDS[name])
    elif name.startswith("lanemask"):
        value = _mask(np.asarray(ctx.id("thread", "warp")).astype(np.int64), name[-2:])
    elif name == "cluster_nctarank":
        value = np.full(ctx.count, ctx.width("cta", "cluster"))
    elif name in _EXTENTS:
        value = np.full(ctx.count, ctx.extent(f"{_EXTENTS[name]}.{axis}"))
    else:
        value = ctx.axis(f"{_AXES[name]}.{axis}")
    return np.asarray(value).astype(np.uint32)


def _mask(lane: Any, kind: str) -> Any:
    bit, below = np.int64(1) << lane, (np.int64(1) << lane) - 1
    return {"eq": bit, "lt": below, "le": below | bit, "gt": 0xFFFFFFFF ^ (below | bit), "ge": 0xFFFFFFFF ^ below}[kind]
