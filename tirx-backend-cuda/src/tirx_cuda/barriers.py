"""What makes the threads of a level wait for each other: the scope model's levels name these."""

from __future__ import annotations

from collections.abc import Callable

from tirx.ir import Call, Expr

from . import script

__all__ = ["cluster", "cta", "warp", "warpgroup"]

Ids = Callable[[str, str], Expr]
_LAST = 15  # authors number named barriers from 0, so the compiler's own come from the other end


def warp(ids: Ids) -> Call:
    """The threads of a warp."""
    return script.warp_sync()


def warpgroup(ids: Ids) -> Call:
    """The threads of a warpgroup, at a named barrier of its own."""
    return script.warpgroup_sync(_LAST - ids("warpgroup", "cta"))


def cta(ids: Ids) -> Call:
    """The threads of a cta."""
    return script.cta_sync()


def cluster(ids: Ids) -> Call:
    """The threads of a cluster."""
    return script.cluster_sync()
