"""Axes by name: core's own at once, those of backends through the registry (which loads just the one that promises it)."""

from __future__ import annotations

from ..backend import find
from .axis import Axis

__all__ = ["CORE_AXES", "axis_named"]

CORE_AXES = (
    Axis("m", doc="elements of linear memory; the default axis"),
    Axis("bx", level="cta", within="kernel", doc="first dimension of the grid"),
    Axis("by", level="cta", within="kernel", doc="second dimension of the grid"),
    Axis("bz", level="cta", within="kernel", doc="third dimension of the grid"),
    Axis("cbx", level="cta", within="cluster", doc="first dimension of a cluster"),
    Axis("cby", level="cta", within="cluster", doc="second dimension of a cluster"),
    Axis("cbz", level="cta", within="cluster", doc="third dimension of a cluster"),
    Axis("tx", level="thread", within="cta", doc="threads of a cta"),
    Axis("warpid", level="warp", within="cta", joins={"laneid": "tx"}, doc="warps of a cta"),
    Axis("laneid", level="thread", within="warp", doc="threads of a warp"),
    Axis(
        "wgid",
        level="warpgroup",
        within="cta",
        joins={"tid_in_wg": "tx", "wid_in_wg": "warpid"},
        doc="warpgroups of a cta",
    ),
    Axis("tid_in_wg", level="thread", within="warpgroup", doc="threads of a warpgroup"),
    Axis(
        "wid_in_wg",
        level="warp",
        within="warpgroup",
        joins={"laneid": "tid_in_wg"},
        doc="warps of a warpgroup",
    ),
)
_BY_NAME = {axis.name: axis for axis in CORE_AXES}


def axis_named(name: str) -> Axis | None:
    """The axis called `name`, or None."""
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    row: Axis | None = find("layout_axes", name)
    return row
