"""Meanings of the functions that ask for a work-item's place."""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import SimContext

__all__ = ["get_global_id", "get_global_size", "get_group_id", "get_local_id", "get_local_size", "get_num_groups"]


def _index(ctx: SimContext, level: str, dimension: Any) -> Any:
    name = f"{level}.{'xyz'[int(dimension)]}"
    return ctx.axis(name) if ctx.extent(name) > 1 else 0


def get_local_id(ctx: SimContext, dimension: Any) -> Any:
    """Place in the work-group."""
    return _index(ctx, "thread", dimension)


def get_group_id(ctx: SimContext, dimension: Any) -> Any:
    """Place of the work-group."""
    return _index(ctx, "cta", dimension)


def get_global_id(ctx: SimContext, dimension: Any) -> Any:
    """Place among all work-items."""
    return get_group_id(ctx, dimension) * get_local_size(ctx, dimension) + get_local_id(ctx, dimension)


def get_local_size(ctx: SimContext, dimension: Any) -> int:
    """Size of a work-group."""
    return ctx.extent(f"thread.{'xyz'[int(dimension)]}")


def get_num_groups(ctx: SimContext, dimension: Any) -> int:
    """Number of work-groups."""
    return ctx.extent(f"cta.{'xyz'[int(dimension)]}")


def get_global_size(ctx: SimContext, dimension: Any) -> int:
    """Number of work-items."""
    return get_num_groups(ctx, dimension) * get_local_size(ctx, dimension)
