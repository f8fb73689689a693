"""What the instructions mean."""

from __future__ import annotations

from tirx.intrinsic import SimContext, SimRegion

__all__ = ["add", "load", "store"]


def load(ctx: SimContext, res: SimRegion, data: SimRegion) -> None:
    """Memory to a bank."""
    res.write(data.read())


store = load


def add(ctx: SimContext, res: SimRegion, a: SimRegion, b: SimRegion) -> None:
    """The sum of two banks."""
    res.write(a.read() + b.read())
